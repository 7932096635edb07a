// SPDX-License-Identifier: Apache-2.0
#include "run_terminal.hpp"

#include "io/input/text.hpp"
#include "run_summary.hpp"
#include "say.hpp"

#include <cstddef>

namespace parhelion {

void RunTerminal::warning(const std::string& line)
{
    end_progress();
    say_fitted(stderr, line + "\n");
}

void RunTerminal::message(const std::string& line)
{
    end_progress();
    if (!options_.quiet) { say_fitted(stderr, line + "\n"); }
}

void RunTerminal::notes(const std::vector<Warning>& notes)
{
    const std::size_t count = notes.size();
    if (options_.verbose)
    {
        for (const Warning& note : notes) { say_fitted(human_output(), "note: " + note.text() + "\n"); }
    }
    else if (count > 0 && !options_.quiet)
    {
        say(human_output(), "{} note{} on the input: see {}.log, or use --verbose\n", count, count == 1 ? "" : "s",
            options_.request.output.prefix);
    }
}

void RunTerminal::begins(const RunBegin& begin)
{
    if (!options_.quiet)
    {
        progress_.emplace(stderr, progress_style(stderr), begin.dt, Progress::Clock::now(), begin.steps_done);
        say_fitted(human_output(), begin.text);
    }
    std::fflush(stdout);
}

void RunTerminal::progress(const RunProgress& progress)
{
    if (!progress_) { return; }
    progress_->update(progress.steps_done, progress.steps_total, progress.values, Progress::Clock::now());
}

void RunTerminal::ended(const RunResult& result)
{
    if (result.was_complete)
    {
        say(human_output(),
            "{}.cpt: this run is complete, step {}. Ask for more with --steps or nsteps, or start afresh with --new.\n",
            options_.request.output.prefix, result.reached);
        if (options_.json) { say(stdout, "{}", MappedFile(options_.request.output.prefix + ".report.json").text()); }
        return;
    }
    if (options_.json) { say(stdout, "{}", to_json(result.report)); }
    else if (!options_.quiet) { print_summary(result, options_.request.output.prefix); }
}

void RunTerminal::speaks(bool does) { parhelion::speaks = does; }

void RunTerminal::end_progress()
{
    if (progress_) { progress_->finish(); }
}

} // namespace parhelion
