// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/shared_memory.hpp"

namespace parhelion {

std::byte* SharedMemoryTransport::reach_payload(int, int destination, std::size_t offset)
{
    return access_ == PeerAccess::Pointers ? memory_.payload(destination, offset) : nullptr;
}

SignalSlot* SharedMemoryTransport::reach_signal(int, int destination, std::size_t index)
{
    return access_ == PeerAccess::Pointers ? memory_.signal(destination, index) : nullptr;
}

} // namespace parhelion
