// SPDX-License-Identifier: Apache-2.0
// Sends charges from GPUs with atoms to the owners of grid planes, and
// potentials back. It is the counterpart of mesh_exchange/patch.hpp in kernels.
//
// The idea: a rank's patch is memory for the whole grid, of which its home atoms touch some rows. Touched rows are marked
// while charges are spread, and only they are sent. So no extent is computed, and atoms may be anywhere. An owner of planes
// adds received rows to its own part of its patch, rank by rank. It returns potentials of the rows that are marked in the
// message. Forces are gathered from the message of potentials. A message is as long as its slot, so no size is sent.
//
// Why charges are not summed in the owner's memory directly: floating-point sums would have other bits in every run,
// and without NVLink kernels of several GPUs cannot add to the same memory at the same time.
//
// Cost: a touched row is read and stored once when sent, and read once more; the marks of all rows, a byte each, are read.
#pragma once

#include "comm/gpu/block.cuh"
#include "interactions/mesh/gpu/mesh_atoms_gpu.hpp"
#include "interactions/mesh/gpu/mesh_charges_gpu.hpp"
#include "mesh_exchange/gpu/mesh_memory.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

template <class N>
struct PatchArgs; // kernel arguments

template <class N>
class GpuMeshPatch
{
public:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    // Makes the patch of `rank`. potentials: of its planes, [plane][y][z]. Waits for the GPU. memory must outlive the patch.
    GpuMeshPatch(GpuQueue& queue, const GpuMeshMemory& memory, int rank, const Real* potentials);

    // Makes room for so many slots, if spread_and_send() must not allocate memory.
    void make_room(std::size_t slots) { charges_of_.make_room(slots); }
    // Call these three in order in every step. Ranks that share a GPU all queue a send before any queues the matching receive.
    void spread_and_send(GpuQueue& queue, GpuState<N>& state);
    void take_in(GpuQueue& queue);
    void send_potentials(GpuQueue& queue);
    void await_potentials(GpuQueue& queue);
    void gather(GpuQueue& queue, GpuState<N>& state, int weight); // may be called again in the same step

    // The charges of this rank's planes, [plane][y][z], complete after take_in(). The code that uses them must set them to zero.
    ChargeSum* charges() { return patch_.data() + own_; }

private:
    PatchArgs<N> args();
    std::size_t most_rows() const;

    const GpuMeshMemory& memory_;
    int rank_;
    const Real* potentials_;
    std::size_t plane_ = 0, own_ = 0; // points of a plane; index of this rank's planes in the patch
    GpuMeshCharges<N> charges_of_;
    DeviceBuffer<mesh::PlaneRange> owned_; // indexed by rank
    DeviceBuffer<ChargeSum> patch_;        // [x][y][z]
    DeviceBuffer<std::uint8_t> touched_;   // [x][y]
    DeviceBuffer<ChargeSum*> charge_planes_;
    DeviceBuffer<const Real*> potential_planes_; // for each plane: own potentials, or those in a received message
    DeviceBuffer<BlockCounter> done_;            // one counter per kernel
};

} // namespace parhelion
