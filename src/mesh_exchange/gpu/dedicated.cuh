// SPDX-License-Identifier: Apache-2.0
// dedicated: some ranks have no atoms and do the mesh for the others: mesh_exchange/dedicated.hpp between kernels.
//
// The idea: atoms keep their order on the way. A mesh rank has an inbox of as many slots for each particle rank as that has. In
// every step the particle rank stores those superclusters of which an atom reaches the mesh rank's planes now, in the places they
// have at home, and marks the others as left out. The mesh rank spreads and gathers where they lie: neighbours have stayed
// together, so nothing is sorted, nothing is agreed on at a repartition, and no atom can stray too far. Forces go back to the
// same places. They come once: with multiple time stepping the particle rank adds them twice, with its weights.
//
// Every rank with atoms signals every mesh rank and gets an answer, whatever is sent. No slot is used too early: atoms are sent
// when forces have been added, and forces when all atoms have come. docs/design/communication.md; model mesh_dedicated.pml.
//
// Cost: of a particle rank 16 bytes read and stored across the link for each atom, as many on the way back, and three kernels; of
// a mesh rank two kernels besides those of its mesh, and a look at a mark for each supercluster that does not come.
#pragma once

#include "comm/gpu/block.cuh"
#include "mesh_exchange/gpu/rank_mesh_gpu.hpp"
#include "mesh_exchange/gpu/spectrum.cuh"

namespace parhelion {

// Stages of both, which answer each other.
inline constexpr int dedicated_stages = 5;

// What of an inbox is for the atoms of one particle rank.
template <class N>
struct VisitorSlots
{
    PositionCharge<N>* xq;  // by slot
    std::uint8_t* left_out; // by supercluster
};

// Of a rank that has atoms: sends them in the first stage, takes their forces in the last.
template <class N>
class GpuMeshElsewhere final : public GpuRankMesh<N>
{
public:
    // Waits. memory must outlive it.
    GpuMeshElsewhere(GpuQueue& queue, const GpuMeshMemory& memory, int rank);

    int stages() const override { return dedicated_stages; }
    void compute(GpuQueue& queue, int stage, GpuState<N>& state, Compute compute, const MeshWeights& weights) override;
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) override;

private:
    void send(GpuQueue& queue, GpuState<N>& state);
    void add_forces(GpuQueue& queue, GpuState<N>& state, int weight);

    const MeshCut& cut_;
    const GpuVisits& visits_;
    int rank_;
    DeviceBuffer<mesh::PlaneRange> planes_; // of each mesh rank
    DeviceBuffer<VisitorSlots<N>> inboxes_; // likewise: what is for this rank's atoms
    DeviceBuffer<std::uint8_t> left_out_;   // [mesh rank][supercluster]: has the latest step sent it nothing of these?
    DeviceBuffer<BlockCounter> done_;       // of each kernel
};

// Of a rank that has none.
template <class N>
class GpuVisitorsMesh final : public GpuRankMesh<N>
{
public:
    // As above.
    GpuVisitorsMesh(GpuQueue& queue, const GpuMeshMemory& memory, int rank);

    int stages() const override { return dedicated_stages; }
    // state: of this rank, which has the box and the energies.
    void compute(GpuQueue& queue, int stage, GpuState<N>& state, Compute compute, const MeshWeights& weights) override;
    void add_rest(GpuQueue&, const MeshWeights&, GpuState<N>&) override {} // those who have the atoms do

private:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    void send_back(GpuQueue& queue);

    const MeshParameters& parameters_;
    const GpuVisits& visits_;
    int rank_;
    GpuState<N> visitors_;            // in the inbox: positions, charges; which superclusters are here. And their forces
    DeviceBuffer<ForceSlot<N>*> for_; // by particle rank: where its forces go
    DeviceBuffer<ChargeSum> charges_; // of this rank's planes, [plane][y][z]
    DeviceBuffer<Real> potentials_;   // likewise
    DeviceBuffer<ChargeSum*> charge_planes_;
    DeviceBuffer<Real*> potential_planes_;
    GpuMeshSpectrum<N> spectrum_;
    DeviceBuffer<BlockCounter> done_; // of each kernel
};

} // namespace parhelion
