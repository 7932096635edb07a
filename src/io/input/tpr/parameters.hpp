// SPDX-License-Identifier: Apache-2.0
// The run parameters of a run input file (.tpr) as options of an .mdp. The table of .mdp options
// (io/input/mdp_table.hpp) judges them. So one rule honours, refuses or checks a value, whichever file it comes from.
//
// Only values that matter are returned, not those of features that are off. For a
// refused feature that is on, the switch is returned and its settings are skipped.
#pragma once

#include "io/input/named_list.hpp"
#include "io/input/tpr/cursor.hpp"
#include "io/input/tpr/header.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

// A temperature coupling group and its annealing.
struct TprCoupling
{
    double degrees_of_freedom = 0, reference = 0, tau = 0; // -, K, ps
    std::string annealing;                                 // annealing type, as the .mdp spells it
    std::vector<double> times, temperatures;               // points of annealing
};

struct TprParameters
{
    NamedList<std::string> options; // all options except those that belong to a group
    std::vector<TprCoupling> coupling;
    std::vector<Vec3<double>> accelerations;                // nm/ps^2, by acceleration group
    std::vector<std::array<bool, 3>> frozen_axes;           // frozen axes, by freeze group
    bool has_thermostat = false;                            // true with a thermostat or stochastic dynamics
    bool excludes_groups = false, tables_of_groups = false; // true if pairs of energy groups are excluded; have tables
    std::string refcoord_scaling;
    std::vector<Vec3<double>> reference_centres; // set if refcoord-scaling = COM; fractions of the box
};

// Reads the parameters. Throws InputError E118.
TprParameters read_tpr_parameters(TprCursor& cursor, const TprHeader& header);

} // namespace parhelion
