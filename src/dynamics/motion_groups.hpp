// SPDX-License-Identifier: Apache-2.0
// Motion groups: the atoms of one temperature group that are frozen along the same axes move alike.
//
// The idea: if atoms are frozen, temperature groups are split by frozen axes. A kick has coefficients for each group anyway;
// those along frozen axes become 0. Without frozen atoms, motion groups are the temperature groups, at no cost.
#pragma once

#include "base/vec3.hpp"
#include "dynamics/atom_groups.hpp"
#include "model/topology.hpp"

#include <vector>

namespace parhelion {

// For each motion group: 1 along axes on which its atoms move, 0 along frozen axes.
using Mobility = std::vector<Vec3<double>>;

struct MotionGroups
{
    AtomGroups groups; // motion group i belongs to temperature group i % (number of temperature groups)
    Mobility mobility;
};

// Returns the motion groups. Throws InputError E613 if there are more groups than AtomGroups can number.
MotionGroups make_motion_groups(const AtomGroups& temperature_groups, const Topology& topology);

// Returns the component-wise product of the two: v without its components along frozen axes.
PARHELION_HD inline Vec3<double> along(const Vec3<double>& mobility, const Vec3<double>& v)
{
    return {mobility.x * v.x, mobility.y * v.y, mobility.z * v.z};
}

} // namespace parhelion
