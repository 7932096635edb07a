// SPDX-License-Identifier: Apache-2.0
// What pair lists are planned for: how fast atoms are and how many partners they meet.
//
// The idea: both are known at the start, and may rise. What a run will reach nobody knows, so a start that is colder or thinner
// than what it may become is planned for more; then the run is watched. Only what chance does not explain counts as a rise, and
// it is rounded up to the next step of a ladder, so that a last bit decides nothing and there are few plans.
#pragma once

#include "base/host_device.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

struct ListConditions
{
    double temperature = 0;       // K, of the hottest group of atoms
    std::vector<double> crowding; // by two classes of molecules (pairs/crowding.hpp), relative to the box of the start; >= 1

    bool operator==(const ListConditions&) const = default;
};

double most_crowded(const ListConditions& conditions); // the largest of its numbers

// Those of the start: the largest of the temperatures that are asked for, that of all atoms, and that of the hot ones among the
// molecules of a type. Atoms that no thermostat holds to a temperature may become as warm as a liquid at 300 K
// (free_temperature), and a gas may condense (least_density).
inline constexpr double free_temperature = 300; // K
inline constexpr double least_density = 10;     // atoms/nm^3: half of liquid argon's, a tenth of water's
ListConditions start_conditions(const System& system, const RunParameters& run);

// Of a temperature measured over so many degrees of freedom, what is beyond chance and beyond what a plan bears: less than T by a
// tenth and three standard deviations of a canonical ensemble.
PARHELION_HD inline double sure_temperature(double measured, double degrees_of_freedom)
{
    return degrees_of_freedom > 0 ? measured / (1.1 + 3 * std::sqrt(2 / degrees_of_freedom)) : 0;
}

// Where `sure`, the largest sure_temperature(), is above what is planned for, the next that is planned for; else `planned`.
double risen_temperature(double planned, double sure);
// The same of crowding, by two classes.
std::vector<double> risen_crowding(const std::vector<double>& planned, const std::vector<double>& measured);

} // namespace parhelion
