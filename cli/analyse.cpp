// SPDX-License-Identifier: Apache-2.0
// `parhelion analyse`: prints what limits a step, from timelines that --trace wrote.
#include "analysis/analysis.hpp"

#include "commands.hpp"
#include "io/output/output_file.hpp"
#include "report/trace_report.hpp"
#include "say.hpp"

#include <fmt/format.h>

namespace parhelion {

void command_analyse(const AnalyseOptions& options)
{
    std::vector<TraceAnalysis> traces;
    for (const std::filesystem::path& path : options.traces) { traces.push_back(analyse(read_trace(path))); }
    if (options.json) { fmt::print("{}", trace_numbers(traces)); }
    else
    {
        say(stdout, "{}", trace_text(traces)); // tables, whose lines are not wrapped
        say_fitted(stdout, trace_advice(traces));
    }
    if (options.page.empty()) { return; }
    write_text_file(options.page.string(), trace_page(traces));
    say(options.json ? stderr : stdout, "written: {}\n", options.page.string());
}

} // namespace parhelion
