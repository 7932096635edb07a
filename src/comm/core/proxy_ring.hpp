// SPDX-License-Identifier: Apache-2.0
// The ring through which kernels hand messages to a proxy, a host thread that carries them (comm/gpu/proxy.hpp). It is written
// once for GPUs and CPU threads, like comm/core/protocol.hpp; tests also run it between threads.
//
// The idea: a kernel that cannot or should not store at the destination writes a descriptor, which contains a Put, to host
// memory. It takes a ticket with an atomic add, writes the descriptor at the ticket's place, and releases the ticket's number.
// The proxy takes descriptors in the order of their tickets.
//
// Orders.   ticket: an add with acquire and release at device scope, so that tickets order the threads that take them.
//           number: release at system scope by the thread that wrote the descriptor, after the data that it describes
//           -> acquire by the proxy before it reads the descriptor (rule M6).
// Overflow. It cannot happen and is not checked. A ring has a place for every message that may be in flight at once, as
//           users reserve them (GpuProxy::reserve()). A signal slot has at most one message in flight (protocol.hpp). Thus of
//           `places` + 1 consecutive tickets two belong to one signal slot. The later one was taken after the proxy had read
//           the descriptor of the earlier one, and all earlier descriptors. So only a descriptor that was read is overwritten.
//           This needs no other memory orders than those of the ring, the signal and the credit.
// Model:    tests/comm/models/proxy.pml.
#pragma once

#include "comm/core/protocol.hpp"

namespace parhelion {

// A descriptor, one entry of the ring, of 64 bytes.
struct alignas(64) Descriptor
{
    Put put;
    Word* read;  // the proxy sets it to the put's epoch when it has read the data; null: not needed
    Word number; // number of the ticket, from 1; 0: not written yet
};

// The kernels' end of the ring, in the memory of their GPU.
template <class Atomics>
class ProxyRing
{
public:
    ProxyRing() = default;
    // descriptors: the entries, whose numbers must be 0 at first. places: number of entries, a power of two.
    PARHELION_HD ProxyRing(Descriptor* descriptors, Word places) : descriptors_(descriptors), places_(places) {}

    // Adds a descriptor to the ring. One thread calls it, which has acquired the data that other threads have written.
    PARHELION_HD void push(const Put& put, Word* read)
    {
        const Word ticket = Atomics::fetch_add_acq_rel_device(&tickets_, 1);
        Descriptor& place = descriptors_[ticket & (places_ - 1)];
        place.put = put;
        place.read = read;
        Atomics::store_release_system(&place.number, ticket + 1);
    }

private:
    Descriptor* descriptors_ = nullptr;
    Word places_ = 0;
    alignas(128) Word tickets_ = 0;
};

// The proxy's end of the ring, in host memory.
class ProxyRingReader
{
public:
    ProxyRingReader() = default;
    ProxyRingReader(Descriptor* descriptors, Word places) : descriptors_(descriptors), places_(places) {}

    // Takes the next descriptor if it has been written. Returns false if not: then the ring was empty before this call.
    bool take(Descriptor& next)
    {
        Descriptor& place = descriptors_[taken_ & (places_ - 1)];
        if (HostAtomics::load_acquire_system(&place.number) != taken_ + 1) { return false; }
        next.put = place.put;
        next.read = place.read;
        next.number = ++taken_;
        return true;
    }

private:
    Descriptor* descriptors_ = nullptr;
    Word places_ = 0;
    Word taken_ = 0;
};

// The transport for channel ends whose messages a proxy carries. It has the interface that comm/core/protocol.hpp needs.
template <class Atomics>
struct ProxyTransport
{
    ProxyRing<Atomics>* ring;
    std::size_t first_signal; // index of the signal slot to which read[0] belongs
    Word* read;               // per signal slot: epoch up to which the proxy has read the data; null: not needed

    PARHELION_HD void put_signal(const Put& put) const
    {
        ring->push(put, read != nullptr ? read + (put.signal - first_signal) : nullptr);
    }
};

} // namespace parhelion
