// SPDX-License-Identifier: Apache-2.0
// Virtual sites in motion: each is put in its place once its constructing atoms are in theirs, and hands the force on it to them
// before they move.
//
// The idea: a site is an atom like any other for pairs, mesh, bonded terms, halos and output; only the update does not move it.
// Sites and the atoms that they are made of are in one update group (model/update_groups.hpp), so that all are home, and sites
// that share atoms are one group here, which one thread works on: sites of sites forward in order for places, backward for
// forces. Which groups of which copies a rank has is a list, its assignment, as of constraints. Results do not depend on threads
// or ranks. Arithmetic in double in every policy. Cost: nothing without sites.
#pragma once

#include "device/cpu_queue.hpp"
#include "model/energy_terms.hpp"
#include "model/topology.hpp"
#include "state/molecules.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace parhelion {

// A group of sites of a copy.
struct SitePlace
{
    std::int32_t first_atom; // of the copy
    std::int32_t group;      // of all molecule types
};
using SiteAssignment = std::vector<SitePlace>;

class VirtualSites
{
public:
    explicit VirtualSites(const Topology& topology);

    // Every site of the system: the assignment of a single rank.
    SiteAssignment assign_all(const Topology& topology) const;
    // The sites of `copies` that are home, for is_home(global atom); of each group only one atom is asked for.
    SiteAssignment assign(const MoleculeList& copies, const std::function<bool(std::int32_t)>& is_home) const;

    // All that follow work on the sites assigned, which must be home with all their constructing atoms.
    // Puts sites in their places, with the velocities (nm/ps) that those of their constructing atoms give them.
    template <class N>
    void construct(CpuQueue& queue, const SiteAssignment& assignment, ParticleState<N>& state) const;

    // Moves the forces in state.f from sites to their constructing atoms. virial: by thread; what this changes in -1/2 sum r (x)
    // f is added; empty: not asked for.
    template <class N>
    void spread_forces(CpuQueue& queue, const SiteAssignment& assignment, ParticleState<N>& state,
                       std::span<EnergySums<N>> virial = {}) const;

private:
    struct Group
    {
        std::int32_t type = 0;          // of molecules
        std::vector<VirtualSite> sites; // in order of construction
    };
    std::vector<Group> groups_;
};

} // namespace parhelion
