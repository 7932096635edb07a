// SPDX-License-Identifier: Apache-2.0
// The words by which ranks signal each other, and the bounded wait for such a word.
//
// A signal slot holds the epoch and the size of its last message. It has one writer and is never reset. Epochs have 64 bits and
// are compared by the sign of their difference. A signal of a later epoch than the expected one counts as arrived.
//
// Every wait is bounded and watches the abort word of its rank. The first wait to reach its deadline writes the only failure
// record and sets the abort words of all ranks; all other waits end at their next look. While a rank pauses deadlines, for
// instance to write to a slow disk, no wait reaches its deadline. World informs ranks out of reach. A look costs two loads, one
// clock reading and a call of the transport. It is due at every 64th poll, and at every poll once polls yield the core.
//
// If ranks are GPUs, the host sees when kernels end, but must not use their results if one of their waits has failed. So the
// host's abort word is set before those of the ranks, and no failed wait ends before that. A rank that is second to fail
// therefore waits for its own abort word.
#pragma once

#include "base/vec3.hpp"
#include "comm/core/atomics.hpp"

#include <cstddef>
#include <cstdint>

namespace parhelion {

// A slot has 128 bytes, so that two hot words never share a cache line or a pair of prefetched lines.
struct alignas(128) SignalSlot
{
    Word epoch; // written only by the peer, with release; read with acquire
    Word bytes; // size of the message, written before `epoch` and read after it
};

// Returns whether a word that shows the epoch `seen` has reached `expected` or a later epoch, even if the counter wraps.
PARHELION_HD constexpr bool reached(Word seen, Word expected) { return static_cast<std::int64_t>(seen - expected) >= 0; }

enum class Awaited : std::uint32_t
{
    Signal,  // the receiver waits for a message
    Credit,  // the sender waits for permission to write a slot again
    Opening, // a rank waits until its peer has opened its end of the channel
    Ready,   // the sender of a partitioned message waits for its own partitions
    Proxy,   // the sender of a partitioned message waits until its proxy has read the partitions
    Nothing  // no wait: a rank stopped the run for a reason of its own
};

// The record of a wait that reached its deadline, as its rank knew it. Epochs are those of the channel. credit: the largest
// epoch that the sender may write, as far as this end knows; 0 on a channel without credits.
struct FailureRecord
{
    int rank;
    int peer;
    int channel;
    Awaited awaited;
    Word expected;
    Word seen;
    Word credit;
    std::int64_t tag; // number that the caller set to say where its program was
};

// The record of the first failure. There is one per run if every rank and the host can address it, otherwise one per set of
// ranks that can. Its writer may read it, and so may threads that have seen an abort word set, with acquire.
struct alignas(128) FirstFailure
{
    Word claimed = 0; // the rank that exchanges it from 0 to 1 writes the record
    FailureRecord record{};
    Word pauses = 0; // pauses of deadlines, counted in one_pauses and one_resumes; accesses are relaxed
};

// These numbers are added to `pauses` when a rank pauses or resumes deadlines. The lower half of the word counts the ranks that
// pause deadlines now, the upper half how often a rank has resumed them.
inline constexpr Word one_pauses = 1;
inline constexpr Word one_resumes = (Word{1} << 32) - one_pauses;
PARHELION_HD constexpr bool is_anyone_paused(Word pauses) { return (pauses & ((Word{1} << 32) - 1)) != 0; }

// Moves the messages of a transport that moves them only inside calls of the ranks. Several threads may call it.
class MessageMover
{
public:
    virtual ~MessageMover() = default;
    virtual void progress() {}
};

// The data that the waits of one rank need. A Watch owns nothing.
struct Watch
{
    int rank;
    int listeners;                  // number of ranks whose abort words are within reach; a failed wait sets them
    std::int64_t deadline_ns;       // limit of each wait
    SignalSlot* own_abort;          // abort word of this rank, polled while it waits
    SignalSlot* const* abort_slots; // abort words of all listeners
    FirstFailure* first_failure;
    const std::int64_t* tag;          // number that is copied to the failure record
    SignalSlot* host_abort;           // host's abort word, set before abort_slots; null for threads, whose end the host sees
    MessageMover* messages = nullptr; // called at every poll to move messages; null: not needed
};

enum class Verdict : std::uint8_t
{
    Reached,
    Expired, // this rank was the first to fail; its record tells why
    Aborted  // another rank stopped the run
};

// Counts the polls of one wait and decides when the wait gives up.
template <class Atomics>
class Patience
{
public:
    PARHELION_HD explicit Patience(const Watch& watch) : watch_(watch) {}

    // Pauses after a poll that found no signal. Reached: poll again. Expired: the deadline has passed, so poll once more, then
    // call fail().
    PARHELION_HD Verdict next()
    {
        if (is_look_due())
        {
            if constexpr (Atomics::is_host)
            {
                if (watch_.messages != nullptr) { watch_.messages->progress(); }
            }
            // With acquire: if this rank ends its work after this load, its host also sees the host's abort word set.
            if (Atomics::load_acquire_system(&watch_.own_abort->epoch) != 0) { return Verdict::Aborted; }
            const std::int64_t now = Atomics::nanoseconds();
            if (start_ns_ == 0) { start_ns_ = now; }
            if constexpr (Atomics::is_host)
            {
                // The clock is read again, so that no pause of deadlines counts as time of this wait.
                if (was_anyone_paused()) { start_ns_ = Atomics::nanoseconds(); }
            }
            if (now - start_ns_ > watch_.deadline_ns) { return Verdict::Expired; }
        }
        Atomics::pause(polls_);
        polls_ = polls_ == most_polls ? most_polls - polls_per_look + 1 : polls_ + 1;
        return Verdict::Reached;
    }

    // Starts a new deadline, because something has arrived and the next wait begins.
    PARHELION_HD void restart()
    {
        polls_ = 0;
        start_ns_ = 0;
    }

private:
    // Returns whether it is time to look at the clock and the abort word. Once polls yield the core, every poll looks.
    PARHELION_HD bool is_look_due() const
    {
        if constexpr (Atomics::is_host)
        {
            if (Atomics::yields(polls_)) { return true; }
        }
        return polls_ % polls_per_look == polls_per_look - 1;
    }
    // Returns whether deadlines are paused now, or were paused since the last look.
    PARHELION_HD bool was_anyone_paused()
    {
        const Word last = pauses_;
        pauses_ = Atomics::load_relaxed_system(&watch_.first_failure->pauses);
        return pauses_ != last || is_anyone_paused(pauses_);
    }

    static constexpr int polls_per_look = 64;
    static constexpr int most_polls = (1 << 20) - 1; // at this count it restarts at a value above all thresholds of pause()
    const Watch& watch_;
    int polls_ = 0;
    std::int64_t start_ns_ = 0; // time of the first look; 0: there was no look yet
    Word pauses_ = 0;           // value of first_failure->pauses at the last look
};

// Stores the record as the first failure, unless there is one already, and ends all waits. Returns Expired if this record is
// the first, otherwise Aborted. The host's abort word is then set, unless the first rank has hung for a deadline before that.
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
    watch.first_failure->record = record; // the stores to the abort words release the record
    if (watch.host_abort != nullptr) { Atomics::store_release_system(&watch.host_abort->epoch, 1); }
    for (int r = 0; r < watch.listeners; ++r) { Atomics::store_release_system(&watch.abort_slots[r]->epoch, 1); }
    return Verdict::Expired;
}

// Waits until the word shows the expected epoch or a later one, with acquire: everything that its writer did before is then
// visible. If the wait fails, it fills in record.seen.
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
        // This thread may have been stopped for long, so it reads the word once more after the deadline; that value decides.
        is_last_look = verdict == Verdict::Expired;
    }
}

template <class Atomics>
PARHELION_HD Verdict wait_until(SignalSlot* slot, const Watch& watch, const FailureRecord& record)
{
    return wait_until<Atomics>(&slot->epoch, watch, record);
}

} // namespace parhelion
