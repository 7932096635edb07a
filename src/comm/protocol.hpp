// SPDX-License-Identifier: Apache-2.0
// The protocol of a directed channel, written once for CPU threads and GPUs: a template over the atomics policy and the
// transport, without exceptions, containers or allocation. Hosts use it through comm/channel.hpp.
//
// A channel carries one message per epoch, 1, 2, 3, ..., from its source to its destination. Epoch e uses slot e mod D: payload
// slot and signal slot in the destination's memory, credit slot in the source's. The source packs into the payload slot itself
// where it can reach it, else into a staging slot of its own that the transport puts across; then the signal goes up. The
// destination waits for the signal, reads, and on a channel with credits answers with the epoch it has read, which allows epoch
// e + D. A message of no bytes signals like any other.
//
// Orders.   signal: release by the source (or by the transport, after the payload) -> acquire by the destination's wait.
//           credit: release by the destination after its last read -> acquire by the source before its first write of e + D.
// Reuse.    A slot's words, too, are only set again after the credit. Without credits the pattern of messages must imply the
//           same: docs/design/communication.md lists the patterns with their models.
#pragma once

#include "comm/signal.hpp"

namespace parhelion {

// One message on its way through the transport: copy `bytes` to `offset` of the destination's arena (nothing if `data` is null:
// the payload is in place already), then set the signal slot. The data may be read until the destination has reacted to the
// signal.
struct Put
{
    int source;
    int destination;
    std::size_t offset;
    const std::byte* data;
    std::size_t bytes;
    std::size_t signal; // index of the slot in the destination's signal arena
    Word epoch;
};

// Which of a channel's slots; without a division, which takes a GPU a while, where there is one.
PARHELION_HD constexpr std::size_t slot_of_epoch(Word epoch, int depth)
{
    return depth == 1 ? 0 : epoch % static_cast<Word>(depth);
}

// Where a channel's source finds things. Pointers into the destination's memory are null where the transport has to carry.
struct SendRoute
{
    int source;
    int destination;
    int channel; // number for the failure record
    int depth;
    bool has_credits;
    std::size_t offset;  // of the payload slots in the destination's arena
    std::size_t stride;  // bytes from one slot to the next, here and there
    std::size_t signal;  // index of the first signal slot there
    std::byte* payload;  // slots there, or null
    std::byte* staging;  // slots here, used if payload is null
    SignalSlot* signals; // slots there, or null
    SignalSlot* credits; // slots here, set by the destination
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

    // May the next epoch be packed without waiting?
    PARHELION_HD bool is_ready() const
    {
        return !route_.has_credits || reached(Atomics::load_acquire_system(&credit_slot()->epoch), needed_credit());
    }
    PARHELION_HD Verdict wait_ready(const Watch& watch) const
    {
        if (is_ready()) { return Verdict::Reached; } // before the record is gathered
        return wait_until<Atomics>(credit_slot(), watch, record(watch));
    }
    // Where to pack the next epoch.
    PARHELION_HD std::byte* slot() const
    {
        std::byte* const slots = route_.payload != nullptr ? route_.payload : route_.staging;
        return slots + index() * route_.stride;
    }
    // Ends the packing of the next epoch. Called by one thread, which has acquired what the others packed (ArrivalCounter).
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

    // The same where the destination does not ask for bytes(). One store instead of two, of which the second, a release, waits
    // until the first has come to the other side: between GPUs the way of a signal and back.
    PARHELION_HD void signal()
    {
        if (route_.signals == nullptr) { return publish(0); }
        Atomics::store_release_system(&route_.signals[index()].epoch, epoch_);
        ++epoch_;
    }

    // What the messages of this slot that signal() ends have as bytes() from the next on, until they are set again.
    PARHELION_HD void set_bytes(std::size_t bytes) { Atomics::store_relaxed_system(&route_.signals[index()].bytes, bytes); }

    PARHELION_HD Word next_epoch() const { return epoch_; }
    PARHELION_HD const SendRoute& route() const { return route_; }
    // Payload slots elsewhere from the next epoch on. No message may be on its way.
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
    Word epoch_ = 1; // of the next message
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
    std::byte* payload;  // slots here
    SignalSlot* signals; // slots here, set by the source
    SignalSlot* credits; // slots there, or null where the transport has to carry
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

    // Has the next message arrived? If so it may be taken without waiting.
    PARHELION_HD bool has_arrived() const { return reached(Atomics::load_acquire_system(&signal_slot()->epoch), epoch_); }
    PARHELION_HD Verdict wait_arrived(const Watch& watch) const
    {
        if (has_arrived()) { return Verdict::Reached; } // before the record is gathered
        return wait_until<Atomics>(signal_slot(), watch, record(watch));
    }
    // The next message, which has arrived.
    PARHELION_HD std::byte* slot() const { return route_.payload + index(epoch_) * route_.stride; }
    PARHELION_HD std::size_t bytes() const { return Atomics::load_relaxed_system(&signal_slot()->bytes); }
    // Goes on to the message after it; the slot stays readable until acknowledge().
    PARHELION_HD void take() { ++epoch_; }
    // The oldest message taken has been read by all threads and its slot may be written again.
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
    Word epoch_ = 1;  // of the next message
    Word unread_ = 1; // of the oldest message not acknowledged
};

// Tells which of several packing threads is the last, who then publishes (rule M1). Counts up for ever: every round has a goal of
// its own, the number of arrivals of all rounds so far, so that nothing is reset between two rounds. Nobody may arrive in a round
// before all have arrived in the last: where threads may be a message ahead of each other, every slot has a counter, since who
// packs into a slot again knows that its last message has left.
template <class Atomics>
class ArrivalCounter
{
public:
    // This thread's part is packed. True for exactly one thread per round: the one that completes `goal`. Its acquire and the
    // others' releases make all parts visible to it.
    PARHELION_HD bool arrive(Word goal) { return add(1) == goal; }
    // Likewise of n parts, for a thread that has seen them packed: how many there are now, of all rounds.
    PARHELION_HD Word add(Word n) { return Atomics::fetch_add_acq_rel_device(&arrivals_, n) + n; }
    // Changes as parts arrive.
    PARHELION_HD Word* word() { return &arrivals_; }

private:
    alignas(128) Word arrivals_ = 0;
};

} // namespace parhelion
