// SPDX-License-Identifier: Apache-2.0
// Travellers are home atoms in messages to ranks on other nodes. Such a rank needs the atoms at a
// repartition, or collects them for output. Kernels cannot write to the exchange buffer of a rank on
// another node (state/gpu/exchange_buffer.hpp). Forces for a frame are sent to rank 0 by the same messages.
//
// The idea: a rank packs a message for each rank on another node: home atoms that the receiver needs, and their zone there.
// The message is always sent, even if empty. The receiver writes the atoms to its own exchange buffer; all later steps are as
// within a node. The order of atoms in a message is arbitrary and has no effect, because each atom has its own place there.
//
// Order and reuse: a message is one epoch of a channel of depth 1 without credits. The next message is packed after
// the barrier that releases the exchange buffers, at which every rank arrives after it has unpacked. This is the
// pattern of two alternating exchanges in docs/design/communication.md, where the barrier is the second exchange.
//
// Cost, in Mixed: 40 bytes for each atom sent, 32 for each force. Each pair of
// ranks on different nodes takes memory for all atoms of the system, twice.
#pragma once

#include "comm/gpu/peer_ends.hpp"
#include "state/gpu/exchange_buffer.hpp"

#include <memory>
#include <span>

namespace parhelion {

// Opens the channels of `ranks`, the first ranks of a world with nodes, for a system of `atoms` atoms.
template <class N>
GpuPeerEnds open_travellers(GpuWorld& world, std::span<const int> ranks, std::size_t atoms);
// Returns the bytes of symmetric memory that open_travellers() takes on every rank.
template <class N>
std::size_t traveller_bytes(int ranks, std::size_t atoms);

// Sends and receives the travellers of one rank.
template <class N>
class GpuTravellers
{
public:
    // cells: of all ranks. collectors: ranks that collect atoms. ends: this rank's channel ends. Waits for the GPU.
    GpuTravellers(GpuQueue& queue, const GpuWorld& world, int rank, std::span<const GpuCell> cells,
                  std::span<const int> collectors, const GpuRankEnds& ends);
    ~GpuTravellers();

    enum class To : std::uint8_t
    {
        WhoNeedsThem,
        Collectors
    };
    // Sends this rank's atoms. Every rank must send before any rank receives. If the state has a flag, messages are empty.
    void send(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table, To to);
    // Writes the received atoms to this rank's exchange buffer, marked if the rank needs them.
    void receive(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer);

    // These two functions send forces on home atoms to rank 0 by the same messages. f: forces by global atom.
    using Force = Vec3<typename N::ForceSum>;
    void send_forces(GpuQueue& queue, const GpuState<N>& state);
    void receive_forces(GpuQueue& queue, Force* f);

private:
    struct Memory; // data of the kernels
    std::unique_ptr<Memory> memory_;
};

} // namespace parhelion
