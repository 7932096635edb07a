// SPDX-License-Identifier: Apache-2.0
// Sends spectra from GPUs with planes to GPUs that solve rows, and back: the counterpart of mesh_exchange/spectrum.hpp in
// kernels. Transforms write into the messages and read from them, and their last blocks signal, so no other kernel is needed.
// A message between two ranks holds the planes of one and the rows of the other: [plane][row][kz], in both directions. The
// part that stays on a rank is in an array of this shape. If every rank has all planes and rows, all of it stays.
#pragma once

#include "comm/gpu/block.cuh"
#include "interactions/mesh/gpu/fft/mesh_transforms.hpp"
#include "mesh_exchange/gpu/mesh_memory.hpp"

namespace parhelion {

struct PeerExchange;

template <class N>
class GpuMeshSpectrum
{
public:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    // Makes the spectrum of `rank`. Waits for the GPU. memory must outlive the spectrum.
    GpuMeshSpectrum(GpuQueue& queue, const GpuMeshMemory& memory, int rank);

    // Call these in order in every step. Ranks that share a GPU all queue one of these before any
    // rank queues the next. charges and potentials are those of this rank's planes, [plane][y][z].
    void send(GpuQueue& queue, ChargeSum* charges); // sets charges to zero afterwards
    void solve(GpuQueue& queue, GpuState<N>& state, Compute compute);
    void find_potentials(GpuQueue& queue, Real* potentials);
    // Returns true if each of these kernels is launched early, and the kernel after them may be: LaunchShape::begins_early.
    bool begins_early() const { return begins_early_; }

private:
    using Complex = GpuComplex<Real>;

    PeerExchange exchange(std::size_t kernel, const std::optional<GpuPeerEnds>& receives,
                          const std::optional<GpuPeerEnds>& sends);
    // Calls body with the exchange policy of the kernels.
    template <class Body>
    void with_policy(const PeerExchange& exchange, Body&& body);

    const GpuMeshMemory& memory_;
    int rank_;
    GpuMeshTransforms<N> transforms_;
    bool begins_early_ = false;
    DeviceBuffer<Complex> own_;                 // the part that stays on this rank, [plane][row][kz], in both directions
    DeviceBuffer<PlaneRow<Real>> there_, back_; // [y]: where rows of this rank's planes go, and come back
    DeviceBuffer<const Complex*> from_;         // [x]: address of the rows that this rank solves
    DeviceBuffer<Complex*> to_;
    DeviceBuffer<BlockCounter> done_; // one counter per kernel
};

} // namespace parhelion
