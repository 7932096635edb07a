// SPDX-License-Identifier: Apache-2.0
// PME's mesh of a rank on a GPU, which is alone or shares it with others: mesh_exchange/rank_mesh.hpp on GPUs, by the same
// methods and with the same cut.
//
//   gathered, bricks   1 spread, send charges   2 take them in, transform planes, send spectra   3 solve, send them back
//                      4 transform planes, send potentials   5 gather. Where every rank has everything, 3 to 5 wait for nobody
//   shared             1 spread, transform planes, send spectra   2 solve, send them back   3 transform planes, gather
//   dedicated          1 send atoms   2 ranks without atoms: spread, transform planes, send spectra   3 solve, send them back
//                      4 transform planes, gather, send forces   5 add them
//
// What a rank does between two exchanges is a stage: it begins with a wait and ends with a send, inside its kernels. Every rank
// does a stage before any does the next, all on one queue; so the mesh may be captured in graphs, also of ranks that share a GPU.
// The box is read from device memory.
//
// Cost: of GpuMesh's kernels a share; of charges and potentials three kernels and a wait more.
#pragma once

#include "interactions/force_buffers.hpp"
#include "interactions/mesh/mesh_weights.hpp"
#include "mesh_exchange/gpu/mesh_memory.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <memory>

namespace parhelion {

template <class N>
class GpuRankMesh
{
public:
    virtual ~GpuRankMesh() = default;

    virtual int stages() const = 0;
    // Adds the forces of home atoms, weights.first times, to state.f and on request this rank's part of energy and virial, once,
    // to state.energies.
    virtual void compute(GpuQueue& queue, int stage, GpuState<N>& state, Compute compute, const MeshWeights& weights) = 0;
    // Adds the forces that compute() has found for these positions, weights.rest times. Not of a mesh that takes halo atoms.
    virtual void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) = 0;

    // --- capabilities, by which the engine decides

    // Does it take the positions of halo atoms and exert forces on them, which go to their owners with all others?
    virtual bool takes_halo_atoms() const { return false; }
    // When atoms have changed owner and order and there is a new halo.
    virtual void after_repartition(GpuQueue&, GpuState<N>&) {}
};

// Of a rank that is alone. Waits.
template <class N>
std::unique_ptr<GpuRankMesh<N>> make_lone_gpu_mesh(GpuQueue& queue, const MeshParameters& parameters);
// Of `rank` of several; cells: of all that have one. memory must outlive it. Waits.
template <class N>
std::unique_ptr<GpuRankMesh<N>> make_gpu_mesh(GpuQueue& queue, const GpuMeshMemory& memory, std::span<const GpuCell> cells,
                                              int rank);

} // namespace parhelion
