// SPDX-License-Identifier: Apache-2.0
#include "report/trace_tables.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <utility>

namespace parhelion {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// A row of a table: words that name it, and its values.
struct Row
{
    std::vector<std::string> labels;
    std::vector<double> values;
};

struct Column
{
    std::string head;
    bool is_share = false; // the values are fractions, which are shown in %
};

// Describes a table. With two analyses, rows with equal labels become one row, and the values of column `compared` are compared.
struct TableKind
{
    std::string title, note;
    std::vector<std::string> labels;
    std::vector<Column> columns;
    std::function<std::vector<Row>(const TraceAnalysis&)> rows;
    std::size_t compared = 0; // index of the column that is compared
};

std::string cell(double value, const Column& column)
{
    if (!std::isfinite(value)) { return ""; }
    if (column.is_share) { return fmt::format("{:.1f} %", 100 * value); }
    return column.head == "steps" ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

std::string change(double before, double after, const Column& column)
{
    if (!std::isfinite(before) || !std::isfinite(after)) { return ""; }
    return column.is_share ? fmt::format("{:+.1f} %", 100 * (after - before)) : fmt::format("{:+.2f}", after - before);
}

// A row with the values of all traces, indexed by trace and column. The values are NaN for a trace that has no such row.
struct JoinedRow
{
    std::vector<std::string> labels;
    std::vector<std::vector<double>> values;
};

std::vector<JoinedRow> joined(const TableKind& kind, std::span<const TraceAnalysis> traces)
{
    std::vector<JoinedRow> all;
    for (std::size_t t = 0; t < traces.size(); ++t)
    {
        for (Row& row : kind.rows(traces[t]))
        {
            auto at = std::find_if(all.begin(), all.end(), [&](const JoinedRow& r) { return r.labels == row.labels; });
            if (at == all.end())
            {
                const std::vector<double> nothing(kind.columns.size(), none);
                at = all.insert(all.end(), {std::move(row.labels), std::vector(traces.size(), nothing)});
            }
            at->values[t] = std::move(row.values);
        }
    }
    return all;
}

Table table_of(const TableKind& kind, std::span<const TraceAnalysis> traces, std::size_t most_rows, Columns columns)
{
    const auto is_shown = [&](std::size_t column) { return columns == Columns::All || column == kind.compared; };
    Table table{kind.title, kind.note, kind.labels.size(), kind.labels, {}};
    const bool are_two = traces.size() == 2;
    for (std::size_t t = 0; t < traces.size(); ++t)
    {
        for (std::size_t c = 0; c < kind.columns.size(); ++c)
        {
            if (is_shown(c)) { table.head.push_back((are_two ? (t == 0 ? "A " : "B ") : "") + kind.columns[c].head); }
        }
    }
    const Column& compared = kind.columns[kind.compared];
    if (are_two) { table.head.push_back("B - A, " + compared.head); }
    std::vector<JoinedRow> rows = joined(kind, traces);
    if (rows.size() > most_rows)
    {
        table.note += fmt::format("{}{} more rows: --json has them.", table.note.empty() ? "" : " ", rows.size() - most_rows);
        rows.resize(most_rows);
    }
    for (const JoinedRow& row : rows)
    {
        std::vector<std::string>& cells = table.rows.emplace_back(row.labels);
        for (const std::vector<double>& values : row.values)
        {
            for (std::size_t c = 0; c < values.size(); ++c)
            {
                if (is_shown(c)) { cells.push_back(cell(values[c], kind.columns[c])); }
            }
        }
        if (are_two) { cells.push_back(change(row.values[0][kind.compared], row.values[1][kind.compared], compared)); }
    }
    return table;
}

// --- the tables

std::vector<Row> lengths(const TraceAnalysis& a)
{
    std::vector<Row> rows;
    for (const auto& [name, s] : {std::pair<const char*, const StepSpread&>{"all steps", a.all},
                                  {"without new pair lists", a.plain},
                                  {"with new pair lists", a.repartition}})
    {
        if (s.count == 0) { continue; }
        rows.push_back({{name}, {static_cast<double>(s.count), s.mean, s.deviation, s.min, s.median, s.p95, s.max}});
    }
    return rows;
}

std::vector<Row> by_name(const TraceAnalysis& a)
{
    std::vector<Row> rows;
    for (const NamedTimes& t : a.names)
    {
        std::vector<std::string> labels = {t.name};
        if (a.is_of_gpus) { labels.push_back(t.phase); }
        rows.push_back({labels, {t.path, t.path / a.all.mean, t.path_steps, t.busy, t.calls}});
    }
    std::vector<std::string> labels = {a.is_of_gpus ? "no kernel" : "no phase"};
    if (a.is_of_gpus) { labels.emplace_back(); }
    rows.push_back({labels, {a.path_gaps, a.path_gaps / a.all.mean, none, none, none}});
    return rows;
}

std::vector<Row> by_process(const TraceAnalysis& a)
{
    std::vector<Row> rows;
    for (const ProcessTimes& p : a.processes)
    {
        rows.push_back({{p.name, p.atoms > 0 ? std::to_string(p.atoms) : ""},
                        {p.compute, p.exchange, p.waiting, p.idle, p.path / a.all.mean}});
    }
    return rows;
}

std::vector<Row> work(const TraceAnalysis& a)
{
    std::vector<Row> rows;
    for (const ProcessTimes& p : a.processes)
    {
        if (p.work.step <= 0) { continue; }
        Row& row = rows.emplace_back(Row{{p.name}, {}});
        for (const auto& [name, part] : step_work_parts) { row.values.push_back(p.work.*part); }
    }
    return rows;
}

std::vector<Row> waits(const TraceAnalysis& a)
{
    std::vector<Row> rows;
    for (const WaitTimes& w : a.waits) { rows.push_back({{w.process, w.phase, w.peer, w.cause}, {w.us, w.steps}}); }
    return rows;
}

std::vector<Row> beside(const TraceAnalysis& a)
{
    std::vector<Row> rows;
    for (const BesideTimes& b : a.beside) { rows.push_back({{b.process, b.first, b.second}, {b.us}}); }
    return rows;
}

std::vector<Row> occupancy(const TraceAnalysis& a)
{
    std::vector<Row> rows;
    for (const Occupancy& o : a.occupancy)
    {
        rows.push_back({{o.process, fmt::format("any, of {}", o.multiprocessors)}, {o.busy}});
        for (const Occupancy::Kernel& k : o.kernels) { rows.push_back({{o.process, k.name}, {k.mean}}); }
    }
    return rows;
}

std::vector<Row> slow(const TraceAnalysis& a)
{
    std::vector<Row> rows;
    for (const SlowStep& s : a.slow) { rows.push_back({{std::to_string(s.step), s.cause, s.text}, {s.us, s.typical_us}}); }
    return rows;
}

std::vector<TableKind> compared_kinds(bool of_gpus)
{
    std::vector<Column> parts;
    for (const auto& [name, part] : step_work_parts) { parts.push_back({std::string(name)}); }
    std::vector<std::string> name = {of_gpus ? "kernel" : "phase"};
    if (of_gpus) { name.emplace_back("phase"); }
    return {
        {"Lengths of steps, us",
         "",
         {""},
         {{"steps"}, {"mean"}, {"deviation"}, {"least"}, {"median"}, {"95 %"}, {"most"}},
         lengths,
         1},
        {"Critical path, us a step",
         "On the path: the step ends later if this takes longer. Busy: mean over all.",
         name,
         {{"on the path"}, {"of the time", true}, {"in steps", true}, {"busy"}, {"calls"}},
         by_name},
        {of_gpus ? "GPUs, us a step" : "Ranks, us a step",
         "Exchanges are messages and waits for them.",
         {"", "atoms"},
         {{"compute"}, {"exchange"}, {"of it waiting"}, {"idle"}, {"of the path", true}},
         by_process},
        {"Local and nonlocal work, us a step",
         "The non-overlap is nonlocal work that local work does not hide.",
         {""},
         parts,
         work,
         5},
        {"Waits, us a step", "", {"of", "in", "for", "which was in"}, {{"us"}, {"in steps", true}}, waits},
        {"Multiprocessors that have a block", "", {"GPU", "kernel"}, {{"share", true}}, occupancy},
        {"Kernels beside each other, us a step", "", {"GPU", "kernel", "beside"}, {{"us"}}, beside},
    };
}

const TableKind slow_kind = {"Slow steps, us", "", {"step", "cause", ""}, {{"us"}, {"typical"}}, slow};

} // namespace

std::vector<Table> trace_tables(std::span<const TraceAnalysis> traces, std::size_t most_rows, Columns columns)
{
    PARHELION_EXPECTS(traces.size() == 1 || traces.size() == 2);
    std::vector<Table> tables;
    for (const TableKind& kind : compared_kinds(traces[0].is_of_gpus))
    {
        tables.push_back(table_of(kind, traces, most_rows, columns));
    }
    for (const TraceAnalysis& trace : traces)
    {
        tables.push_back(table_of(slow_kind, std::span(&trace, 1), most_rows, Columns::All));
        if (traces.size() == 2) { tables.back().title += ", of " + trace.path; }
    }
    std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
    return tables;
}

} // namespace parhelion
