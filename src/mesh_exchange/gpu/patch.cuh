// SPDX-License-Identifier: Apache-2.0
// Charges from the GPUs that have atoms to those that have planes of the grid, and potentials back: mesh_exchange/patch.hpp
// between kernels.
//
// The idea: a rank's patch is memory for the whole grid, of which its home atoms touch some rows. Rows that are touched are
// marked as charges are spread, and they alone travel: no extent is worked out, and it does not matter where atoms are. An owner
// adds what it gets to its own part of the patch, rank by rank, and sends potentials of the rows that were marked in the message.
// Forces are gathered where the potentials came in. Messages are as long as their slots, so that nobody has to be told a size.
//
// Why not by sums in the owner's memory: those of floating-point numbers would have other bits in every run, and GPUs that are
// not joined by NVLink have none that other GPUs' kernels may add to at the same time.
//
// Cost: a touched row is read and stored once on its way, and read once more; marks of all rows, a byte each, are read.
#pragma once

#include "comm/gpu/block.cuh"
#include "interactions/mesh/gpu/mesh_atoms_gpu.hpp"
#include "mesh_exchange/gpu/mesh_memory.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

template <class N>
struct PatchArgs; // of kernels

template <class N>
class GpuMeshPatch
{
public:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    // Of `rank`. potentials: of its planes, [plane][y][z]. Waits. memory must outlive it.
    GpuMeshPatch(GpuQueue& queue, const GpuMeshMemory& memory, int rank, const Real* potentials);

    // One after another in every step; ranks that share a GPU all send before any takes in or gathers.
    void spread_and_send(GpuQueue& queue, GpuState<N>& state);
    void take_in(GpuQueue& queue);
    void send_potentials(GpuQueue& queue);
    void await_potentials(GpuQueue& queue);
    void gather(GpuQueue& queue, GpuState<N>& state, int weight); // again, if wished

    // Of this rank's planes, [plane][y][z]: whole after take_in(); who has used them leaves them cleared.
    ChargeSum* charges() { return patch_.data() + own_; }

private:
    PatchArgs<N> args();
    std::size_t most_rows() const;

    const GpuMeshMemory& memory_;
    int rank_;
    const Real* potentials_;
    std::size_t plane_ = 0, own_ = 0;      // points of a plane; where this rank's planes begin in the patch
    DeviceBuffer<mesh::PlaneRange> owned_; // planes by rank
    DeviceBuffer<ChargeSum> patch_;        // [x][y][z]
    DeviceBuffer<std::uint8_t> touched_;   // [x][y]
    DeviceBuffer<ChargeSum*> charge_planes_;
    DeviceBuffer<const Real*> potential_planes_; // here, or where they come in
    DeviceBuffer<BlockCounter> done_;            // of each kernel
};

} // namespace parhelion
