// SPDX-License-Identifier: Apache-2.0
// The transport between ranks that are threads of one process: all memory is within reach. `Staged` hides that, so that Puts are
// tested and compared as well; the source's thread then copies and signals.
#pragma once

#include "comm/world.hpp"

namespace parhelion {

class ThreadsTransport : public Transport
{
public:
    ThreadsTransport(const SymmetricMemory& memory, PeerAccess access) : memory_(memory), access_(access) {}

    std::byte* reach_payload(int source, int destination, std::size_t offset) override;
    SignalSlot* reach_signal(int source, int destination, std::size_t index) override;
    void put_signal(const Put& put) override;

private:
    const SymmetricMemory& memory_;
    PeerAccess access_;
};

} // namespace parhelion
