// SPDX-License-Identifier: Apache-2.0
// May the owners of planes add up charges from the home and halo atoms that they have? mesh_exchange/slab_limits.hpp on a GPU.
//
// What an atom's rank says for it: which planes does it reach, and did their owners get it into their halos at the repartition?
// The second is asked of the function that decided it (state/gpu/zones.cuh), so that no margin has to be trusted. If an owner
// lacks an atom, a flag is up and the steps count for nothing. Cost: some ten operations per home atom and rank behind at a
// repartition, and in every step a look at the x of every home atom.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <span>

namespace parhelion {

template <class N>
class GpuSlabLimits
{
public:
    // cells: of all ranks, slabs along x. Waits.
    GpuSlabLimits(GpuQueue& queue, const MeshCut& cut, std::span<const GpuCell> cells, int rank);

    // When every rank has its new halo.
    void follow(GpuQueue& queue, GpuState<N>& state);
    // Raises gpu_flag_mesh_strayed unless every charged home atom is on the ranks whose planes it reaches.
    void check(GpuQueue& queue, GpuState<N>& state);

private:
    MeshCut cut_;
    int rank_;
    DeviceBuffer<GpuCell> cells_;             // by rank
    DeviceBuffer<mesh::PlaneRange> planes_;   // likewise
    DeviceBuffer<std::int32_t> reaches_back_; // by slot: planes, back from the end of this rank's, whose owners have the atom
};

} // namespace parhelion
