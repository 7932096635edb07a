// SPDX-License-Identifier: Apache-2.0
// The terminal output of `parhelion run`. Progress, messages and warnings go to standard error, the plan and the
// summary to standard output. With --json all these texts go to standard error, and the report to standard output.
#pragma once

#include "commands.hpp"
#include "run/observer.hpp"
#include "run/progress.hpp"

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

class RunTerminal final : public RunObserver
{
public:
    // catch_signals() is called when a stop of the run would leave a checkpoint.
    RunTerminal(const RunOptions& options, std::function<void()> catch_signals)
        : options_(options), catch_signals_(std::move(catch_signals))
    {
    }

    void warning(const std::string& line) override;
    void message(const std::string& line) override;
    void notes(const std::vector<Warning>& notes) override;
    void prepared() override { catch_signals_(); }
    void begins(const RunBegin& begin) override;
    void progress(const RunProgress& progress) override;
    void steps_over() override { end_progress(); }
    void ended(const RunResult& result) override;
    void speaks(bool does) override;

private:
    std::FILE* human_output() const { return options_.json ? stderr : stdout; }
    void end_progress(); // ends the progress line before other output is printed

    const RunOptions& options_;
    const std::function<void()> catch_signals_;
    std::optional<Progress> progress_;
};

} // namespace parhelion
