// SPDX-License-Identifier: Apache-2.0
// Checks on a GPU whether owners of planes can sum charges from their home and halo atoms alone (mesh_exchange/slab_limits.hpp).
//
// Each rank checks for its home atoms which planes an atom reaches, and whether the owners of these planes took the atom into
// their halos at the repartition. The function that decided this (state/gpu/zones.cuh) computes it again here, with the same
// result. If an owner lacks an atom, a flag is raised and the steps are discarded. Cost: at a repartition some ten operations per
// home atom and rank behind; in every step a load of the x of every home atom.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <span>

namespace parhelion {

// Says which atoms a mesh spreads: charged atoms or, with LJ-PME, all atoms.
enum class MeshAtoms
{
    Charged,
    All
};

template <class N>
class GpuSlabLimits
{
public:
    // cells: the cells of all ranks, which are slabs along x. Waits for the GPU.
    GpuSlabLimits(GpuQueue& queue, const MeshCut& cut, std::span<const GpuCell> cells, int rank);

    // Notes which owners have which atoms. Call it when every rank has its new halo.
    void follow(GpuQueue& queue, GpuState<N>& state);
    // Raises gpu_flag_mesh_strayed unless every home atom of this kind is on all ranks whose planes it reaches.
    void check(GpuQueue& queue, GpuState<N>& state, MeshAtoms which);

private:
    MeshCut cut_;
    int rank_;
    DeviceBuffer<GpuCell> cells_;             // indexed by rank
    DeviceBuffer<mesh::PlaneRange> planes_;   // indexed by rank
    DeviceBuffer<std::int32_t> reaches_back_; // [slot]: number of planes, from this rank's last backwards, whose owners have it
};

} // namespace parhelion
