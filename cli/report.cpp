// SPDX-License-Identifier: Apache-2.0
// `parhelion report`: shows the results of runs as a page or as numbers.
#include "commands.hpp"
#include "io/output/output_file.hpp"
#include "report/page.hpp"
#include "say.hpp"

#include <fmt/format.h>

namespace parhelion {

void command_report(const ReportOptions& options)
{
    std::vector<RunRecord> runs;
    for (const std::string& prefix : options.prefixes) { runs.push_back(read_record(prefix)); }
    if (options.json)
    {
        fmt::print("{}", report_numbers(runs));
        return;
    }
    std::string path = options.prefixes[0];
    if (runs.size() == 2) { path += "-and-" + std::filesystem::path(options.prefixes[1]).filename().string(); }
    path += ".report.html";
    write_text_file(path, report_page(runs));
    say(stdout, "written: {}\n", path);
}

} // namespace parhelion
