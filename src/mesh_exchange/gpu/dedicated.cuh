// SPDX-License-Identifier: Apache-2.0
// The method dedicated on GPUs: mesh ranks have no atoms and compute the mesh for particle ranks (mesh_exchange/dedicated.hpp).
//
// The idea: atoms keep their order in messages. A mesh rank has an inbox for each particle rank, with as many slots as that
// rank. In every step the particle rank stores those superclusters of which an atom at present reaches the mesh rank's planes,
// at the same slots as at home. It marks the other superclusters as left out. The mesh rank spreads and gathers in the inbox.
// Neighbours are still together, so nothing is sorted, ranks need not agree at a repartition, and atoms may move any distance.
// Forces return to the same slots, once. With multiple time stepping the particle rank adds them twice, with its weights.
//
// Every particle rank signals every mesh rank and gets an answer, even if it sends no atoms. No slot is reused too early: atoms
// are sent after forces have been added, and forces after all atoms have come (docs/design/communication.md; mesh_dedicated.pml).
//
// Cost: on a particle rank 16 bytes per atom are read and stored across the link in each direction, by three kernels.
// A mesh rank has two kernels besides those of its mesh, and reads a mark for each supercluster that is left out.
#pragma once

#include "comm/gpu/block.cuh"
#include "mesh_exchange/gpu/rank_mesh_gpu.hpp"
#include "mesh_exchange/gpu/spectrum.cuh"

namespace parhelion {

// The part of an inbox that is for the atoms of one particle rank.
template <class N>
struct VisitorSlots
{
    PositionCharge<N>* xq;  // indexed by slot
    std::uint8_t* left_out; // indexed by supercluster
};

// The mesh as a particle rank sees it: the rank sends atoms before the first pause, and takes their forces after the last pause.
template <class N>
class GpuMeshElsewhere final : public GpuRankMesh<N>
{
public:
    // Waits for the GPU. `memory` must outlive this object.
    GpuMeshElsewhere(GpuQueue& queue, const GpuMeshMemory& memory, int rank);

    RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) override;
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) override;

private:
    void send(GpuQueue& queue, GpuState<N>& state);
    void add_forces(GpuQueue& queue, GpuState<N>& state, int weight);

    const MeshCut& cut_;
    const GpuVisits& visits_;
    int rank_;
    DeviceBuffer<mesh::PlaneRange> planes_; // planes of each mesh rank
    DeviceBuffer<VisitorSlots<N>> inboxes_; // for each mesh rank: the part of its inbox for this rank's atoms
    DeviceBuffer<std::uint8_t> left_out_;   // [mesh rank][supercluster]: 1 if the latest step did not send it
    DeviceBuffer<BlockCounter> done_;       // one counter per kernel
};

// The mesh as a mesh rank sees it: it computes the mesh for the atoms of particle ranks, its visitors.
template <class N>
class GpuVisitorsMesh final : public GpuRankMesh<N>
{
public:
    // Waits for the GPU. `memory` must outlive this object.
    GpuVisitorsMesh(GpuQueue& queue, const GpuMeshMemory& memory, int rank);

    // state: the state of this mesh rank, which has the box and the energies, and no atoms.
    RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) override;
    void add_rest(GpuQueue&, const MeshWeights&, GpuState<N>&) override {} // does nothing: particle ranks add these forces

private:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    void send_back(GpuQueue& queue);

    const MeshParameters& parameters_;
    const GpuVisits& visits_;
    int rank_;
    GpuState<N> visitors_;            // the inbox as a state: positions, charges, present superclusters, and forces
    DeviceBuffer<ForceSlot<N>*> for_; // for each particle rank: the destination of its forces
    DeviceBuffer<ChargeSum> charges_; // charges of this rank's planes, [plane][y][z]
    DeviceBuffer<Real> potentials_;   // potentials in the same layout
    DeviceBuffer<ChargeSum*> charge_planes_;
    DeviceBuffer<Real*> potential_planes_;
    GpuMeshSpectrum<N> spectrum_;
    DeviceBuffer<BlockCounter> done_; // one counter per kernel
};

} // namespace parhelion
