// SPDX-License-Identifier: Apache-2.0
#include "report/record.hpp"

#include "base/error.hpp"
#include "io/input/text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <system_error>

namespace parhelion {

namespace {

constexpr std::array<std::string_view, 11> endings = {
    ".xtc", ".trr", ".h5md", ".edr", ".gro", ".last-good.gro", ".cpt", ".prev.cpt", ".log", ".report.json", status_ending};

NamedList<std::uintmax_t> files_of(const std::string& prefix)
{
    NamedList<std::uintmax_t> files;
    for (const std::string_view ending : endings)
    {
        const std::string path = prefix + std::string(ending);
        std::error_code absent;
        const std::uintmax_t bytes = std::filesystem::file_size(path, absent);
        if (!absent) { files.emplace_back(path, bytes); }
    }
    return files;
}

[[noreturn]] void refuse(const std::string& prefix)
{
    std::string advice = "Give what the run was given with -o";
    for (const std::string_view ending : endings)
    {
        if (prefix.ends_with(ending)) { advice += fmt::format(", as {}", prefix.substr(0, prefix.size() - ending.size())); }
    }
    throw InputError("E187", {prefix, 0},
                     fmt::format("is the prefix of no run: there is no {0}.edr, no {0}.report.json and no {0}.log that tells of "
                                 "one (nothing could be shown). {1}.",
                                 prefix, advice));
}

// Uses the report's averages over the whole run, unless a later part has continued the run since the report was written.
void choose_averages(RunRecord& record)
{
    const EnergyCourse& energies = record.energies;
    const bool has_report = record.report && !record.report->energies.empty();
    if (has_report && (energies.frames() == 0 || energies.last_step - energies.first_step <= record.report->steps_of_whole_run))
    {
        record.averages = record.report->energies;
        record.averages_from = "over all energy calculations of the run, with the standard errors of block averages";
        return;
    }
    for (std::size_t i = 0; i < energies.terms.size() && energies.frames() > 0; ++i)
    {
        record.averages.emplace_back(
            energies.terms[i].name,
            RunReport::Spread{energies.averages.mean(i), energies.averages.standard_deviation(i), energies.blocks.error(i)});
    }
    record.averages_from = fmt::format("over {} energy calculations up to now {}", energies.averages.count(),
                                       energies.terms.empty() ? "" : errors_text(energies.blocks));
}

} // namespace

std::span<const double> EnergyCourse::of(const std::string& name) const
{
    const auto at = std::find_if(terms.begin(), terms.end(), [&](const EdrTerm& term) { return term.name == name; });
    return at == terms.end() ? std::span<const double>() : values[static_cast<std::size_t>(at - terms.begin())];
}

EnergyCourse read_energy_course(const std::string& path)
{
    const MappedFile file(path);
    EdrReader reader(std::as_bytes(std::span(file.text())), path);
    EnergyCourse course;
    course.terms = reader.terms();
    const std::size_t terms = course.terms.size();
    course.values.resize(terms);
    course.averages = TermAverages(terms);
    course.blocks = BlockAverages(terms);
    std::vector<double> means(terms);
    EdrFrame frame;
    try
    {
        while (reader.read(frame))
        {
            if (frame.values.size() != terms) { continue; } // the frame has only other data
            if (course.times.empty()) { course.first_step = frame.step; }
            course.last_step = frame.step;
            course.times.push_back(frame.time);
            for (std::size_t i = 0; i < terms; ++i)
            {
                course.values[i].push_back(frame.values[i]);
                means[i] = frame.since_last.mean(i);
            }
            course.averages.add(frame.since_last);
            course.blocks.add(means);
        }
    }
    catch (const InputError& error)
    {
        course.damage = error.what();
    }
    return course;
}

RunRecord read_record(const std::string& prefix)
{
    RunRecord record;
    record.prefix = prefix;
    record.files = files_of(prefix);
    const auto is_there = [&](const char* ending) {
        return std::any_of(record.files.begin(), record.files.end(),
                           [&](const auto& file) { return file.first == prefix + ending && file.second > 0; });
    };
    if (is_there(".log")) { record.log = read_log(prefix + ".log"); }
    if (is_there(".report.json")) { record.report = read_report(prefix + ".report.json"); }
    if (is_there(status_ending)) { record.status = read_status(prefix + status_ending); }
    if (is_there(".edr")) { record.energies = read_energy_course(prefix + ".edr"); }
    if (record.log.version.empty() && !record.report && record.energies.frames() == 0) { refuse(prefix); }
    choose_averages(record);
    return record;
}

} // namespace parhelion
