// SPDX-License-Identifier: Apache-2.0
// Spectra from the GPUs that have planes to those that solve rows, and back: mesh_exchange/spectrum.hpp between kernels. The
// transforms store into the messages and read from them, and their last blocks signal; there is no kernel besides. A message from
// one rank to another is the sender's planes of the receiver's rows, [plane][row][kz], and back it is the same. What stays on a
// rank lies in an array of this shape. Where every rank has everything, all of it does.
#pragma once

#include "comm/gpu/block.cuh"
#include "interactions/mesh/gpu/mesh_transforms.hpp"
#include "mesh_exchange/gpu/mesh_memory.hpp"

namespace parhelion {

struct PeerExchange;

template <class N>
class GpuMeshSpectrum
{
public:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    // Of `rank`. Waits. memory must outlive it.
    GpuMeshSpectrum(GpuQueue& queue, const GpuMeshMemory& memory, int rank);

    // One after another in every step; ranks that share a GPU all do the one before any does the next. charges, potentials: of
    // this rank's planes, [plane][y][z].
    void send(GpuQueue& queue, ChargeSum* charges); // which are cleared
    void solve(GpuQueue& queue, GpuState<N>& state, Compute compute);
    void find_potentials(GpuQueue& queue, Real* potentials);

private:
    using Complex = GpuComplex<Real>;

    PeerExchange exchange(std::size_t kernel, const std::optional<GpuPeerEnds>& receives,
                          const std::optional<GpuPeerEnds>& sends);

    const GpuMeshMemory& memory_;
    int rank_;
    GpuMeshTransforms<N> transforms_;
    DeviceBuffer<Complex> own_;                 // [plane][row][kz], there and back
    DeviceBuffer<PlaneRow<Real>> there_, back_; // [y]: where rows of this rank's planes go, and where they come back
    DeviceBuffer<const Complex*> from_;         // [x]: the rows that this rank solves
    DeviceBuffer<Complex*> to_;
    DeviceBuffer<BlockCounter> done_; // of each kernel
};

} // namespace parhelion
