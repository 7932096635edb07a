// SPDX-License-Identifier: Apache-2.0
// The memory operations of the two sides of a partitioned message. They are written once for CPU threads and GPUs, like
// comm/core/protocol.hpp: a template over the atomics policy and the transport, without exceptions, containers or allocation.
//
// A partitioned message carries one buffer per epoch, 1, 2, 3, ..., in pieces. The destination has the buffer, and a signal slot
// for every group of send partitions that travel together. The source has one credit slot. In epoch e
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
// Reuse.    One credit guards the buffer and all signal slots. The destination gives credit e + 1 after it has seen every signal
//           of e, so that nothing of e is in flight, and the source sets no signal of e + 1 before that. Hence each slot,
//           including the credit's, has at most one message in flight.
// Counters. Each counter grows for ever: epoch number n of a request ends at n times the group's size. No partition arrives in
//           e + 1 before all have arrived in e, as the source starts e + 1 when all signals of e are out. A group of one sets its
//           signal before it counts, so neither waits for the other. Signal e + 1 still follows signal e: it needs credit e + 1,
//           which the destination gives when it has seen e.
// Model:    tests/comm/models/partitioned.pml.
#pragma once

#include "comm/core/protocol.hpp"
#include "comm/partitioned/counts.hpp"

namespace parhelion {

// The addresses that the source uses. Pointers into the destination's memory are null if the transport has to carry the data.
struct PartitionedSendRoute
{
    int source;
    int destination;
    PartitionCounts counts;
    std::size_t partition_bytes; // bytes of a send partition
    std::size_t offset;          // offset of the buffer in the destination's payload arena
    std::size_t signal;          // index of the first signal slot at the destination
    std::byte* payload;          // the buffer at the destination; null if out of reach
    std::byte* staging;          // a copy of the buffer at the source, used if payload is null
    SignalSlot* signals;         // signal slots at the destination; null if out of reach
    SignalSlot* credit;          // credit slot at the source, set by the destination
    Word first_epoch;
};

// Returns whether the slot shows this epoch or a later one. If so, all that its writer did before is visible.
template <class Atomics>
PARHELION_HD bool shows(SignalSlot* slot, Word epoch)
{
    return reached(Atomics::load_acquire_system(&slot->epoch), epoch);
}

enum class Arrival : std::uint8_t
{
    Early,  // other partitions of the group are still missing
    Last,   // the group is complete, and its signal has been set
    TooMany // a partition has been marked twice
};

template <class Atomics, class Transport>
class PartitionedSender
{
public:
    PartitionedSender() = default;
    // arrivals: the counters of arrived partitions, one for each signal, 0 at first.
    PARHELION_HD PartitionedSender(const PartitionedSendRoute& route, Transport* transport, ArrivalCounter<Atomics>* arrivals)
        : route_(route), transport_(transport), arrivals_(arrivals)
    {
    }

    PARHELION_HD const PartitionedSendRoute& route() const { return route_; }
    // Returns the number by which signals and credits show the nth epoch of this request; n counts from 1.
    PARHELION_HD Word epoch(Word nth) const { return route_.first_epoch + (nth - 1); }

    // Returns whether the destination has given the credit for the nth epoch, so that the calling thread may write to its buffer.
    PARHELION_HD bool is_prepared(Word nth) const { return shows<Atomics>(route_.credit, epoch(nth)); }
    // Returns the address to which a partition is to be copied.
    PARHELION_HD std::byte* place(int partition) const
    {
        std::byte* const buffer = route_.payload != nullptr ? route_.payload : route_.staging;
        return buffer + static_cast<std::size_t>(partition) * route_.partition_bytes;
    }
    // Returns whether all partitions of this partition's group have been marked. One more mark then breaks the rules.
    PARHELION_HD bool is_complete(int partition, Word nth) const
    {
        const int signal = route_.counts.signal_of(partition);
        return reached(Atomics::load_relaxed_system(arrivals(signal)), goal(signal, nth));
    }
    // Counts `n` partitions of one group, which the caller knows to be in place. The call that completes the group sets its
    // signal. A group of one partition has no copies of other threads to acquire: its signal is set before it is counted. If a
    // transport carries the signal, it follows the count, because the transport then reads the copy.
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
    // goal() returns how many arrivals a signal has at the end of an epoch, arrivals() the word in which they are counted.
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
    SignalSlot* signals;      // signal slots at the destination, set by the source
    SignalSlot* credit_there; // address of the credit slot; null if the transport has to carry credits
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

    // Gives the source the credit to write in the nth epoch. All data of earlier epochs must have been read.
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
    // Returns whether the calling thread may read this receive partition.
    PARHELION_HD bool has_arrived(int partition, Word nth) const
    {
        const SignalRange needed = route_.counts.needed_by(partition);
        for (int s = needed.begin; s < needed.end; ++s)
        {
            if (!has_signal(s, nth)) { return false; }
        }
        return true;
    }
    // Returns how many signals have arrived without a gap, from signal 0 on. Signals below `from` are known to have arrived.
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
