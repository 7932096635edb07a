// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include "base/error.hpp"
#include "report/chart.hpp"
#include "report/citations.hpp"
#include "report/html.hpp"
#include "report/page_frame.hpp"
#include "run/describe.hpp"
#include "run/progress.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

using Runs = std::span<const RunRecord>;

// The most important terms. All other terms are in a section that is collapsed at first.
constexpr std::array<std::string_view, 12> main_terms = {"Potential",   "Kinetic En.", "Total Energy", "Conserved En.",
                                                         "Temperature", "Pressure",    "Density",      "Volume",
                                                         "Box-X",       "Box-Y",       "Box-Z",        "#Surf*SurfTen"};

bool is_main(std::string_view term)
{
    return std::find(main_terms.begin(), main_terms.end(), term) != main_terms.end() || term.starts_with("Box-XX") ||
           term.starts_with("Box-YY") || term.starts_with("Box-ZZ") || term.starts_with("T-");
}

std::string key(Runs runs, std::size_t run) { return runs.size() < 2 ? "" : fmt::format("<span class=\"key c{}\"></span>", run); }

const RunReport::Spread* find_average(const RunRecord& run, std::string_view term)
{
    const auto at = std::find_if(run.averages.begin(), run.averages.end(), [&](const auto& one) { return one.first == term; });
    return at == run.averages.end() ? nullptr : &at->second;
}

// Returns the terms of all runs, in the order of the first run.
std::vector<std::string> terms_of(Runs runs)
{
    std::vector<std::string> terms;
    for (const RunRecord& run : runs)
    {
        for (const auto& [term, spread] : run.averages)
        {
            if (std::find(terms.begin(), terms.end(), term) == terms.end()) { terms.push_back(term); }
        }
    }
    return terms;
}

// A function that returns a run's cell of a row, or "" if the run has no such value.
using Tell = std::function<std::string(const RunRecord&)>;

// Table rows, each with a name and a cell for each run. Rows whose cells are all empty are left out.
class Rows
{
public:
    explicit Rows(Runs runs) : runs_(runs) {}

    void add(std::string_view name, const Tell& tell)
    {
        std::string cells;
        bool is_filled = false;
        for (const RunRecord& run : runs_)
        {
            const std::string text = tell(run);
            is_filled = is_filled || !text.empty();
            cells += "<td>" + escaped(text) + "</td>";
        }
        if (is_filled) { rows_ += fmt::format("<tr><th scope=\"row\">{}</th>{}</tr>\n", escaped(name), cells); }
    }
    // Returns the rows as a section with this heading, or nothing if there are no rows.
    std::string section(std::string_view heading) const
    {
        if (rows_.empty()) { return ""; }
        std::string head;
        for (std::size_t i = 0; i < runs_.size() && runs_.size() > 1; ++i)
        {
            head += fmt::format("<th scope=\"col\">{}{}</th>", key(runs_, i), escaped(runs_[i].prefix));
        }
        if (!head.empty()) { head = "<tr><td></td>" + head + "</tr>\n"; }
        return fmt::format("<h2>{}</h2><div class=\"wide\"><table>\n{}{}</table></div>\n", heading, head, rows_);
    }

private:
    Runs runs_;
    std::string rows_;
};

// Returns a function that calls `tell` with the run's report, or returns "" if the run has no report.
Tell of_report(std::function<std::string(const RunReport&)> tell)
{
    return [tell = std::move(tell)](const RunRecord& run) { return run.report ? tell(*run.report) : ""; };
}

std::string simulated_text(const RunRecord& run)
{
    const std::vector<double>& times = run.energies.times;
    const double ps = run.report && times.empty() ? static_cast<double>(run.report->steps_of_whole_run) * run.report->dt_ps
                      : times.empty()             ? std::numeric_limits<double>::quiet_NaN()
                                                  : times.back() - times.front();
    if (!std::isfinite(ps)) { return ""; }
    return std::abs(ps) < 1000 ? fmt::format("{:.6g} ps", ps) : fmt::format("{:.6g} ns", ps * 1e-3);
}

std::string drift_text(const RunReport& report)
{
    const double drift = report.conserved_drift_kT_per_ns_per_atom;
    return std::isfinite(drift) ? value_text(drift, report.conserved_drift_error_kT_per_ns_per_atom) + " kT/ns/atom" : "";
}

std::string tiles(Runs runs)
{
    std::vector<std::pair<std::string_view, Tell>> list = {
        {"atoms", of_report([](const RunReport& r) { return std::to_string(r.atoms); })},
        {"simulated", simulated_text},
        {"speed", of_report([](const RunReport& r) { return r.dt_ps > 0 ? fmt::format("{:.4g} ns/day", r.ns_per_day) : ""; })}};
    for (const std::string_view term : {"Temperature", "Pressure", "Density"})
    {
        list.emplace_back(term, [term](const RunRecord& run) {
            const RunReport::Spread* const spread = find_average(run, term);
            return spread == nullptr ? "" : fmt::format("{} {}", value_text(spread->mean, spread->error), unit_of_term(term));
        });
    }
    list.emplace_back("drift of the conserved quantity", of_report(drift_text));
    std::string html;
    for (const auto& [name, tell] : list)
    {
        std::string values;
        for (std::size_t i = 0; i < runs.size(); ++i)
        {
            if (const std::string text = tell(runs[i]); !text.empty())
            {
                values += "<b>" + key(runs, i) + escaped(text) + "</b>";
            }
        }
        if (!values.empty()) { html += fmt::format("<div><small>{}</small>{}</div>\n", name, values); }
    }
    return html.empty() ? "" : "<div class=\"tiles\">\n" + html + "</div>\n";
}

// Returns whether two terms have the same values in every run, like the edges of a cube.
bool are_alike(Runs runs, const std::string& a, const std::string& b)
{
    return std::all_of(runs.begin(), runs.end(),
                       [&](const RunRecord& run) { return std::ranges::equal(run.energies.of(a), run.energies.of(b)); });
}

// Returns the charts of the main terms, or of all other terms. Terms with the same values share a chart.
std::string charts(Runs runs, bool of_main)
{
    std::vector<std::vector<std::string>> alike;
    for (const std::string& term : terms_of(runs))
    {
        if (is_main(term) != of_main || term.starts_with("Box-Vel")) { continue; }
        const auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& some) {
            return unit_of_term(some[0]) == unit_of_term(term) && are_alike(runs, some[0], term);
        });
        if (same == alike.end()) { alike.push_back({term}); }
        else { same->push_back(term); }
    }
    std::string html;
    for (const std::vector<std::string>& terms : alike)
    {
        std::vector<Curve> curves;
        for (const RunRecord& run : runs)
        {
            const RunReport::Spread* const spread = find_average(run, terms[0]);
            const auto values = run.energies.of(terms[0]);
            curves.push_back({std::span(run.energies.times).first(values.size()), values,
                              spread == nullptr ? std::numeric_limits<double>::quiet_NaN() : spread->mean});
        }
        std::string title = terms[0];
        for (std::size_t i = 1; i < terms.size(); ++i) { title += ", " + terms[i]; }
        html += draw_chart({title, std::string(unit_of_term(terms[0]))}, curves);
    }
    return html.empty() ? "" : "<div class=\"charts\">\n" + html + "</div>\n";
}

std::string course(Runs runs)
{
    const std::string first = charts(runs, true), rest = charts(runs, false);
    if (first.empty() && rest.empty()) { return "<h2>Course</h2><p>There is no energy file, or none with a frame yet.</p>\n"; }
    std::string html = "<h2>Course</h2>" + first;
    if (!rest.empty()) { html += "<details><summary>All other terms</summary>" + rest + "</details>\n"; }
    for (const RunRecord& run : runs)
    {
        if (!run.energies.damage.empty())
        {
            html +=
                fmt::format("<p class=\"warn\">The energy file was read up to {} ps: {} A run that still goes on may have been "
                            "writing there.</p>\n",
                            run.energies.times.empty() ? 0 : run.energies.times.back(), escaped(run.energies.damage));
        }
    }
    return html + "<p class=\"soft\">Curves keep the least and the largest value of every stretch. Dashed: the mean.</p>\n";
}

std::string average_row(Runs runs, const std::string& term)
{
    std::string cells;
    for (const RunRecord& run : runs)
    {
        const RunReport::Spread* const spread = find_average(run, term);
        cells += fmt::format("<td class=\"n\">{}</td>", spread == nullptr ? "" : value_text(spread->mean, spread->error));
        if (runs.size() == 1) { cells += fmt::format("<td class=\"n\">{}</td>", short_text(spread->stddev)); }
    }
    if (runs.size() == 2)
    {
        const RunReport::Spread *const a = find_average(runs[0], term), *const b = find_average(runs[1], term);
        cells += fmt::format("<td class=\"n\">{}</td>",
                             a == nullptr || b == nullptr ? "" : value_text(b->mean - a->mean, std::hypot(a->error, b->error)));
    }
    return fmt::format("<tr><th scope=\"row\">{}</th>{}<td class=\"u\">{}</td></tr>\n", escaped(term), cells, unit_of_term(term));
}

std::string averages(Runs runs)
{
    std::string head, first, rest, from;
    for (std::size_t i = 0; i < runs.size(); ++i)
    {
        const std::string name = runs.size() == 1 ? "mean" : key(runs, i) + escaped(runs[i].prefix);
        head += fmt::format("<th class=\"n\" scope=\"col\">{}</th>", name);
        from += fmt::format("<p class=\"soft\">{}{}Means {}.</p>\n", key(runs, i),
                            runs.size() == 1 ? "" : escaped(runs[i].prefix + ": "), escaped(runs[i].averages_from));
    }
    head = fmt::format("<tr><th scope=\"col\">term</th>{}<th class=\"n\" scope=\"col\">{}</th><th scope=\"col\">unit</th></tr>\n",
                       head, runs.size() == 1 ? "rms deviation" : "second - first");
    for (const std::string& term : terms_of(runs)) { (is_main(term) ? first : rest) += average_row(runs, term); }
    if (first.empty() && rest.empty()) { return ""; }
    const auto table = [&](const std::string& rows) {
        return fmt::format("<div class=\"wide\"><table>\n{}{}</table></div>\n", head, rows);
    };
    return "<h2>Averages</h2>" + table(first) + "<details><summary>All other terms</summary>" + table(rest) + "</details>\n" +
           from;
}

// Returns the time of each phase, us per step. On CPUs, where phases do not overlap, it adds a row for the rest of the step.
NamedList<double> phases_of(const RunRecord& run)
{
    if (!run.report) { return {}; }
    NamedList<double> phases = run.report->phases;
    double rest = run.report->us_per_step;
    for (const auto& [name, us] : phases) { rest -= us; }
    if (run.report->gpus == 0 && !phases.empty()) { phases.emplace_back("rest", std::max(rest, 0.0)); }
    return phases;
}

double time_of_phase(const RunRecord& run, const std::string& phase)
{
    for (const auto& [name, us] : phases_of(run))
    {
        if (name == phase) { return us; }
    }
    return 0;
}

std::string times_by_phase(Runs runs)
{
    std::vector<std::string> names;
    double longest = 0;
    for (const RunRecord& run : runs)
    {
        for (const auto& [name, us] : phases_of(run))
        {
            longest = std::max(longest, us);
            if (us > 0 && std::find(names.begin(), names.end(), name) == names.end()) { names.push_back(name); }
        }
    }
    if (names.empty()) { return ""; }
    std::string rows;
    for (const std::string& name : names)
    {
        std::string cells, bars;
        for (std::size_t i = 0; i < runs.size(); ++i)
        {
            const double us = time_of_phase(runs[i], name), all = runs[i].report ? runs[i].report->us_per_step : 0;
            cells += fmt::format("<td class=\"n\">{:.1f}</td><td class=\"n\">{}</td>", us,
                                 all > 0 ? fmt::format("{:.1f} %", 100 * us / all) : "");
            bars += fmt::format("<i class=\"c{}\" style=\"width:{:.1f}%\"></i>", i, 100 * us / longest);
        }
        rows += fmt::format("<tr><th scope=\"row\">{}</th>{}<td class=\"bar\">{}</td></tr>\n", escaped(name), cells, bars);
    }
    std::string head = "<tr><th scope=\"col\">phase</th>";
    for (std::size_t i = 0; i < runs.size(); ++i)
    {
        head +=
            fmt::format("<th class=\"n\" scope=\"col\">{}us/step</th><th class=\"n\" scope=\"col\">of a step</th>", key(runs, i));
    }
    return "<h2>Time by phase</h2><div class=\"wide\"><table>\n" + head + "<td></td></tr>\n" + rows +
           "</table></div>\n<p class=\"soft\">Over the steady part of the latest part of the run. On GPUs phases run beside each "
           "other.</p>\n";
}

std::string where(Runs runs)
{
    Rows rows(runs);
    const auto of_version = [](const char* name) {
        return of_report([name](const RunReport& r) {
            for (const auto& [key, text] : r.version)
            {
                if (key == name) { return text; }
            }
            return std::string();
        });
    };
    const auto add_count = [&](const char* name, auto member) {
        rows.add(name, of_report([member](const RunReport& r) { return fmt::format("{}", r.*member); }));
    };
    rows.add("speed", of_report([](const RunReport& r) {
                 return r.dt_ps > 0 ? fmt::format("{:.5g} ns/day, {:.5g} us/step", r.ns_per_day, r.us_per_step) : "";
             }));
    rows.add("steps", of_report([](const RunReport& r) {
                 return fmt::format("{} in {}, {} of the whole run, {:g} fs each", r.steps, duration_text(r.wall_s),
                                    r.steps_of_whole_run, r.dt_ps * 1000);
             }));
    rows.add("device", of_report([](const RunReport& r) {
                 return r.gpus > 0 ? fmt::format("{} GPU{}", r.gpus, r.gpus == 1 ? "" : "s") : r.device;
             }));
    rows.add("kernels for", of_version("kernel"));
    add_count("ranks", &RunReport::ranks);
    add_count("grid", &RunReport::grid);
    add_count("halo", &RunReport::halo);
    add_count("transport", &RunReport::transport);
    add_count("PME's mesh", &RunReport::pme);
    add_count("precision", &RunReport::precision);
    add_count("threads of a rank", &RunReport::threads);
    rows.add("cores kept busy", of_report([](const RunReport& r) { return fmt::format("{:.3g}", r.host_load); }));
    rows.add("pair list", of_report([](const RunReport& r) { return fmt::format("of {} steps", r.repartition_interval); }));
    rows.add("borders of cells", of_report([](const RunReport& r) { return r.load_balance.empty() ? "" : r.borders; }));
    rows.add("drift", of_report(drift_text));
    rows.add("program", [](const RunRecord& run) { return run.log.version; });
    rows.add("machine", [](const RunRecord& run) { return run.log.machine; });
    return rows.section("What ran where");
}

std::string about(Runs runs)
{
    Rows rows(runs);
    rows.add("begun", [](const RunRecord& run) {
        const std::vector<std::string>& started = run.log.started;
        if (started.size() < 2) { return started.empty() ? "" : started[0]; }
        return fmt::format("{}, continued {} time{}, last {}", started[0], started.size() - 1, started.size() == 2 ? "" : "s",
                           started.back());
    });
    std::vector<std::string> names;
    for (const RunRecord& run : runs)
    {
        for (const auto& [name, text] : run.log.about)
        {
            if (std::find(names.begin(), names.end(), name) == names.end()) { names.push_back(name); }
        }
    }
    for (const std::string& name : names)
    {
        rows.add(name, [&](const RunRecord& run) {
            const auto& list = run.log.about;
            const auto at = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.first == name; });
            return at == list.end() ? "" : at->second;
        });
    }
    return rows.section("What was run");
}

std::string warnings(Runs runs)
{
    std::string html;
    for (std::size_t i = 0; i < runs.size(); ++i)
    {
        for (const std::string& warning : runs[i].log.warnings)
        {
            html += fmt::format("<li class=\"warn\">{}{}</li>\n", key(runs, i), escaped(warning));
        }
    }
    return "<h2>Warnings</h2>" + (html.empty() ? "<p>None.</p>\n" : "<ul>\n" + html + "</ul>\n");
}

std::string files(Runs runs)
{
    std::string html;
    for (const RunRecord& run : runs)
    {
        for (const auto& [name, bytes] : run.files)
        {
            html += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td></tr>\n", escaped(name), size_text(bytes));
        }
    }
    return html.empty() ? "" : "<h2>Files</h2><div class=\"wide\"><table>\n" + html + "</table></div>\n";
}

// Returns the references of all runs as HTML.
std::string cite(Runs runs)
{
    Citations all;
    for (const RunRecord& run : runs)
    {
        const Citations used = citations_in(run.log);
        if (all.program.empty()) { all.program = used.program; }
        for (const CitedMethod& method : used.methods)
        {
            const auto is_same = [&](const CitedMethod& known) { return known.name == method.name; };
            if (std::none_of(all.methods.begin(), all.methods.end(), is_same)) { all.methods.push_back(method); }
        }
    }
    if (all.methods.empty()) { return ""; }
    std::string rows;
    for (const CitedMethod& method : all.methods)
    {
        for (const Publication& publication : method.publications)
        {
            rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(method.name),
                                escaped(text_of(publication)));
        }
    }
    return "<h2>How to cite</h2><div class=\"wide\"><table>\n" + rows +
           "</table></div>\n<details><summary>BibTeX</summary><pre>" + escaped(citations_bibtex(all)) + "</pre></details>\n";
}

// Describes how the run ended, or how far it has got.
std::string state_text(const RunRecord& run)
{
    if (!run.status) { return run.report ? "" : "No part of it has come to its end: it goes on, or was killed, or has failed."; }
    switch (run.status->state)
    {
    case RunState::Done:
        return "Done.";
    case RunState::Stopped:
        return "Stopped early; the same command goes on.";
    case RunState::Failed:
        return "It has failed" + (run.status->error.empty() ? std::string(".") : ": " + run.status->error);
    default: {
        const StatusDoubt doubt = doubt_about(*run.status, std::time(nullptr));
        return fmt::format("{}: {}{}", doubt.is_over ? "It did not come to its end, as " + doubt.text : "It goes on",
                           progress_text(run.status->progress), doubt.is_over || doubt.text.empty() ? "" : "; but " + doubt.text);
    }
    }
}

std::string heading(Runs runs)
{
    std::string html;
    for (std::size_t i = 0; i < runs.size(); ++i)
    {
        const RunRecord& run = runs[i];
        const std::string state = state_text(run);
        html += fmt::format("<h1>{}{}</h1><p class=\"say soft\">{}{}{}</p>\n", key(runs, i), escaped(run.title()),
                            escaped(run.prefix), state.empty() ? "" : ": ", escaped(state));
    }
    return html;
}

} // namespace

std::string report_page(Runs runs)
{
    PARHELION_EXPECTS(runs.size() == 1 || runs.size() == 2);
    std::string title = runs[0].prefix;
    if (runs.size() == 2) { title += " and " + runs[1].prefix; }
    std::string body;
    for (const auto part : {heading, tiles, course, averages, times_by_phase, where, about, warnings, files, cite})
    {
        body += part(runs);
    }
    return whole_page(title, body);
}

} // namespace parhelion
