// SPDX-License-Identifier: Apache-2.0
// Travellers: home atoms in messages to ranks on other nodes, which need them at a repartition or collect them for output.
// Kernels do not reach the exchange buffers of these ranks (state/gpu/exchange_buffer.hpp). Forces for a frame go to rank 0 the
// same way.
//
// The idea: every rank packs a message for each rank on another node, of those of its home atoms that this rank needs, with their
// zone there. It goes out each time, be it empty. Its destination writes the atoms to its own exchange buffer, so that all that
// follows is as within a node. Atoms are in a message in any order, which leaves no trace: each has one place there.
//
// Order and reuse: a message is one epoch of a channel of depth 1 without credits. The next is packed after the barrier that
// releases the exchange buffers, where every rank arrives after it has unpacked: in docs/design/communication.md the pattern of
// two exchanges in turn, of which the barrier is the second.
//
// Cost: 40 bytes in Mixed for each atom that is sent, 32 for a force; room for all atoms of the system, twice for each such two
// ranks.
#pragma once

#include "comm/gpu/peer_ends.hpp"
#include "state/gpu/exchange_buffer.hpp"

#include <memory>
#include <span>

namespace parhelion {

// The channels of all ranks, the first of a world that has nodes, of a system of so many atoms.
template <class N>
GpuPeerEnds open_travellers(GpuWorld& world, std::span<const int> ranks, std::size_t atoms);
// Bytes of symmetric memory that it takes on every rank.
template <class N>
std::size_t traveller_bytes(int ranks, std::size_t atoms);

// Of one rank.
template <class N>
class GpuTravellers
{
public:
    // cells: of all ranks; collectors: the ranks where atoms are collected; ends: of this one. Waits.
    GpuTravellers(GpuQueue& queue, const GpuWorld& world, int rank, std::span<const GpuCell> cells,
                  std::span<const int> collectors, const GpuRankEnds& ends);
    ~GpuTravellers();

    enum class To : std::uint8_t
    {
        WhoNeedsThem,
        Collectors
    };
    // Every rank sends before any receives. Of a state with a flag nothing is told: messages are empty.
    void send(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table, To to);
    // Afterwards the atoms are on this rank's exchange buffer, marked if it needs them.
    void receive(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer);

    // Forces on home atoms, to rank 0. Likewise; f: by global atom.
    using Force = Vec3<typename N::ForceSum>;
    void send_forces(GpuQueue& queue, const GpuState<N>& state);
    void receive_forces(GpuQueue& queue, Force* f);

private:
    struct Memory; // what kernels work on
    std::unique_ptr<Memory> memory_;
};

} // namespace parhelion
