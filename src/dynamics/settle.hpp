// SPDX-License-Identifier: Apache-2.0
// SETTLE for one rigid three-site water: the closed-form solution of its three constraints (Miyamoto and Kollman 1992).
#pragma once

#include "base/vec3.hpp"

namespace parhelion {

// A water of a molecule type, ready for use: local atoms, masses and the geometry of the rigid triangle in its own frame (origin at the
// centre of mass, oxygen at (0, ra), hydrogens at (-+rc, -rb)).
struct SettleWater
{
    int oxygen, hydrogen_a, hydrogen_b; // local atoms
    double oh, hh;                      // nm
    double mass_o, mass_h;              // u
    double ra, rb, rc;                  // nm
};

SettleWater make_settle(int oxygen, int hydrogen_a, int hydrogen_b, double oh, double hh, double mass_o, double mass_h);

} // namespace parhelion
