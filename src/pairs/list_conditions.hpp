// SPDX-License-Identifier: Apache-2.0
// The conditions for which pair lists are planned: the temperature of atoms, and the crowding (density of partners).
//
// The idea: temperature and crowding are known at the start, but may rise by an unknown amount. If the start is colder or thinner
// than it may become, lists are planned for more, and the run is then watched. Only a change that chance cannot explain counts as
// a rise. A rise is rounded up to the next of few fixed values, so that last bits decide nothing and there are few plans.
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
    std::vector<double> crowding; // by pair of classes (pairs/crowding.hpp), relative to an even box at the start; >= 1

    bool operator==(const ListConditions&) const = default;
};

double most_crowded(const ListConditions& conditions); // returns the largest crowding

// Returns the conditions at the start. The temperature is the largest of the reference temperatures,
// that of all atoms, and that of the hot atoms of any molecule type. Atoms without a thermostat may
// become as warm as a liquid at 300 K (free_temperature), and a gas may condense (least_density).
inline constexpr double free_temperature = 300; // K
inline constexpr double least_density = 10;     // atoms/nm^3: half of liquid argon's, a tenth of water's
ListConditions start_conditions(const System& system, const RunParameters& run);

// Returns the part of a measured temperature T that is beyond chance and beyond the margin of a plan: T minus
// a tenth, and minus three standard deviations of a canonical ensemble with this number of degrees of freedom.
PARHELION_HD inline double sure_temperature(double measured, double degrees_of_freedom)
{
    return degrees_of_freedom > 0 ? measured / (1.1 + 3 * std::sqrt(2 / degrees_of_freedom)) : 0;
}

// Returns `planned`, or the next higher of the fixed temperatures if `sure`, the largest sure_temperature(), is above it.
double risen_temperature(double planned, double sure);
// Returns `planned` with the crowding of each pair of classes raised in the same way, if `measured` is above it.
std::vector<double> risen_crowding(const std::vector<double>& planned, const std::vector<double>& measured);

} // namespace parhelion
