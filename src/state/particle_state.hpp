// SPDX-License-Identifier: Apache-2.0
// The dynamic state of one rank's atoms, in cluster order: the order that pair list, forces and integration all use.
//
// A slot holds an atom, or a *filler* that completes a cluster. Fillers have global_of_slot = -1, zero charge,
// inverse mass and velocity, no Lennard-Jones interaction, and the position of a real atom of their cluster. The
// order changes only at a repartition; between two repartitions all data are indexed by slot.
//
// Slots [0, home_slots()) hold the rank's own atoms, the *home* atoms. After them comes the *halo*: whole clusters of other
// ranks, in their owner's order, with their owner's bits. Forces act on all atoms; owners move them. A lone rank has no halo.
#pragma once

#include "base/numerics.hpp"
#include "state/cluster_array.hpp"
#include "state/periodic_box.hpp"
#include "state/territory.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

template <class N>
struct ParticleState
{
    using Real = typename N::Real;

    PeriodicBox<N> box;
    // The following arrays are for home and halo atoms, of length slots().
    ClusterArray<typename N::Fixed> x; // positions
    AlignedVector<Real> charge;        // e
    AlignedVector<std::int32_t>
        lj_type; // index into the LJ table; undefined for fillers, which forces/ recognises by global_of_slot
    std::vector<std::int32_t> global_of_slot; // -1: filler
    Territory territory;                      // which zone each halo cluster belongs to

    // The following arrays are for home atoms, of length home_slots().
    ClusterArray<Real> v;                        // nm/ps, at t - dt/2 (leap-frog)
    ClusterArray<typename N::ForceSum> f;        // physical forces of the last evaluation, kJ/mol/nm (through to_sum/from_sum)
    AlignedVector<Real> inverse_mass;            // 1/u; 0 for fillers and virtual sites
    std::vector<std::uint8_t> temperature_group; // 0 for fillers

    std::vector<std::int32_t> slot_of_global; // length: atoms of the whole system; -1: not on this rank

    std::size_t slots() const { return global_of_slot.size(); }
    std::size_t clusters() const { return slots() / cluster_size; }
    std::size_t home_slots() const { return v.slots(); }
    std::size_t home_clusters() const { return home_slots() / cluster_size; }
    bool is_home(std::int32_t slot) const { return slot >= 0 && static_cast<std::size_t>(slot) < home_slots(); }
};

} // namespace parhelion
