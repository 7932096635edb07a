// SPDX-License-Identifier: Apache-2.0
// `parhelion watch`: shows the progress of a run from PREFIX.status.json, until the run ends.
#include "commands.hpp"
#include "run/progress.hpp"
#include "run/status.hpp"
#include "say.hpp"

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

namespace parhelion {

namespace {

constexpr auto look_again = std::chrono::milliseconds(500);

RunStatus status_of(const std::string& prefix)
{
    const std::string path = prefix + status_ending;
    if (std::filesystem::exists(path)) { return read_status(path); }
    throw InputError(
        "E187", {prefix, 0},
        fmt::format("is the prefix of no run: there is no {} (a run writes it from its first step on). Give what the "
                    "run was given with -o.",
                    path));
}

} // namespace

RunEnd command_watch(const std::string& prefix)
{
    ProgressLine line(stdout, progress_style(stdout));
    for (std::string shown;; std::this_thread::sleep_for(look_again))
    {
        RunStatus status = status_of(prefix);
        StatusDoubt doubt = doubt_about(status, std::time(nullptr));
        if (doubt.is_over)
        {
            status = status_of(prefix); // the final state may have been written since the first reading
            doubt = doubt_about(status, std::time(nullptr));
        }
        const std::string text = printable(progress_text(status.progress) + (doubt.text.empty() ? "" : "  " + doubt.text));
        if (text != shown) { line.draw(text); }
        shown = text;
        if (status.state == RunState::Running && !doubt.is_over) { continue; }
        line.finish();
        if (status.state == RunState::Done || status.state == RunState::Stopped)
        {
            say(stdout, "{}\n", status.state == RunState::Done ? "done" : "stopped; the same command goes on");
            return status.state == RunState::Done ? RunEnd::Done : RunEnd::Stopped;
        }
        throw SystemError(fmt::format("{}: the run has failed{}", prefix,
                                      doubt.is_over          ? ", " + doubt.text
                                      : status.error.empty() ? ", see its log"
                                                             : ": " + status.error));
    }
}

} // namespace parhelion
