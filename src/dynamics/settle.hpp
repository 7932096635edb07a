// SPDX-License-Identifier: Apache-2.0
// SETTLE for rigid three-site water: the closed-form solution of its three constraints (Miyamoto and Kollman, J. Comput. Chem.
// 13, 952, 1992), eight waters at a time so that the divisions and roots run in vector units.
#pragma once

#include "base/vec3.hpp"

namespace parhelion {

// A water of a molecule type, ready for use: local atoms, masses and the geometry of the rigid triangle in its own frame (origin
// at the centre of mass, oxygen at (0, ra), hydrogens at (-rc, -rb) and (rc, -rb)).
struct SettleWater
{
    int oxygen, hydrogen_a, hydrogen_b; // local atoms
    double oh, hh;                      // nm
    double mass_o, mass_h;              // u
    double ra, rb, rc;                  // nm
    double share_o, share_h;            // of the mass: of the oxygen, of one hydrogen
    double inverse_ra, inverse_2rc;     // 1/nm
};

SettleWater make_settle(int oxygen, int hydrogen_a, int hydrogen_b, double oh, double hh, double mass_o, double mass_h);

inline constexpr int settle_batch_size = 8;

// Waters side by side: [component][water]. Unused places must hold a valid water; copies of another will do.
struct SettleBatch
{
    // In, nm: vectors from oxygen to the hydrogens in the reference positions; displacements of the atoms without constraints.
    double oh_a[3][settle_batch_size], oh_b[3][settle_batch_size];
    double move_o[3][settle_batch_size], move_a[3][settle_batch_size], move_b[3][settle_batch_size];
    // Out, nm: what must be added to the displacements.
    double correct_o[3][settle_batch_size], correct_a[3][settle_batch_size], correct_b[3][settle_batch_size];
    // Out: smallest of the squared cosines that must stay positive; near or below 0 (or NaN): the water moved too far.
    double margin[settle_batch_size];
};

void settle(const SettleWater& water, SettleBatch& batch);

} // namespace parhelion
