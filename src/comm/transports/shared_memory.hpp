// SPDX-License-Identifier: Apache-2.0
// The transport between ranks whose arenas this process has all mapped, so that every place is within reach. `Staged` hides that,
// so that Puts are tested and compared as well; the source's thread then copies and signals.
#pragma once

#include "comm/symmetric_memory.hpp"
#include "comm/transport.hpp"

namespace parhelion {

// How a source gets bytes to its peer.
enum class PeerAccess : std::uint8_t
{
    Pointers, // it stores into the peer's memory
    Staged    // it stores into its own, and the transport carries them
};

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
