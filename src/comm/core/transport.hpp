// SPDX-License-Identifier: Apache-2.0
// A transport carries bytes and signals from rank to rank. It either lets the source store payload and signals into the
// destination's memory, or carries a Put. Messages in flight that nothing else moves are moved inside calls of the ranks. All
// transports must pass tests/comm/conformance_test.cpp.
#pragma once

#include "comm/core/protocol.hpp"
#include "comm/core/symmetric_memory.hpp"

namespace parhelion {

// The way in which a source sends bytes to its peer.
enum class PeerAccess : std::uint8_t
{
    Pointers, // the source stores into the peer's memory
    Staged    // the source stores into its own memory, and the transport copies
};

class Transport : public MessageMover
{
public:
    // Returns the address at which `source` stores into the destination's payload arena, or null if it cannot address it.
    virtual std::byte* reach_payload(int source, int destination, std::size_t offset) = 0;
    // Returns the address of a signal slot of the destination, or null, in the same way.
    virtual SignalSlot* reach_signal(int source, int destination, std::size_t index) = 0;
    // Copies the payload, then sets the signal with release at system scope: bytes first, epoch last. Puts may overtake each
    // other, but no signal overtakes its own payload. The call may return before the put has happened; a put that cannot be
    // sent now is queued. Several threads of a rank may call it.
    virtual void put_signal(const Put& put) = 0;
};

// Carries out a put in memory that this process can address: copies the payload, then sets the signal with release.
void deliver(const SymmetricMemory& memory, const Put& put);
// Copies only the payload of a put, as the first half of deliver().
void copy_payload(const SymmetricMemory& memory, const Put& put);

} // namespace parhelion
