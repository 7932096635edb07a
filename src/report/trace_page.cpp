// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/page_frame.hpp"
#include "report/trace_figures.hpp"
#include "report/trace_report.hpp"
#include "report/trace_tables.hpp"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

using Traces = std::span<const TraceAnalysis>;

constexpr std::size_t most_rows = 200, long_label = 40;

// If there are two traces, colour() marks trace i by its colour; key() adds its letter, A or B.
std::string colour(Traces traces, std::size_t i)
{
    return traces.size() < 2 ? "" : fmt::format("<span class=\"key c{}\"></span>", i);
}
std::string key(Traces traces, std::size_t i) { return traces.size() < 2 ? "" : colour(traces, i) + (i == 0 ? "A " : "B "); }

std::string heading(Traces traces)
{
    std::string html;
    for (std::size_t i = 0; i < traces.size(); ++i)
    {
        const TraceAnalysis& a = traces[i];
        html += fmt::format("<h1>{}{}</h1><p class=\"soft\">{} {}{}, {} steps</p>\n", key(traces, i), escaped(a.path),
                            a.processes.size(), a.is_of_gpus ? "GPU" : "rank", a.processes.size() == 1 ? "" : "s", a.all.count);
    }
    return html;
}

std::string us_text(double us) { return us < 1000 ? fmt::format("{:.4g} us", us) : fmt::format("{:.0f} us", us); }

std::string tiles(Traces traces)
{
    using Tell = std::string (*)(const TraceAnalysis&);
    constexpr std::array<std::pair<std::string_view, Tell>, 5> list = {{
        {"a step", [](const TraceAnalysis& a) { return us_text(a.all.mean); }},
        {"without new pair lists", [](const TraceAnalysis& a) { return a.plain.count > 0 ? us_text(a.plain.mean) : "-"; }},
        {"95 % of steps below", [](const TraceAnalysis& a) { return us_text(a.all.p95); }},
        {"longest on the critical path",
         [](const TraceAnalysis& a) {
             return a.names.empty() ? "-" : fmt::format("{}, {:.0f} %", a.names[0].name, 100 * a.names[0].path / a.all.mean);
         }},
        {"imbalance", [](const TraceAnalysis& a) { return fmt::format("{:.1f} %", 100 * a.imbalance); }},
    }};
    std::string html;
    for (const auto& [name, tell] : list)
    {
        html += fmt::format("<div><small>{}</small>", name);
        for (std::size_t i = 0; i < traces.size(); ++i) { html += "<b>" + key(traces, i) + escaped(tell(traces[i])) + "</b>"; }
        html += "</div>\n";
    }
    return "<div class=\"tiles\">\n" + html + "</div>\n";
}

std::string advice(Traces traces)
{
    std::string html = "<h2>What limits the step</h2>";
    for (std::size_t i = 0; i < traces.size(); ++i)
    {
        html += "<ul>\n";
        for (const std::string& sentence : traces[i].advice)
        {
            html += "<li>" + colour(traces, i) + escaped(sentence) + "</li>\n";
        }
        html += "</ul>\n";
    }
    return html;
}

std::string figures(Traces traces)
{
    std::vector<std::vector<double>> steps(traces.size()), lengths(traces.size());
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < traces.size(); ++i)
    {
        for (const StepLength& s : traces[i].steps)
        {
            steps[i].push_back(static_cast<double>(s.step)), lengths[i].push_back(s.us);
        }
        curves.push_back({steps[i], lengths[i], traces[i].all.mean});
    }
    std::string html = "<h2>Figures</h2>" + draw_chart({"Length of steps", "us", "step"}, curves);
    for (std::size_t i = 0; i < traces.size(); ++i)
    {
        if (traces.size() == 2) { html += fmt::format("<h2>{}{}</h2>", key(traces, i), escaped(traces[i].path)); }
        html += draw_typical_step(traces[i]);
        for (const Occupancy& occupancy : traces[i].occupancy) { html += draw_occupancy(traces[i], occupancy); }
    }
    return html;
}

std::string table_html(const Table& table)
{
    const auto cells = [&](const std::vector<std::string>& row, const char* element) {
        std::string html = "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c)
        {
            const char* const kind = c >= table.labels ? " class=\"n\"" : row[c].size() > long_label ? " class=\"t\"" : "";
            html += fmt::format("<{0}{1}>{2}</{0}>", element, kind, escaped(row[c]));
        }
        return html + "</tr>\n";
    };
    std::string html =
        fmt::format("<h2>{}</h2><div class=\"wide\"><table class=\"words\">\n{}", escaped(table.title), cells(table.head, "th"));
    for (const auto& row : table.rows) { html += cells(row, "td"); }
    html += "</table></div>\n";
    return table.note.empty() ? html : html + "<p class=\"soft\">" + escaped(table.note) + "</p>\n";
}

} // namespace

std::string trace_page(Traces traces)
{
    PARHELION_EXPECTS(traces.size() == 1 || traces.size() == 2);
    std::string title = traces[0].path;
    if (traces.size() == 2) { title += " and " + traces[1].path; }
    std::string body = heading(traces) + tiles(traces) + advice(traces) + figures(traces);
    for (const Table& table : trace_tables(traces, most_rows, Columns::All)) { body += table_html(table); }
    return whole_page(title, body);
}

} // namespace parhelion
