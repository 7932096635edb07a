// SPDX-License-Identifier: Apache-2.0
#include "io/input/annealing_values.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace parhelion {

namespace {

[[noreturn]] void refuse_annealing(const MdpInput& input, const char* key, const std::string& message)
{
    throw InputError("E107", input.where(key), message);
}

void check_counts(const MdpInput& input)
{
    const std::size_t groups = input.parameters.temperature_groups.size();
    const auto check = [&](const char* key, std::size_t has, std::size_t wants, const char* of) {
        if (has == wants) { return; }
        refuse_annealing(input, key,
                         fmt::format("{} has {} values, and {} {} need {}. Give one of each.", key, has, wants, of, wants));
    };
    check("annealing", input.annealing.size(), groups, "temperature groups");
    check("annealing-npoints", input.annealing_points.size(), groups, "temperature groups");
    for (std::size_t g = 0; g < groups; ++g)
    {
        const int points = input.annealing_points[g];
        const bool anneals = input.annealing[g] != Annealing::None;
        if (anneals ? points >= 2 : points == 0) { continue; }
        refuse_annealing(
            input, "annealing-npoints",
            fmt::format("the temperature group {} has {} points of annealing, and {}.", input.temperature_groups[g], points,
                        anneals ? "a start and an end are the least. Give two or more" : "annealing = no has none. Write 0"));
    }
    const auto points = std::accumulate(input.annealing_points.begin(), input.annealing_points.end(), std::size_t{0});
    check("annealing-time", input.annealing_times.size(), points, "points");
    check("annealing-temp", input.annealing_temperatures.size(), points, "points");
}

void check_times(const MdpInput& input, const TemperatureGroup& group)
{
    const std::vector<AnnealingPoint>& points = group.annealing_points;
    const auto refuse = [&](const std::string& why) {
        refuse_annealing(input, "annealing-time", fmt::format("of the temperature group {} {}", group.name, why));
    };
    if (points.front().time > input.parameters.start_time)
    {
        refuse(
            fmt::format("annealing begins at {} ps, after the run's start (tinit = {} ps): there is no temperature before. Begin "
                        "with the start.",
                        number_text(points.front().time), number_text(input.parameters.start_time)));
    }
    const auto earlier = [](const AnnealingPoint& a, const AnnealingPoint& b) { return a.time < b.time; };
    if (!std::ranges::is_sorted(points, earlier)) { refuse("the points of annealing go back in time. Sort them."); }
    if (group.annealing == Annealing::Periodic && !(points.back().time > 0))
    {
        refuse("the last time of periodic annealing, which is its period, is not positive. Give a later one.");
    }
}

bool does_not_anneal(Annealing annealing) { return annealing == Annealing::None; }

} // namespace

double starting_temperature(const TemperatureGroup& group)
{
    return does_not_anneal(group.annealing) ? group.reference : group.annealing_points.front().temperature;
}

void note_idle_annealing(const MdpInput& input, Diagnostics& diagnostics)
{
    if (std::ranges::all_of(input.annealing, does_not_anneal)) { return; }
    diagnostics.note("N170", input.where("annealing"),
                     "annealing = " + input.entries.find("annealing")->second.value + " is not used where no thermostat acts.");
}

void check_annealed_noise(const MdpInput& input)
{
    const std::vector<TemperatureGroup>& groups = input.parameters.temperature_groups;
    const TemperatureGroup& first = groups.front();
    const auto same = [](const AnnealingPoint& a, const AnnealingPoint& b) {
        return a.time == b.time && a.temperature == b.temperature;
    };
    const auto is_alike = [&](const TemperatureGroup& group) {
        return group.tau > 0 && group.annealing == first.annealing &&
               std::ranges::equal(group.annealing_points, first.annealing_points, same);
    };
    if (!does_not_anneal(first.annealing) && std::ranges::all_of(groups, is_alike)) { return; }
    refuse_annealing(
        input, "pcoupl",
        "C-rescale needs one temperature for its noise, and that of annealing is not the same for all groups, or not all are "
        "coupled. Anneal all groups alike, or set ensemble-temperature-setting = constant and ensemble-temperature.");
}

void take_annealing(MdpInput& input, Diagnostics& diagnostics)
{
    if (std::ranges::all_of(input.annealing, does_not_anneal)) { return; }
    check_counts(input);
    std::size_t next = 0;
    for (std::size_t g = 0; g < input.annealing.size(); ++g)
    {
        TemperatureGroup& group = input.parameters.temperature_groups[g];
        group.annealing = input.annealing[g];
        if (does_not_anneal(group.annealing)) { continue; }
        for (int i = 0; i < input.annealing_points[g]; ++i, ++next)
        {
            group.annealing_points.push_back({input.annealing_times[next], input.annealing_temperatures[next]});
        }
        check_times(input, group);
        const double first = group.annealing_points.front().temperature, last = group.annealing_points.back().temperature;
        if (group.annealing != Annealing::Periodic || first == last) { continue; }
        diagnostics.note("N197", input.where("annealing-temp"),
                         fmt::format("the temperature of {} jumps from {} K to {} K where annealing begins again.", group.name,
                                     number_text(last), number_text(first)));
    }
}

} // namespace parhelion
