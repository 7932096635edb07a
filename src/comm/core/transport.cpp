// SPDX-License-Identifier: Apache-2.0
#include "comm/core/transport.hpp"

#include "base/error.hpp"
#include "comm/core/copy_to_peer.hpp"

namespace parhelion {

void copy_payload(const SymmetricMemory& memory, const Put& put)
{
    if (put.data != nullptr) { copy_to_peer(memory.payload(put.destination, put.offset), put.data, put.bytes, put.bytes); }
}

void deliver(const SymmetricMemory& memory, const Put& put)
{
    SignalSlot* const signal = memory.signal(put.destination, put.signal);
    PARHELION_EXPECTS(signal != nullptr);
    copy_payload(memory, put);
    HostAtomics::store_relaxed_system(&signal->bytes, put.bytes);
    HostAtomics::store_release_system(&signal->epoch, put.epoch); // releases payload and size to the destination's acquire
}

} // namespace parhelion
