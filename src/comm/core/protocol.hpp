// SPDX-License-Identifier: Apache-2.0
// The protocol of a directed channel, written once for CPU threads and GPUs: a template over the atomics policy and the
// transport, without exceptions, containers or allocation. Hosts use it through comm/world/channel.hpp.
//
// A channel carries one message per epoch, 1, 2, 3, ..., from its source to its destination. Epoch e uses slot e mod D: a
// payload slot and a signal slot at the destination, and a credit slot at the source. If the source can address the payload
// slot, it packs the message there; otherwise it packs into a staging slot of its own, which the transport copies. Then the
// signal slot is set. The destination waits for the signal and reads. On a channel with credits it then sets the credit slot to
// the epoch that it has read, which permits epoch e + D. An empty message is signalled in the same way.
//
// Memory orders. signal: the source (or the transport, after the payload) releases it; the destination's wait acquires it.
//                credit: the destination releases it after its last read; the source acquires it before it writes epoch e + D.
// Reuse of slots. The signal words, like the payload, are written again only after the credit. Without credits the order of
//                messages must ensure the same; docs/design/communication.md lists such orders with their models.
#pragma once

#include "comm/core/signal.hpp"

namespace parhelion {

// A message that the transport carries. The transport copies `bytes` bytes of `data` to `offset` in the destination's arena,
// then sets the signal slot. If `data` is null, the payload is already in place and nothing is copied. The data may be read
// until the destination has reacted to the signal.
struct Put
{
    int source;
    int destination;
    std::size_t offset;
    const std::byte* data;
    std::size_t bytes;
    std::size_t signal; // index of the signal slot in the destination's signal arena
    Word epoch;
};

// Returns the slot index of an epoch. Depth 1 needs no division, which is slow on a GPU.
PARHELION_HD constexpr std::size_t slot_of_epoch(Word epoch, int depth)
{
    return depth == 1 ? 0 : epoch % static_cast<Word>(depth);
}

// The addresses that a channel's source uses. They are null for memory of the destination that only the transport reaches.
struct SendRoute
{
    int source;
    int destination;
    int channel; // number of the channel in failure records
    int depth;
    bool has_credits;
    std::size_t offset;  // offset of the payload slots in the destination's arena
    std::size_t stride;  // bytes from one payload slot to the next, at source and destination
    std::size_t signal;  // index of the first signal slot at the destination
    std::byte* payload;  // payload slots at the destination; null if out of reach
    std::byte* staging;  // payload slots at the source, used if `payload` is null
    SignalSlot* signals; // signal slots at the destination; null if out of reach
    SignalSlot* credits; // credit slots at the source, set by the destination
};

template <class Atomics, class Transport>
class Sender
{
public:
    Sender() = default;
    PARHELION_HD Sender(const SendRoute& route, Transport* transport, Word first_epoch)
        : route_(route), transport_(transport), epoch_(first_epoch)
    {
    }

    // Returns whether the next epoch can be packed without waiting.
    PARHELION_HD bool is_ready() const
    {
        return !route_.has_credits || reached(Atomics::load_acquire_system(&credit_slot()->epoch), needed_credit());
    }
    PARHELION_HD Verdict wait_ready(const Watch& watch) const
    {
        if (is_ready()) { return Verdict::Reached; } // no failure record is made if the wait ends at once
        return wait_until<Atomics>(credit_slot(), watch, record(watch));
    }
    // Returns the address at which the next epoch is packed.
    PARHELION_HD std::byte* slot() const
    {
        std::byte* const slots = route_.payload != nullptr ? route_.payload : route_.staging;
        return slots + index() * route_.stride;
    }
    // Publishes the packed epoch. One thread calls it, which has acquired what other threads packed (ArrivalCounter).
    PARHELION_HD void publish(std::size_t bytes)
    {
        if (route_.signals != nullptr)
        {
            SignalSlot* const signal = route_.signals + index();
            Atomics::store_relaxed_system(&signal->bytes, bytes);
            Atomics::store_release_system(&signal->epoch, epoch_);
        }
        else
        {
            const std::byte* const data = route_.payload != nullptr ? nullptr : slot();
            transport_->put_signal({route_.source, route_.destination, route_.offset + index() * route_.stride, data, bytes,
                                    route_.signal + index(), epoch_});
        }
        ++epoch_;
    }

    // Does what publish() does, but leaves the size word as it is. So it makes one store instead of two: publish() ends with a
    // release, which waits until its first store has arrived. Between GPUs that takes a signal's way there and back.
    PARHELION_HD void signal()
    {
        if (route_.signals == nullptr) { return publish(0); }
        Atomics::store_release_system(&route_.signals[index()].epoch, epoch_);
        ++epoch_;
    }

    // Sets the size that bytes() returns for all later messages of this slot that signal() publishes.
    PARHELION_HD void set_bytes(std::size_t bytes) { Atomics::store_relaxed_system(&route_.signals[index()].bytes, bytes); }

    PARHELION_HD Word next_epoch() const { return epoch_; }
    PARHELION_HD const SendRoute& route() const { return route_; }
    // Uses the payload slots of another route from the next epoch on. No message may be in flight.
    PARHELION_HD void rebind(const SendRoute& route) { route_ = route; }

    PARHELION_HD FailureRecord record(const Watch& watch) const
    {
        const Word seen = route_.has_credits ? Atomics::load_relaxed_system(&credit_slot()->epoch) : 0;
        const Word credit = route_.has_credits ? seen + static_cast<Word>(route_.depth) : 0;
        return {route_.source, route_.destination, route_.channel, Awaited::Credit, needed_credit(), seen, credit, *watch.tag};
    }

private:
    PARHELION_HD std::size_t index() const { return slot_of_epoch(epoch_, route_.depth); }
    PARHELION_HD Word needed_credit() const { return epoch_ - static_cast<Word>(route_.depth); }
    PARHELION_HD SignalSlot* credit_slot() const { return route_.credits + index(); }

    SendRoute route_{};
    Transport* transport_ = nullptr;
    Word epoch_ = 1; // epoch of the next message
};

struct ReceiveRoute
{
    int source;
    int destination;
    int channel;
    int depth;
    bool has_credits;
    std::size_t stride;
    std::size_t credit;  // index of the first credit slot in the source's signal arena
    std::byte* payload;  // payload slots at the destination
    SignalSlot* signals; // signal slots at the destination, set by the source
    SignalSlot* credits; // credit slots at the source; null if the transport carries credits
};

template <class Atomics, class Transport>
class Receiver
{
public:
    Receiver() = default;
    PARHELION_HD Receiver(const ReceiveRoute& route, Transport* transport, Word first_epoch)
        : route_(route), transport_(transport), epoch_(first_epoch), unread_(first_epoch)
    {
    }

    // Returns whether the next message has arrived, so that it can be taken without waiting.
    PARHELION_HD bool has_arrived() const { return reached(Atomics::load_acquire_system(&signal_slot()->epoch), epoch_); }
    PARHELION_HD Verdict wait_arrived(const Watch& watch) const
    {
        if (has_arrived()) { return Verdict::Reached; } // no failure record is made if the wait ends at once
        return wait_until<Atomics>(signal_slot(), watch, record(watch));
    }
    // slot() returns the address and bytes() the size of the next message, which must have arrived.
    PARHELION_HD std::byte* slot() const { return route_.payload + index(epoch_) * route_.stride; }
    PARHELION_HD std::size_t bytes() const { return Atomics::load_relaxed_system(&signal_slot()->bytes); }
    // Advances to the following message. The slot of the taken message stays readable until acknowledge().
    PARHELION_HD void take() { ++epoch_; }
    // Declares that all threads have read the oldest message taken. The source may then write its slot again.
    PARHELION_HD void acknowledge()
    {
        if (route_.has_credits)
        {
            if (route_.credits != nullptr) { Atomics::store_release_system(&route_.credits[index(unread_)].epoch, unread_); }
            else
            {
                transport_->put_signal(
                    {route_.destination, route_.source, 0, nullptr, 0, route_.credit + index(unread_), unread_});
            }
        }
        ++unread_;
    }

    PARHELION_HD Word next_epoch() const { return epoch_; }
    PARHELION_HD bool owes_acknowledgement() const { return unread_ != epoch_; }
    PARHELION_HD const ReceiveRoute& route() const { return route_; }
    PARHELION_HD void rebind(const ReceiveRoute& route) { route_ = route; }

    PARHELION_HD FailureRecord record(const Watch& watch) const
    {
        const Word credit = route_.has_credits ? unread_ - 1 + static_cast<Word>(route_.depth) : 0;
        const Word seen = Atomics::load_relaxed_system(&signal_slot()->epoch);
        return {route_.destination, route_.source, route_.channel, Awaited::Signal, epoch_, seen, credit, *watch.tag};
    }

private:
    PARHELION_HD std::size_t index(Word epoch) const { return slot_of_epoch(epoch, route_.depth); }
    PARHELION_HD SignalSlot* signal_slot() const { return route_.signals + index(epoch_); }

    ReceiveRoute route_{};
    Transport* transport_ = nullptr;
    Word epoch_ = 1;  // epoch of the next message
    Word unread_ = 1; // epoch of the oldest message that is not acknowledged yet
};

// Counts threads that have packed their part of a message; the thread that arrives last publishes the message (rule M1). Each
// thread arrives once per message. The count is never reset: a message is packed when the count reaches `goal`, the number of
// arrivals for all messages up to this one. All threads must arrive for a message before any arrives for the next one. If that
// is not certain, each slot needs its own counter: a slot is packed again only after the slot's previous message has left.
template <class Atomics>
class ArrivalCounter
{
public:
    // Counts the part of the calling thread as packed. Returns true for one thread per message, the one that completes `goal`.
    // That thread acquires what the other threads release, so that it sees all parts.
    PARHELION_HD bool arrive(Word goal) { return add(1) == goal; }
    // Counts n parts that the calling thread has seen packed. Returns the number of parts of all messages so far.
    PARHELION_HD Word add(Word n) { return Atomics::fetch_add_acq_rel_device(&arrivals_, n) + n; }
    // Returns the address of the word in which the parts are counted.
    PARHELION_HD Word* word() { return &arrivals_; }

private:
    alignas(128) Word arrivals_ = 0;
};

} // namespace parhelion
