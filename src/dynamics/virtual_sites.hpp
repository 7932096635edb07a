// SPDX-License-Identifier: Apache-2.0
// Virtual sites during a run. A site is placed after its constructing
// atoms have moved. Before they move, its force is spread to them.
//
// The idea: a site is an ordinary atom for pairs, mesh, bonded terms, halos and output; only the update does not move it. A site
// and its constructing atoms are in one update group (model/update_groups.hpp), so all are home atoms. Sites that share atoms
// form a group here. One thread works on a group, since a site may be constructed from sites: in order for places, in reverse
// order for forces. A rank's assignment lists its groups of each copy. Results do not depend on threads or ranks. Arithmetic is
// in double. Cost: nothing without sites.
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

// A group of virtual sites in one copy of its molecule type.
struct SitePlace
{
    std::int32_t first_atom; // first atom of the copy
    std::int32_t group;      // index among the groups of all molecule types
};
using SiteAssignment = std::vector<SitePlace>;

class VirtualSites
{
public:
    explicit VirtualSites(const Topology& topology);

    // Returns the assignment of a single rank: every site of the system.
    SiteAssignment assign_all(const Topology& topology) const;
    // Returns the sites of `copies` that are home atoms. It calls is_home(global atom) for one atom of each group only.
    SiteAssignment assign(const MoleculeList& copies, const std::function<bool(std::int32_t)>& is_home) const;

    // construct() and spread_forces() work on the assigned sites, which must be home with all their constructing atoms.
    // construct() places sites, and sets their velocities (nm/ps) from the velocities of their constructing atoms.
    template <class N>
    void construct(CpuQueue& queue, const SiteAssignment& assignment, ParticleState<N>& state) const;

    // Moves the forces in state.f from sites to their constructing atoms. If `virial`
    // is not empty, adds the resulting change of -1/2 sum r (x) f to it, by thread.
    template <class N>
    void spread_forces(CpuQueue& queue, const SiteAssignment& assignment, ParticleState<N>& state,
                       std::span<EnergySums<N>> virial = {}) const;

private:
    struct Group
    {
        std::int32_t type = 0;          // molecule type
        std::vector<VirtualSite> sites; // sorted in order of construction
    };
    std::vector<Group> groups_;
};

} // namespace parhelion
