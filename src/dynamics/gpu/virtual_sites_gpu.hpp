// SPDX-License-Identifier: Apache-2.0
// Virtual sites on the GPU, other than those of rigid waters, which the update moves (update_blocks.hpp): kernels of their own
// put them in their places once the update has moved their atoms, and hand the forces on them to these before it.
//
// The idea: sites of one *level* need each other for nothing. Level 0 is made of atoms alone, each other level of those below. A
// level is one launch, a thread each site: upwards for places, downwards for forces. Sites that share an atom add to its force
// atomically, so that where sums are exact the order does not matter, and bits are those of any number of ranks. A site and its
// constructing atoms are of one update group (model/update_groups.hpp): all are home on one rank, and no message is needed.
// The closed forms are the CPU's (model/site_body.hpp), in double in every policy. Cost: two launches a level and step; 16 bytes
// a site and 8 for it and each of its constructing atoms, of the whole system on every rank. Nothing where there are none.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "dynamics/constraints.hpp"
#include "model/topology.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// A site of the system.
struct SiteRecord
{
    std::int32_t first_atom = 0;      // of the tables of atoms: the site, then its constructing atoms
    std::int32_t first_parameter = 0; // of the tables of parameters
    std::int32_t others = 0;          // constructing atoms but the first
    SiteKind kind = SiteKind::Linear;
};

class GpuVirtualSites
{
public:
    // Empty if the update kernel moves all sites of the topology (all_sites_are_of_waters()).
    GpuVirtualSites(GpuQueue& queue, const Topology& topology);

    bool is_empty() const { return levels_.empty(); }
    // Looks up what is at home. Call after every repartition.
    template <class N>
    void resolve(GpuQueue& queue, const GpuState<N>& state);

    // Both work on home sites and require resolve() since the last repartition.
    // Puts sites in their places, with the velocities (nm/ps) that those of their constructing atoms give them.
    template <class N>
    void construct(GpuQueue& queue, GpuState<N>& state) const;
    // Moves the forces in state.f, which must be complete, from sites to their constructing atoms. What this changes in -1/2 sum
    // r (x) f is added to the virial of state.energies, if that is wanted.
    template <class N>
    void spread_forces(GpuQueue& queue, Virial wanted, GpuState<N>& state) const;

    // What the kernels read.
    struct View;

private:
    struct Level
    {
        std::int32_t first = 0, sites = 0; // in records_
        bool changes_virial = false;       // has sites that are no weighted means
    };
    View view(const Level& level) const;

    std::vector<Level> levels_;
    DeviceBuffer<SiteRecord> records_; // level by level
    DeviceBuffer<double> parameters_;  // of sites of molecule types
    DeviceBuffer<std::int32_t> atoms_; // global
    DeviceBuffer<std::int32_t> slots_; // of them; -1: not at home
};

} // namespace parhelion
