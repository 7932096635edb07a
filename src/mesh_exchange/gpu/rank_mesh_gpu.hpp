// SPDX-License-Identifier: Apache-2.0
// PME's mesh of a rank on a GPU, whether it is alone or shares the mesh with other ranks. Methods and
// division of the mesh are those of mesh_exchange/rank_mesh.hpp. A step has these stages, by method:
//
//   gathered, bricks   1 spread, send charges   2 sum charges, transform planes, send spectra   3 solve, send spectra back
//                      4 transform planes, send potentials   5 gather. If every rank has everything, 3 to 5 wait for no rank
//   shared             1 spread, transform planes, send spectra   2 solve, send spectra back   3 transform planes, gather
//   dedicated          1 send atoms   2 mesh ranks: spread, transform planes, send spectra   3 solve, send spectra back
//                      4 transform planes, gather, send forces   5 particle ranks: add forces
//
// compute() is a program (device/rank_program.hpp) with a pause between these stages. Each stage
// begins with a wait and ends with a send, both inside its kernels. All stages are on one queue. So
// the mesh may be captured in graphs, even if ranks share a GPU. The box is read from device memory.
//
// Cost: a share of GpuMesh's kernels. Sending charges and potentials takes three more kernels and one more wait.
#pragma once

#include "device/rank_program.hpp"
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

    // Adds the forces on home atoms, weights.first times, to state.f. On request it adds this rank's part of
    // energy and virial, once, to state.energies. The programs of all ranks of a run have the same pauses.
    virtual RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) = 0;
    // Adds weights.rest times the forces of compute() for these positions. Not allowed for a mesh that takes halo atoms.
    virtual void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) = 0;

    // --- optional capabilities, which the engine queries

    // Returns true if the mesh uses halo atoms and exerts forces on them. These return to the owners with all other halo forces.
    virtual bool takes_halo_atoms() const { return false; }
    // Call it after atoms have changed owner and order and a new halo exists.
    virtual void after_repartition(GpuQueue&, GpuState<N>&) {}
    // Queues a check, for a mesh that takes halo atoms. It raises a flag if another rank lacks an atom of this rank that it
    // needs. Call it in each step in which compute() is called, on any queue; it may run beside compute().
    virtual void check(GpuQueue&, GpuState<N>&) {}
};

// Makes the meshes of a lone rank: of charges and, with LJ-PME, of dispersion. Waits for the GPU.
template <class N>
std::unique_ptr<GpuRankMesh<N>> make_lone_gpu_mesh(GpuQueue& queue, const MeshSetup& setup);
// Makes the meshes of `rank`, one of several. memory: of each mesh, as make_gpu_mesh_memory() returns it; it must outlive them.
// cells: of all ranks with a cell. Waits for the GPU.
template <class N>
std::unique_ptr<GpuRankMesh<N>> make_gpu_mesh(GpuQueue& queue, std::span<const GpuMeshMemory> memory,
                                              std::span<const GpuCell> cells, int rank);

} // namespace parhelion
