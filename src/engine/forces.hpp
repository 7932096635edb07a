// SPDX-License-Identifier: Apache-2.0
// All forces on the atoms a rank holds, in the order of the step (engine/step.hpp): the place for a new kind of force.
#pragma once

#include "engine/rank.hpp"

#include <span>

namespace parhelion {

// Forces of home atoms go to r.state, those of halo atoms to r.buffers.halo; with energies and virial to r.buffers, if asked for.
// Requires halo positions, and a pair list and an assignment of terms made for them.
template <class N>
void compute_forces(Rank<N>& r, Compute compute, const MeshWeights& weights = {})
{
    clear_forces(r.queue, r.buffers, r.state.slots());
    if (weights.first != 0) { r.mesh.start(r.queue, r.state); }                       // M
    compute_nonbonded(r.queue, r.nonbonded, r.pairs, r.state, r.buffers, compute);    // L
    compute_bonded(r.queue, r.bonded, r.assigned_terms, r.state, r.buffers, compute); // B
    compute_position_restraints(r.queue, r.restraints, r.state, r.buffers, compute);
    compute_mesh(r.queue, r.mesh, r.state, r.buffers, compute, weights); // M
    sum_forces(r.queue, r.buffers, r.state);                             // R
    add_electric_field(r.queue, r.field, r.step, r.state);
    add_acceleration(r.queue, r.acceleration, r.state);
}

// Then, when forces of halo atoms are back with their owners: those on virtual sites become forces on other atoms.
template <class N>
void spread_site_forces(Rank<N>& r, Compute compute)
{
    r.sites.spread_forces(r.queue, r.assigned_sites, r.state,
                          compute == Compute::Forces ? std::span<EnergySums<N>>() : std::span(r.buffers.energies));
}

} // namespace parhelion
