// SPDX-License-Identifier: Apache-2.0
// Virtual sites on the GPU, except those of rigid waters, which the update moves (update_blocks.hpp). Before the
// update, kernels spread the forces on sites to their constructing atoms. After it, kernels place the sites.
//
// The idea: sites of one *level* do not depend on each other. Level 0 is constructed from atoms alone, a higher level
// also from sites of lower levels. A level is one launch with a thread per site. Levels go upwards for places,
// downwards for forces. Forces are added atomically; with exact sums neither their order nor the number of ranks
// changes a bit. A site and its constructing atoms are in one update group (model/update_groups.hpp), so all are home
// atoms and no message is needed. The closed forms are the CPU's (model/site_body.hpp), in double. Cost: two launches a
// level and step. Memory on every rank: 16 bytes a site of the system, and 8 for it and each of its constructing atoms.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "dynamics/constraints.hpp"
#include "model/topology.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// A virtual site of the system.
struct SiteRecord
{
    std::int32_t first_atom = 0;      // index in the tables of atoms, which have the site and then its constructing atoms
    std::int32_t first_parameter = 0; // index in the table of parameters
    std::int32_t others = 0;          // number of constructing atoms besides the first
    SiteKind kind = SiteKind::Linear;
};

class GpuVirtualSites
{
public:
    // Makes the tables. They are empty if the update kernel moves all sites of the topology (all_sites_are_of_waters()).
    GpuVirtualSites(GpuQueue& queue, const Topology& topology);

    bool is_empty() const { return levels_.empty(); }
    // Finds the slots of sites that are home atoms. Call it after every repartition.
    template <class N>
    void resolve(GpuQueue& queue, const GpuState<N>& state);

    // construct() and spread_forces() act on home sites and require resolve() since the last repartition.
    // construct() places sites, and sets their velocities (nm/ps) from the velocities of their constructing atoms.
    template <class N>
    void construct(GpuQueue& queue, GpuState<N>& state) const;
    // Moves the forces in state.f, which must be complete, from sites to their constructing atoms.
    // On request, adds the resulting change of -1/2 sum r (x) f to the virial of state.energies.
    template <class N>
    void spread_forces(GpuQueue& queue, Virial wanted, GpuState<N>& state) const;

    // The arguments of the kernels.
    struct View;

private:
    struct Level
    {
        std::int32_t first = 0, sites = 0; // range in records_
        bool changes_virial = false;       // true if the level has sites that are not weighted means
    };
    View view(const Level& level) const;

    std::vector<Level> levels_;
    DeviceBuffer<SiteRecord> records_; // sorted by level
    DeviceBuffer<double> parameters_;  // of the sites of all molecule types
    DeviceBuffer<std::int32_t> atoms_; // global atoms of the sites
    DeviceBuffer<std::int32_t> slots_; // slots of the atoms in atoms_; -1: not a home atom
};

} // namespace parhelion
