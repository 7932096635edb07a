// SPDX-License-Identifier: Apache-2.0
// SETTLE for rigid three-site water: the closed-form solution of its three constraints (Miyamoto and Kollman, J.
// Comput. Chem. 13, 952, 1992). It solves eight waters at a time, so that divisions and roots run in vector units.
#pragma once

#include "base/vec3.hpp"

namespace parhelion {

// A water of a molecule type, prepared for SETTLE: its atoms, its masses, and the rigid triangle in its own frame.
// There the centre of mass is the origin, the oxygen is at (0, ra), and the hydrogens are at (-rc, -rb) and (rc, -rb).
struct SettleWater
{
    int oxygen, hydrogen_a, hydrogen_b; // indices in the molecule
    double oh, hh;                      // nm
    double mass_o, mass_h;              // u
    double ra, rb, rc;                  // nm
    double share_o, share_h;            // fractions of the water's mass: that of the oxygen, that of one hydrogen
    double inverse_ra, inverse_2rc;     // 1/nm
};

SettleWater make_settle(int oxygen, int hydrogen_a, int hydrogen_b, double oh, double hh, double mass_o, double mass_h);

inline constexpr int settle_batch_size = 8;

// Several waters: [component][water]. An unused place must hold a valid water, such as a copy of another water.
struct SettleBatch
{
    // Input, nm: vectors from the oxygen to the hydrogens in the reference positions; displacements of atoms without constraints.
    double oh_a[3][settle_batch_size], oh_b[3][settle_batch_size];
    double move_o[3][settle_batch_size], move_a[3][settle_batch_size], move_b[3][settle_batch_size];
    // Output, nm: corrections to the displacements.
    double correct_o[3][settle_batch_size], correct_a[3][settle_batch_size], correct_b[3][settle_batch_size];
    // Output: the least squared cosine of a rotation angle. If it is near or below 0, or NaN, the water moved too far.
    double margin[settle_batch_size];
};

void settle(const SettleWater& water, SettleBatch& batch);

} // namespace parhelion
