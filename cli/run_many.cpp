// SPDX-License-Identifier: Apache-2.0
// `parhelion run --multi`: many runs in one process, and what the terminal shows of them. Each line names the folder of its run.
#include "commands.hpp"
#include "failure.hpp"
#include "run/many.hpp"
#include "run/progress.hpp"
#include "say.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace parhelion {

namespace {

using Clock = Speed::Clock;

// Calls come from the threads of all runs, so each holds the mutex.
class ManyTerminal final : public ManyObserver
{
public:
    // catch_signals() is called once, when a stop of the first run that is prepared would leave a checkpoint.
    ManyTerminal(const RunOptions& options, std::function<void()> catch_signals)
        : options_(options), catch_signals_(std::move(catch_signals)), line_(stderr, progress_style(stderr))
    {
        for (const std::filesystem::path& folder : options.folders) { runs_.emplace_back(*this, folder.string()); }
    }

    RunObserver& of(std::size_t run) override { return runs_[run]; }
    void starts(std::size_t run, int gpu) override
    {
        const std::scoped_lock lock(mutex_);
        runs_[run].goes_on = true;
        if (!options_.quiet) { tell(stdout, runs_[run], gpu < 0 ? "begins" : fmt::format("begins, on GPU {}", gpu)); }
    }
    void waits(std::size_t run, const std::string& why) override
    {
        const std::scoped_lock lock(mutex_);
        runs_[run].goes_on = false;
        tell(stderr, runs_[run], "waits: " + why);
    }
    void ended(std::size_t run, const ManyOutcome& outcome) override
    {
        const std::scoped_lock lock(mutex_);
        runs_[run].goes_on = false, runs_[run].has_ended = true;
        if (outcome.error) { tell(stderr, runs_[run], failure_of(outcome.error).text); }
        else if (!options_.quiet) { tell(stdout, runs_[run], how_it_ended(outcome)); }
    }

    // Prints the last lines, and returns the exit code: that of the first run that failed, if any.
    int summarise(const std::vector<ManyOutcome>& outcomes);

private:
    // The observer of one run. Its members are for the holder of the mutex.
    struct OneRun final : RunObserver
    {
        OneRun(ManyTerminal& terminal, std::string folder) : all(terminal), name(std::move(folder)) {}
        void warning(const std::string& line) override
        {
            const std::scoped_lock lock(all.mutex_);
            all.tell(stderr, *this, line);
        }
        void message(const std::string& line) override
        {
            const std::scoped_lock lock(all.mutex_);
            if (!all.options_.quiet) { all.tell(stderr, *this, line); }
        }
        void notes(const std::vector<Warning>& notes) override
        {
            const std::scoped_lock lock(all.mutex_);
            for (const Warning& note : notes)
            {
                if (all.options_.verbose) { all.tell(stdout, *this, "note: " + note.text()); }
            }
        }
        void prepared() override
        {
            const std::scoped_lock lock(all.mutex_);
            if (!std::exchange(all.catches_signals_, true)) { all.catch_signals_(); }
        }
        void begins(const RunBegin& begin) override
        {
            const std::scoped_lock lock(all.mutex_);
            dt = begin.dt;
            speed.emplace(Clock::now(), begin.steps_done);
        }
        void progress(const RunProgress& now) override
        {
            const std::scoped_lock lock(all.mutex_);
            speed->measure(now.steps_done, Clock::now());
            all.show_progress();
        }

        ManyTerminal& all;
        const std::string name;
        bool goes_on = false, has_ended = false;
        double dt = 0; // ps
        std::optional<Speed> speed;
    };

    static std::string how_it_ended(const ManyOutcome& outcome)
    {
        const RunResult& result = outcome.result;
        if (outcome.end == ManyEnd::NotBegun) { return "not begun"; }
        if (result.was_complete) { return fmt::format("was complete, step {}", result.reached); }
        const std::string how = outcome.end == ManyEnd::Stopped ? "stopped" : "done";
        const RunSummary& summary = result.summary;
        return fmt::format("{}, step {}{}", how, result.reached,
                           result.minimised || summary.steps == 0
                               ? ""
                               : fmt::format(", {:.2f} ns/day, {:.1f} us/step", summary.ns_per_day, summary.us_per_step));
    }

    void tell(std::FILE* out, const OneRun& run, const std::string& text)
    {
        if (std::exchange(is_line_open_, false)) { line_.finish(); }
        say_fitted(out, fmt::format("{}: {}\n", run.name, text));
        std::fflush(out);
    }

    // Shows how many runs go on and how fast they are together, twice a second on a terminal, every ten minutes in a file.
    void show_progress()
    {
        const bool is_live = line_.style() == ProgressStyle::LiveLine;
        const auto now = Clock::now();
        if (options_.quiet || now - drawn_ < (is_live ? std::chrono::milliseconds(500) : std::chrono::minutes(10))) { return; }
        drawn_ = now, is_line_open_ = true;
        double ns_per_day = 0;
        const auto count = [&](auto is) { return std::count_if(runs_.begin(), runs_.end(), is); };
        const auto going = count([](const OneRun& run) { return run.goes_on; });
        const auto over = count([](const OneRun& run) { return run.has_ended; });
        for (const OneRun& run : runs_)
        {
            if (run.goes_on && run.speed) { ns_per_day += run.speed->steps_per_second() * run.dt * 86.4; }
        }
        line_.draw(fmt::format("{} going on, {} waiting, {} ended  {:.4g} ns/day together", going,
                               static_cast<std::ptrdiff_t>(runs_.size()) - going - over, over, ns_per_day));
    }

    const RunOptions& options_;
    const std::function<void()> catch_signals_;
    std::mutex mutex_;
    bool catches_signals_ = false;
    ProgressLine line_;
    bool is_line_open_ = false;
    const Clock::time_point begun_ = Clock::now();
    Clock::time_point drawn_ = begun_;
    std::deque<OneRun> runs_; // their addresses do not change
};

int ManyTerminal::summarise(const std::vector<ManyOutcome>& outcomes)
{
    if (std::exchange(is_line_open_, false)) { line_.finish(); }
    std::optional<int> code_of_failure;
    std::string failed;
    int done = 0;
    double ns = 0;
    if (!options_.quiet) { say(stdout, "\n"); }
    for (std::size_t run = 0; run < outcomes.size(); ++run)
    {
        const ManyOutcome& outcome = outcomes[run];
        std::string how = outcome.error ? "" : how_it_ended(outcome);
        if (outcome.error)
        {
            const Failure failure = failure_of(outcome.error);
            how = "failed: " + failure.text.substr(0, failure.text.find('\n'));
            code_of_failure = code_of_failure.value_or(failure.code);
            failed += (failed.empty() ? "" : ", ") + runs_[run].name;
        }
        done += outcome.end == ManyEnd::Done ? 1 : 0;
        ns += 1e-3 * static_cast<double>(outcome.result.summary.steps) * runs_[run].dt;
        if (!options_.quiet) { tell(stdout, runs_[run], how); }
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    if (!options_.quiet)
    {
        say_fitted(stdout,
                   fmt::format("{} of {} runs are done; {:.4g} ns in {:.2f} s, which is {:.4g} ns/day with starts and ends\n",
                               done, outcomes.size(), ns, seconds, 86400 * ns / seconds));
    }
    std::fflush(stdout);
    if (code_of_failure) { say_fitted(stderr, fmt::format("failed: {}\n", failed)); }
    else if (done < static_cast<int>(outcomes.size()) && !options_.quiet)
    {
        say(stderr, "stopped; run the same command to continue\n");
    }
    return code_of_failure.value_or(done == static_cast<int>(outcomes.size()) ? exit_done : exit_stopped);
}

} // namespace

int command_run_many(const RunOptions& options, const std::function<void()>& catch_signals, std::atomic<bool>& stop)
{
    ManyRequest request;
    request.at_once = options.at_once;
    for (const std::filesystem::path& folder : options.folders) { request.runs.push_back(in_folder(options.request, folder)); }
    ManyTerminal terminal(options, catch_signals);
    return terminal.summarise(run_many(request, terminal, stop));
}

} // namespace parhelion
