// SPDX-License-Identifier: Apache-2.0
// A transport carries bytes and signals from rank to rank. It either lets the source store into the destination's memory, for
// payload and signals separately, or carries a Put. Where nobody else moves what is under way, the calls of the ranks do.
// tests/comm/conformance_test.cpp holds for every transport.
#pragma once

#include "comm/protocol.hpp"
#include "comm/symmetric_memory.hpp"

namespace parhelion {

class Transport : public MessageMover
{
public:
    // Where `source` reaches a place of the destination's payload arena, or null if it cannot.
    virtual std::byte* reach_payload(int source, int destination, std::size_t offset) = 0;
    // Likewise for a signal slot.
    virtual SignalSlot* reach_signal(int source, int destination, std::size_t index) = 0;
    // Carries the payload, then sets the signal with release at system scope: bytes first, epoch last. Puts may overtake each
    // other, but a signal never its own payload. May return before any of it has happened: what cannot go now is queued. Callable
    // by several threads of a rank.
    virtual void put_signal(const Put& put) = 0;
};

// Ends the way of a put in memory that this process reaches: copies the payload, then sets the signal with release.
void deliver(const SymmetricMemory& memory, const Put& put);
// Its first half.
void copy_payload(const SymmetricMemory& memory, const Put& put);

} // namespace parhelion
