// SPDX-License-Identifier: Apache-2.0
#include "comm/transport.hpp"

#include "base/error.hpp"

#include <cstring>

namespace parhelion {

void copy_payload(const SymmetricMemory& memory, const Put& put)
{
    if (put.data != nullptr && put.bytes > 0) { std::memcpy(memory.payload(put.destination, put.offset), put.data, put.bytes); }
}

void deliver(const SymmetricMemory& memory, const Put& put)
{
    SignalSlot* const signal = memory.signal(put.destination, put.signal);
    PARHELION_EXPECTS(signal != nullptr);
    copy_payload(memory, put);
    HostAtomics::store_relaxed_system(&signal->bytes, put.bytes);
    HostAtomics::store_release_system(&signal->epoch, put.epoch); // payload and size -> the destination's acquire
}

} // namespace parhelion
