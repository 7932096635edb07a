// SPDX-License-Identifier: Apache-2.0
// The ring by which kernels hand messages to a proxy, a host thread that carries them (comm/gpu/proxy.hpp). Written once for GPUs
// and CPU threads, like comm/protocol.hpp: the tests run it among threads, too.
//
// The idea: a kernel that cannot or will not store at the destination leaves a descriptor, which is a Put, in memory of the host.
// It takes a ticket by an add, writes the descriptor that this ticket is for, and releases the ticket's number. The proxy takes
// descriptors in the order of their tickets.
//
// Orders.   ticket: add with acquire and release at device scope, so that tickets order those who take them.
//           number: release at system scope by who has written the descriptor, after what the descriptor tells of
//           -> acquire by the proxy before it reads the descriptor (rule M6).
// Overflow. Cannot happen, and nobody looks for it: a ring has a place for every message that may be under way at once, since who
//           uses it reserves as many (GpuProxy::reserve()). A signal slot has one message under way at the most (protocol.hpp).
//           So of `places` + 1 tickets in a row two are of one signal slot, and the later one was taken after the earlier one's
//           descriptor had been read, and with it all before: what is overwritten has been read. This needs no order but those
//           above, the signal's and the credit's.
// Model:    tests/comm/models/proxy.pml.
#pragma once

#include "comm/protocol.hpp"

namespace parhelion {

// One line of the ring, 64 bytes.
struct alignas(64) Descriptor
{
    Put put;
    Word* read;  // set to the put's epoch when its data has been read; null: nobody asks
    Word number; // of the ticket, counted from 1; 0: none yet
};

// The kernels' end, in the memory of their GPU.
template <class Atomics>
class ProxyRing
{
public:
    ProxyRing() = default;
    // places: how many, a power of two; their numbers are 0.
    PARHELION_HD ProxyRing(Descriptor* descriptors, Word places) : descriptors_(descriptors), places_(places) {}

    // By one thread, which has acquired what others have written of the data.
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

// The proxy's end.
class ProxyRingReader
{
public:
    ProxyRingReader() = default;
    ProxyRingReader(Descriptor* descriptors, Word places) : descriptors_(descriptors), places_(places) {}

    // The next descriptor, if it is there: who asks no more has none left behind.
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

// The transport of the ends of a message that a proxy carries: what the protocol asks of it (comm/protocol.hpp).
template <class Atomics>
struct ProxyTransport
{
    ProxyRing<Atomics>* ring;
    std::size_t first_signal; // slot that read[0] belongs to
    Word* read; // a word for each signal slot, which says up to which epoch its data has been read; null: nobody asks

    PARHELION_HD void put_signal(const Put& put) const
    {
        ring->push(put, read != nullptr ? read + (put.signal - first_signal) : nullptr);
    }
};

} // namespace parhelion
