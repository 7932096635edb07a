// SPDX-License-Identifier: Apache-2.0
// What the two sides of a partitioned message do to memory, written once for CPU threads and GPUs like comm/protocol.hpp: a
// template over the atomics policy and the transport, without exceptions, containers or allocation.
//
// A partitioned message carries one buffer per epoch, 1, 2, 3, ..., in pieces. The destination has the buffer and a signal slot
// for every group of send partitions that travel together; the source has one credit slot. In epoch e
//
//   source                                              destination
//                                                       start: credit := e                            (release)
//   wait until credit >= e   (acquire, by each thread)
//   copy a partition to its place
//   arrive at the counter of its signal   (acq_rel)
//   the last of the group: signal := e    (release)     wait until signal >= e, for the signals needed (acquire)
//   (alone in its group, and with an address: signal := e, then the count; both release)
//                                                       read; start of e + 1 only after the last read
//
// Reuse.    One credit guards the buffer and all signal slots: the destination gives credit e + 1 after it has seen every signal
//           of e, so that nothing of e is under way, and the source sets no signal of e + 1 before. Hence each slot, the
//           credit's too, has one message under way at the most.
// Counters. Each counts up for ever; epoch number n of a request ends at n times the group's size. Nobody arrives in e + 1
//           before all have arrived in e, as the source starts e + 1 when all signals of e are out. Where the signal does not
//           wait for the count, nor the count for the signal's arrival, e + 1 is still set after e has arrived: behind the
//           credit of e + 1, which the destination gives when it has seen e.
// Model:    tests/comm/models/partitioned.pml.
#pragma once

#include "comm/partitioned/counts.hpp"
#include "comm/protocol.hpp"

namespace parhelion {

// Where the source finds things. Pointers into the destination's memory are null where the transport has to carry.
struct PartitionedSendRoute
{
    int source;
    int destination;
    PartitionCounts counts;
    std::size_t partition_bytes; // of a send partition
    std::size_t offset;          // of the buffer in the destination's payload arena
    std::size_t signal;          // index of the first signal slot there
    std::byte* payload;          // the buffer there, or null
    std::byte* staging;          // a copy of it here, used if payload is null
    SignalSlot* signals;         // slots there, or null
    SignalSlot* credit;          // slot here, set by the destination
    Word first_epoch;
};

// Does the slot show this epoch, or a later one? Then what its writer did before is visible.
template <class Atomics>
PARHELION_HD bool shows(SignalSlot* slot, Word epoch)
{
    return reached(Atomics::load_acquire_system(&slot->epoch), epoch);
}

enum class Arrival : std::uint8_t
{
    Early,  // others of the group are still to come
    Last,   // it has set the signal
    TooMany // a partition has been marked twice
};

template <class Atomics, class Transport>
class PartitionedSender
{
public:
    PartitionedSender() = default;
    // arrivals: a counter for each signal, at 0.
    PARHELION_HD PartitionedSender(const PartitionedSendRoute& route, Transport* transport, ArrivalCounter<Atomics>* arrivals)
        : route_(route), transport_(transport), arrivals_(arrivals)
    {
    }

    PARHELION_HD const PartitionedSendRoute& route() const { return route_; }
    // The nth epoch of this request, from 1, as signals and credits show it.
    PARHELION_HD Word epoch(Word nth) const { return route_.first_epoch + (nth - 1); }

    // May the calling thread write to the destination's buffer?
    PARHELION_HD bool is_prepared(Word nth) const { return shows<Atomics>(route_.credit, epoch(nth)); }
    // Where a partition is to be copied to.
    PARHELION_HD std::byte* place(int partition) const
    {
        std::byte* const buffer = route_.payload != nullptr ? route_.payload : route_.staging;
        return buffer + static_cast<std::size_t>(partition) * route_.partition_bytes;
    }
    // Has the partition's group had all its marks? Then one more breaks the rules.
    PARHELION_HD bool is_complete(int partition, Word nth) const
    {
        const int signal = route_.counts.signal_of(partition);
        return reached(Atomics::load_relaxed_system(arrivals(signal)), goal(signal, nth));
    }
    // `n` partitions of one group are in their places, as the caller has seen. Whoever completes the group sets its signal. A
    // partition that is a group by itself, and not complete, has nobody's copies to acquire: its signal does not wait for the
    // count, unless a transport carries it, which takes the copy's place behind the count.
    PARHELION_HD Arrival arrive(int partition, Word nth, Word n = 1) const
    {
        const int signal = route_.counts.signal_of(partition);
        if (route_.counts.members(signal) == 1 && route_.signals != nullptr)
        {
            Atomics::store_and_count_release(&route_.signals[signal].epoch, epoch(nth), arrivals(signal));
            return Arrival::Last;
        }
        const Word all = goal(signal, nth), arrived = arrivals_[signal].add(n);
        if (arrived == all)
        {
            publish(signal, epoch(nth));
            return Arrival::Last;
        }
        return reached(arrived, all) ? Arrival::TooMany : Arrival::Early;
    }
    // How many arrivals a signal has had at the end of an epoch, and where they are counted.
    PARHELION_HD Word goal(int signal, Word nth) const { return nth * static_cast<Word>(route_.counts.members(signal)); }
    PARHELION_HD Word* arrivals(int signal) const { return arrivals_[signal].word(); }

private:
    PARHELION_HD void publish(int signal, Word epoch) const
    {
        if (route_.signals != nullptr)
        {
            Atomics::store_release_system(&route_.signals[signal].epoch, epoch);
            return;
        }
        const int first = signal * route_.counts.per_signal;
        const std::size_t begin = static_cast<std::size_t>(first) * route_.partition_bytes;
        const std::size_t bytes = static_cast<std::size_t>(route_.counts.members(signal)) * route_.partition_bytes;
        transport_->put_signal({route_.source, route_.destination, route_.offset + begin,
                                route_.payload != nullptr ? nullptr : place(first), bytes,
                                route_.signal + static_cast<std::size_t>(signal), epoch});
    }

    PartitionedSendRoute route_{};
    Transport* transport_ = nullptr;
    ArrivalCounter<Atomics>* arrivals_ = nullptr;
};

struct PartitionedReceiveRoute
{
    int source;
    int destination;
    PartitionCounts counts;
    std::size_t credit;       // index of the credit slot in the source's signal arena
    SignalSlot* signals;      // slots here, set by the source
    SignalSlot* credit_there; // that slot, or null where the transport has to carry
    Word first_epoch;
};

template <class Atomics, class Transport>
class PartitionedReceiver
{
public:
    PartitionedReceiver() = default;
    PARHELION_HD PartitionedReceiver(const PartitionedReceiveRoute& route, Transport* transport)
        : route_(route), transport_(transport)
    {
    }

    PARHELION_HD const PartitionedReceiveRoute& route() const { return route_; }
    PARHELION_HD Word epoch(Word nth) const { return route_.first_epoch + (nth - 1); }

    // Everything of the epochs before has been read: the source may write.
    PARHELION_HD void prepare(Word nth) const
    {
        if (route_.credit_there != nullptr)
        {
            Atomics::store_release_system(&route_.credit_there->epoch, epoch(nth));
            return;
        }
        transport_->put_signal({route_.destination, route_.source, 0, nullptr, 0, route_.credit, epoch(nth)});
    }
    PARHELION_HD bool has_signal(int signal, Word nth) const { return shows<Atomics>(route_.signals + signal, epoch(nth)); }
    // May the calling thread read this receive partition?
    PARHELION_HD bool has_arrived(int partition, Word nth) const
    {
        const SignalRange needed = route_.counts.needed_by(partition);
        for (int s = needed.begin; s < needed.end; ++s)
        {
            if (!has_signal(s, nth)) { return false; }
        }
        return true;
    }
    // How many signals have come, counted from the first, up to the first that has not.
    PARHELION_HD int signals_in_a_row(Word nth, int from = 0) const
    {
        int s = from;
        while (s < route_.counts.signals() && has_signal(s, nth)) { ++s; }
        return s;
    }

private:
    PartitionedReceiveRoute route_{};
    Transport* transport_ = nullptr;
};

} // namespace parhelion
