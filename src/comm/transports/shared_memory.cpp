// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/shared_memory.hpp"

#include <cstring>

namespace parhelion {

std::byte* SharedMemoryTransport::reach_payload(int, int destination, std::size_t offset)
{
    return access_ == PeerAccess::Pointers ? memory_.payload(destination, offset) : nullptr;
}

SignalSlot* SharedMemoryTransport::reach_signal(int, int destination, std::size_t index)
{
    return access_ == PeerAccess::Pointers ? memory_.signal(destination, index) : nullptr;
}

void SharedMemoryTransport::put_signal(const Put& put)
{
    if (put.data != nullptr && put.bytes > 0) { std::memcpy(memory_.payload(put.destination, put.offset), put.data, put.bytes); }
    SignalSlot* const signal = memory_.signal(put.destination, put.signal);
    HostAtomics::store_relaxed_system(&signal->bytes, put.bytes);
    HostAtomics::store_release_system(&signal->epoch, put.epoch); // payload and size -> the destination's acquire
}

} // namespace parhelion
