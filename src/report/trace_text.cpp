// SPDX-License-Identifier: Apache-2.0
#include "report/trace_report.hpp"
#include "report/trace_tables.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace parhelion {

namespace {

constexpr std::size_t most_rows = 12, widest_cell = 100;

std::string shortened(const std::string& cell)
{
    return cell.size() <= widest_cell ? cell : cell.substr(0, widest_cell - 3) + "...";
}

std::string text_of(const Table& table)
{
    std::vector<std::size_t> widths;
    const auto widen = [&](const std::vector<std::string>& cells) {
        widths.resize(std::max(widths.size(), cells.size()));
        for (std::size_t c = 0; c < cells.size(); ++c) { widths[c] = std::max(widths[c], shortened(cells[c]).size()); }
    };
    widen(table.head);
    for (const auto& row : table.rows) { widen(row); }
    std::string text = table.title + "\n";
    const auto add = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t c = 0; c < cells.size(); ++c)
        {
            const std::string cell = shortened(cells[c]);
            if (c < table.labels) { fmt::format_to(std::back_inserter(line), "  {:<{}}", cell, widths[c]); }
            else { fmt::format_to(std::back_inserter(line), "  {:>{}}", cell, widths[c]); }
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    add(table.head);
    for (const auto& row : table.rows) { add(row); }
    if (!table.note.empty()) { text += "  " + table.note + "\n"; }
    return text + "\n";
}

} // namespace

std::string trace_text(std::span<const TraceAnalysis> traces)
{
    std::string text;
    for (std::size_t i = 0; i < traces.size(); ++i)
    {
        const TraceAnalysis& a = traces[i];
        fmt::format_to(std::back_inserter(text), "{}{}: {} {}{}, {} steps\n", traces.size() == 2 ? (i == 0 ? "A  " : "B  ") : "",
                       a.path, a.processes.size(), a.is_of_gpus ? "GPU" : "rank", a.processes.size() == 1 ? "" : "s",
                       a.all.count);
    }
    text += "\n";
    for (const Table& table : trace_tables(traces, most_rows, traces.size() == 2 ? Columns::Compared : Columns::All))
    {
        text += text_of(table);
    }
    return text;
}

std::string trace_advice(std::span<const TraceAnalysis> traces)
{
    std::string text;
    for (const TraceAnalysis& a : traces)
    {
        text += traces.size() == 2 ? fmt::format("What limits the steps of {}\n", a.path) : "What limits the step\n";
        for (const std::string& sentence : a.advice) { text += "- " + sentence + "\n"; }
    }
    return text;
}

} // namespace parhelion
