// SPDX-License-Identifier: Apache-2.0
#include "run/log.hpp"

#include "io/input/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace parhelion {

void Log::write(std::string_view record)
{
    file_.append(record);
    file_.finish_record();
}

void Log::line(std::string_view text) { write(fmt::format("{}\n", text)); }

void Log::section(std::string_view title, const std::vector<std::pair<std::string, std::string>>& entries)
{
    std::size_t width = 0;
    for (const auto& [name, value] : entries) { width = std::max(width, name.size()); }
    std::string text = fmt::format("\n{}\n", title);
    for (const auto& [name, value] : entries)
    {
        fmt::format_to(std::back_inserter(text), "   {:<{}}   {}\n", name, width, value);
    }
    write(text);
}

void Log::warning(const Warning& warning) { line("WARNING " + warning.text()); }

void Log::energies(std::int64_t step, double time, const std::vector<std::string>& terms, std::span<const double> values)
{
    PARHELION_EXPECTS(terms.size() == values.size());
    constexpr std::size_t columns = 5;
    std::string text = fmt::format("\n{:>15}{:>15}\n{:>15}{:>15.5f}\n\n   Energies (kJ/mol)\n", "Step", "Time", step, time);
    auto out = std::back_inserter(text);
    for (std::size_t begin = 0; begin < terms.size(); begin += columns)
    {
        const std::size_t end = std::min(terms.size(), begin + columns);
        for (std::size_t i = begin; i < end; ++i) { fmt::format_to(out, " {:>14}", terms[i]); }
        text += '\n';
        for (std::size_t i = begin; i < end; ++i) { fmt::format_to(out, "{:>15.5e}", values[i]); }
        text += '\n';
    }
    write(text);
}

std::string errors_text(const BlockAverages& blocks)
{
    if (std::isnan(blocks.error(0))) { return "(too few energy calculations for errors)"; }
    return fmt::format("(errors: standard errors of the means of {} blocks of {} energy calculation{})", blocks.blocks(),
                       blocks.length(), blocks.length() == 1 ? "" : "s");
}

void Log::averages(const std::vector<std::string>& terms, const TermAverages& averages, const BlockAverages& blocks)
{
    std::string text = fmt::format("\nAverages over {} energy calculations {}\n   {:<16}{:>16}{:>16}{:>16}   {}\n",
                                   averages.count(), errors_text(blocks), "term", "mean", "error", "rmsd", "unit");
    for (std::size_t i = 0; i < terms.size(); ++i)
    {
        const double error = blocks.error(i);
        fmt::format_to(std::back_inserter(text), "   {:<16}{:>16.8g}{:>16}{:>16.8g}   {}\n", terms[i], averages.mean(i),
                       std::isnan(error) ? "-" : fmt::format("{:.2g}", error), averages.standard_deviation(i),
                       unit_of_term(terms[i]));
    }
    write(text);
}

// --- reading

namespace {

// Calls take(line) for every line that has this beginning.
template <class Take>
void for_each_line(std::string_view text, std::string_view beginning, Take&& take)
{
    for (std::size_t at = 0; at < text.size();)
    {
        std::string_view rest = text.substr(at);
        if (rest.starts_with(beginning)) { take(take_line(rest)); }
        at = text.find("\n" + std::string(beginning), at);
        if (at != std::string_view::npos) { ++at; }
    }
}

// Adds lines that have a name in the first ten columns and text behind it, until an empty line.
void add_names(std::string_view text, NamedList<std::string>& list)
{
    constexpr std::size_t width = 10;
    while (!text.empty())
    {
        const std::string_view line = take_line(text);
        if (line.empty()) { return; }
        if (line.size() <= width || line[width - 1] != ' ') { continue; }
        const std::string_view name = trimmed(line.substr(0, width)), value = trimmed(line.substr(width));
        if (!name.empty()) { list.emplace_back(name, value); }
        else if (!list.empty()) { list.back().second += "; " + std::string(value); }
    }
}

} // namespace

LoggedRun read_log(const std::string& path)
{
    const MappedFile file(path);
    const std::string_view text = file.text();
    LoggedRun run;
    const auto rest_from = [&](std::string_view line) {
        return text.substr(static_cast<std::size_t>(line.data() - text.data()));
    };
    for_each_line(text, "parhelion ", [&](std::string_view first) {
        std::string_view rest = rest_from(first);
        run.version = take_line(rest);
        run.machine = take_line(rest);
        run.about.clear();
        add_names(rest, run.about);
    });
    std::string_view plan;
    for_each_line(text, "plan  ", [&](std::string_view first) { plan = rest_from(first); });
    add_names(plan, run.about);
    for_each_line(text, "   title   ", [&](std::string_view line) { run.title = trimmed(trimmed(line).substr(5)); });
    for_each_line(text, "   started   ",
                  [&](std::string_view line) { run.started.emplace_back(trimmed(trimmed(line).substr(7))); });
    for (const std::string_view beginning : {"WARNING ", "warning: "})
    {
        for_each_line(text, beginning, [&](std::string_view line) {
            const std::string warning(line.substr(beginning.size()));
            if (std::find(run.warnings.begin(), run.warnings.end(), warning) == run.warnings.end())
            {
                run.warnings.push_back(warning);
            }
        });
    }
    return run;
}

} // namespace parhelion
