// SPDX-License-Identifier: Apache-2.0
// The words that ranks raise for each other, and the bounded wait for one.
//
// A signal slot holds the epoch of the last message of its slot, and that message's size. It has one writer, is set and never
// reset. Epochs are 64-bit and compared by the sign of their difference, so a writer that is ahead counts as arrived.
//
// Every wait is bounded and watches its rank's abort word. The first wait that reaches its deadline writes the one failure record
// and raises the abort words of all ranks; every other wait ends at its next look. While any rank pauses deadlines, to write to a
// slow disk for instance, no wait reaches its deadline. Ranks whose words are out of reach are told by World. Cost of watching:
// two loads, one clock reading and a call of the transport every 64 polls, and at every poll once polls give up the core.
//
// Where ranks are GPUs, the host sees kernels end and must not use their results if a wait in them failed. So the host's abort
// word is raised before those of the ranks, and no failed wait ends before it is raised: a rank that fails second waits for its
// own abort word, too.
#pragma once

#include "base/vec3.hpp"
#include "comm/atomics.hpp"

#include <cstddef>
#include <cstdint>

namespace parhelion {

// 128 bytes, so that two hot words never share a cache line or a pair of prefetched lines.
struct alignas(128) SignalSlot
{
    Word epoch; // written by the peer alone: release; read: acquire
    Word bytes; // written before epoch, read after it
};

// Has a word that shows `seen` reached `expected`? True also if its writer is further; right across the wrap of the counter.
PARHELION_HD constexpr bool reached(Word seen, Word expected) { return static_cast<std::int64_t>(seen - expected) >= 0; }

enum class Awaited : std::uint32_t
{
    Signal,  // the receiver: a message
    Credit,  // the sender: permission to write a slot again
    Opening, // the other end
    Ready,   // the sender of a partitioned message: partitions of its own
    Proxy,   // likewise: that its proxy has read them
    Nothing  // a rank that stopped the run for a reason of its own
};

// What a rank that waited in vain knew. Epochs as on the channel; credit: the largest epoch the sender may write as far as this
// end knows, or 0 on a channel without credits.
struct FailureRecord
{
    int rank;
    int peer;
    int channel;
    Awaited awaited;
    Word expected;
    Word seen;
    Word credit;
    std::int64_t tag; // of the rank at that time: where its program was, in a number of the caller's
};

// One per run, where every rank and the host can reach it; else one for the ranks that do. The record may be read by who wrote
// it, and by who has seen an abort word raised, with acquire.
struct alignas(128) FirstFailure
{
    Word claimed = 0; // exchanged from 0 to 1 by the rank whose record it becomes
    FailureRecord record{};
    Word pauses = 0; // of deadlines, counted by one_pauses and one_resumes; relaxed: it orders nothing
};

// What they add: the lower half of the word counts ranks that pause deadlines now, the upper half how often one has resumed them.
inline constexpr Word one_pauses = 1;
inline constexpr Word one_resumes = (Word{1} << 32) - one_pauses;
PARHELION_HD constexpr bool is_anyone_paused(Word pauses) { return (pauses & ((Word{1} << 32) - 1)) != 0; }

// Who moves messages that move only inside calls of the ranks. Callable by several threads.
class MessageMover
{
public:
    virtual ~MessageMover() = default;
    virtual void progress() {}
};

// What a wait needs to know of its surroundings; one per rank, a plain view.
struct Watch
{
    int rank;
    int listeners;                  // ranks whose abort words are within reach: whoever fails raises them
    std::int64_t deadline_ns;       // of one wait
    SignalSlot* own_abort;          // looked at while waiting
    SignalSlot* const* abort_slots; // of all listeners
    FirstFailure* first_failure;
    const std::int64_t* tag;          // for the record
    SignalSlot* host_abort;           // raised before the others; null: ranks are threads, and their driver sees them end
    MessageMover* messages = nullptr; // asked to move them at every look; null: where they need nobody
};

enum class Verdict : std::uint8_t
{
    Reached,
    Expired, // this rank was the first to fail: its record tells why all ended
    Aborted  // somebody else stopped the run
};

// Counts the polls of one wait and says when to give up.
template <class Atomics>
class Patience
{
public:
    PARHELION_HD explicit Patience(const Watch& watch) : watch_(watch) {}

    // One poll was in vain: pauses. Reached: poll again; Expired: the deadline has passed, and after one last poll fail() is due.
    PARHELION_HD Verdict next()
    {
        if (is_look_due())
        {
            if constexpr (Atomics::is_host)
            {
                if (watch_.messages != nullptr) { watch_.messages->progress(); }
            }
            // With acquire: who ends its work after this, and is seen to by the host, has the host see its own word raised.
            if (Atomics::load_acquire_system(&watch_.own_abort->epoch) != 0) { return Verdict::Aborted; }
            const std::int64_t now = Atomics::nanoseconds();
            if (start_ns_ == 0) { start_ns_ = now; }
            if constexpr (Atomics::is_host)
            {
                // Asked after the clock was read, so that no pause falls into the time that counts.
                if (was_anyone_paused()) { start_ns_ = Atomics::nanoseconds(); }
            }
            if (now - start_ns_ > watch_.deadline_ns) { return Verdict::Expired; }
        }
        Atomics::pause(polls_);
        polls_ = polls_ == most_polls ? most_polls - polls_per_look + 1 : polls_ + 1;
        return Verdict::Reached;
    }

    // Something has arrived: the next wait has a deadline of its own.
    PARHELION_HD void restart()
    {
        polls_ = 0;
        start_ns_ = 0;
    }

private:
    // Once each poll gives up the core, which may be gone for long, each one looks.
    PARHELION_HD bool is_look_due() const
    {
        if constexpr (Atomics::is_host)
        {
            if (Atomics::yields(polls_)) { return true; }
        }
        return polls_ % polls_per_look == polls_per_look - 1;
    }
    // Since the last look, or now.
    PARHELION_HD bool was_anyone_paused()
    {
        const Word last = pauses_;
        pauses_ = Atomics::load_relaxed_system(&watch_.first_failure->pauses);
        return pauses_ != last || is_anyone_paused(pauses_);
    }

    static constexpr int polls_per_look = 64;
    static constexpr int most_polls = (1 << 20) - 1; // the count then goes round, far above any pause's threshold
    const Watch& watch_;
    int polls_ = 0;
    std::int64_t start_ns_ = 0; // 0: the first look is still to come
    Word pauses_ = 0;           // at the last look
};

// Leaves the record as the first failure unless there is one, and ends all waits. Expired if this is the first, else Aborted. On
// return the host's abort word is raised, unless whoever was first got stuck for longer than the deadline while raising it.
template <class Atomics>
PARHELION_HD Verdict fail(const Watch& watch, const FailureRecord& record)
{
    const bool is_first = Atomics::exchange_relaxed_system(&watch.first_failure->claimed, 1) == 0;
    if (!is_first)
    {
        Patience<Atomics> patience(watch);
        while (patience.next() == Verdict::Reached) {}
        return Verdict::Aborted;
    }
    watch.first_failure->record = record; // released by the abort words
    if (watch.host_abort != nullptr) { Atomics::store_release_system(&watch.host_abort->epoch, 1); }
    for (int r = 0; r < watch.listeners; ++r) { Atomics::store_release_system(&watch.abort_slots[r]->epoch, 1); }
    return Verdict::Expired;
}

// Waits until the word shows expected or later, with acquire: what its writer did before is then visible. record.seen is filled
// in if the wait fails.
template <class Atomics>
PARHELION_HD Verdict wait_until(Word* word, const Watch& watch, FailureRecord record)
{
    Patience<Atomics> patience(watch);
    for (bool is_last_look = false;;)
    {
        const Word seen = Atomics::load_acquire_system(word);
        if (reached(seen, record.expected)) { return Verdict::Reached; }
        if (is_last_look)
        {
            record.seen = seen;
            return fail<Atomics>(watch, record);
        }
        const Verdict verdict = patience.next();
        if (verdict == Verdict::Aborted) { return verdict; }
        // This thread itself may have been stopped for long: what counts in the end is the word, not the clock.
        is_last_look = verdict == Verdict::Expired;
    }
}

template <class Atomics>
PARHELION_HD Verdict wait_until(SignalSlot* slot, const Watch& watch, const FailureRecord& record)
{
    return wait_until<Atomics>(&slot->epoch, watch, record);
}

} // namespace parhelion
