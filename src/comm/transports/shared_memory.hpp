// SPDX-License-Identifier: Apache-2.0
// The transport between ranks whose arenas are all mapped in this process, so that all memory is within reach.
// PeerAccess::Staged gives sources no pointers, to test and compare Puts: the source's thread copies the payload and sets the
// signal.
#pragma once

#include "comm/core/symmetric_memory.hpp"
#include "comm/core/transport.hpp"

namespace parhelion {

class SharedMemoryTransport : public Transport
{
public:
    SharedMemoryTransport(const SymmetricMemory& memory, PeerAccess access) : memory_(memory), access_(access) {}

    std::byte* reach_payload(int source, int destination, std::size_t offset) override;
    SignalSlot* reach_signal(int source, int destination, std::size_t index) override;
    void put_signal(const Put& put) override { deliver(memory_, put); }

private:
    const SymmetricMemory& memory_;
    PeerAccess access_;
};

} // namespace parhelion
