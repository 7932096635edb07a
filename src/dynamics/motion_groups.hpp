// SPDX-License-Identifier: Apache-2.0
// Motion groups: the atoms of one temperature group that are frozen along the same axes move alike.
//
// The idea: where atoms are frozen, temperature groups are split by their axes, and the numbers of a kick, which are by group
// anyway, are 0 along frozen ones. Without frozen atoms motion groups are the temperature groups, at no cost.
#pragma once

#include "base/vec3.hpp"
#include "dynamics/atom_groups.hpp"
#include "model/topology.hpp"

#include <vector>

namespace parhelion {

// By motion group: 1 along the axes that its atoms move along, 0 along others.
using Mobility = std::vector<Vec3<double>>;

struct MotionGroups
{
    AtomGroups groups; // i is of the temperature group i % (how many there are)
    Mobility mobility;
};

// Throws InputError E613 for more groups than AtomGroups holds.
MotionGroups make_motion_groups(const AtomGroups& temperature_groups, const Topology& topology);

// The component-wise product.
PARHELION_HD inline Vec3<double> along(const Vec3<double>& mobility, const Vec3<double>& v)
{
    return {mobility.x * v.x, mobility.y * v.y, mobility.z * v.z};
}

} // namespace parhelion
