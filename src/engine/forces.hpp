// SPDX-License-Identifier: Apache-2.0
// Computes all forces on the atoms of a rank, in the order of the step (engine/step.hpp). A new kind of force is added here.
#pragma once

#include "engine/ask_external.hpp"
#include "engine/rank.hpp"

#include <span>

namespace parhelion {

// Puts forces on home atoms into r.state, forces on halo atoms into r.buffers.halo, and, if `compute` asks for them, energies
// and virial into r.buffers. Requires halo positions, and a pair list and an assignment of terms made for the same atoms.
template <class N>
void compute_forces(Rank<N>& r, Compute compute, const MeshWeights& weights = {})
{
    clear_forces(r.queue, r.buffers, r.state.slots());
    if (weights.first != 0) { r.mesh.start(r.queue, r.state); }                              // M: mesh forces, begun
    compute_nonbonded(r.queue, r.nonbonded, r.pairs, r.state, r.buffers, compute);           // L: pair forces
    compute_bonded(r.queue, r.tables.bonded, r.assigned_terms, r.state, r.buffers, compute); // B: bonded forces
    compute_position_restraints(r.queue, r.tables.restraints, r.state, r.buffers, compute);
    compute_mesh(r.queue, r.mesh, r.state, r.buffers, compute, weights); // M: mesh forces, completed
    sum_forces(r.queue, r.buffers, r.state);                             // R: sum of forces over threads
    add_electric_field(r.queue, r.tables.field, r.step, r.state);
    add_acceleration(r.queue, r.tables.acceleration, r.state);
}

// Turns forces on virtual sites into forces on other atoms. Call it after forces on halo atoms were returned to their owners.
template <class N>
void spread_site_forces(Rank<N>& r, Compute compute)
{
    r.tables.sites.spread_forces(r.queue, r.assigned_sites, r.state,
                                 compute == Compute::Forces ? std::span<EnergySums<N>>() : std::span(r.buffers.energies));
}

} // namespace parhelion
