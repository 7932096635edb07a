// SPDX-License-Identifier: Apache-2.0
// The states behind the requests of comm/partitioned/partitioned.hpp. The engine of a rank (engine.hpp) exchanges the letters
// of its requests, advances the requests, and waits for them.
//
// How two requests meet: each sends the other side a letter (post.hpp) that it has been made, with all that the other side must
// know. The letter of a source names its credit slot. The destination then knows how many signal slots it needs, takes the
// slots, and answers with their place. A rank reads letters in every call and while it waits. A request whose other side does
// not exist yet costs no polling.
//
// A freed request does not give back its slots at once. It tells the other side that it is freed, and keeps its slots until the
// other side is freed, too: then nothing is in flight to them. When slots are used again, their epochs continue from the last
// one (signal_pool.hpp).
#pragma once

#include "comm/partitioned/allocations.hpp"
#include "comm/partitioned/copies_out.hpp"
#include "comm/partitioned/partitioned.hpp"
#include "comm/partitioned/post.hpp"
#include "comm/partitioned/protocol.hpp"
#include "comm/partitioned/signal_pool.hpp"
#include "comm/world/world.hpp"

#include <atomic>
#include <exception>
#include <optional>
#include <string>

namespace parhelion {

// The other side of a message, or another member of a collective, and what this rank has heard of it.
struct Partner
{
    int rank;
    bool has_made = false; // true if its rank has made the partner's request
    std::optional<Parting> parting{};
};

// The names of a request.
struct RequestName
{
    std::string text;           // name in texts for people
    RequestAddress here;        // the address of this side
    std::string envelope_there; // the envelope of the other side, whose request has the same number
};

class RequestState
{
public:
    RequestState(PartitionedEngine& engine, Partitioning partitioning, Envelope envelope, RequestName name,
                 std::vector<Partner> partners);
    RequestState(const RequestState&) = delete;
    RequestState& operator=(const RequestState&) = delete;
    virtual ~RequestState();

    // Advances the request as far as possible without waiting. Returns true if it is then idle until the next start() or letter.
    virtual bool advance() = 0;
    // Does the part of advance() that any thread may do: sends partitions that are marked ready.
    virtual void help() {}
    virtual bool knows_peer() const = 0; // true if the other side may act on this epoch
    virtual bool is_complete() = 0;      // true if the active epoch is complete
    // Says what the request waits for, for the text of a failure: "rank 1 to start the epoch".
    virtual std::string lacks() = 0;
    virtual FailureRecord record(const Watch& watch) = 0;

    // introduction() returns what a partner must know of this request. hear() takes a letter of a partner.
    virtual Bytes introduction(std::size_t partner) const = 0;
    void hear(int from, const Letter& letter);

    void start();
    void pbuf_prepare();
    bool test();
    void finish(); // waits for the end of the epoch, as wait() does

    PartitionedEngine& engine() const { return engine_; }
    const Partitioning& partitioning() const { return partitioning_; }
    const Envelope& envelope() const { return envelope_; }
    const RequestName& name() const { return name_; }
    const std::vector<Partner>& partners() const { return partners_; }
    bool is_active() const { return is_active_; }
    bool is_broken() const { return is_broken_.load(std::memory_order_acquire); }
    Word nth() const { return nth_; }
    bool is_listed = false; // true while the engine's list of requests to advance has it

    [[noreturn]] void refuse(Misuse misuse, const std::string& why) const;
    [[noreturn]] void refuse_second_mark(int partition) const;
    void check_partition(int partition) const;
    std::string text() const;                                            // name in texts for people
    void keep(Allocations::Use use) { uses_.push_back(std::move(use)); } // keeps memory in use for as long as this request lives

    void expect_whole() const; // throws the error by which the request was broken off, if there is one
    // Breaks the request off if a partner that would have to act on this epoch has been freed. For the rank's own thread.
    void look_at_partners();

protected:
    virtual void begin_epoch() = 0;
    // agree() and meet() are called when a partner has made its request. agree() breaks this request off unless both ask for
    // the same. meet() follows only if they agree and the partner has not been freed.
    virtual void agree(std::size_t partner, const Bytes& introduction) = 0;
    virtual void meet(std::size_t, const Bytes&) {}
    virtual void place(const Bytes&) {} // takes the place of the other side's slots
    // Makes this request unusable: its calls throw the reason.
    void break_off(Misuse misuse, const std::string& why) noexcept;
    void break_off(std::exception_ptr why) noexcept;
    void expect_active(const char* call) const;
    void poll(); // advances requests, for a thread that asks repeatedly
    std::size_t total_bytes() const { return static_cast<std::size_t>(partitioning_.partitions) * partitioning_.bytes; }
    // Returns a partner that has not made its request, preferably one whose rank has left; or this rank if there is none.
    int missing() const;

private:
    void end_epoch();

    PartitionedEngine& engine_;
    const Partitioning partitioning_;
    const Envelope envelope_;
    const RequestName name_;
    std::vector<Partner> partners_;
    std::vector<Allocations::Use> uses_;
    // The rank's own thread writes these members, under the engine's lock. The rank's own thread reads them at any time, other
    // threads between start() and wait(), or under the lock.
    bool is_active_ = false;
    Word nth_ = 0; // number of epochs started
    std::exception_ptr broken_;
    std::atomic<bool> is_broken_ = false; // stored with release after broken_, loaded with acquire
};

class SendState : public RequestState
{
public:
    SendState(PartitionedEngine& engine, const std::byte* buffer, Partitioning partitioning, Envelope envelope, RequestName name,
              const SendOptions& options);
    ~SendState() override;

    void pready(int partition);
    // pready_range() and pready_list() mark all the given partitions, or none of them if one is illegal.
    void pready_range(int first, int last);
    void pready_list(std::span<const int> partitions);
    bool advance() override;
    void help() override;
    bool knows_peer() const override { return is_connected_.load(std::memory_order_acquire) && core_.is_prepared(nth()); }
    bool is_complete() override;
    std::string lacks() override;
    FailureRecord record(const Watch& watch) override;
    Bytes introduction(std::size_t partner) const override;

private:
    // The two values of a partition's mark in the nth epoch. At first it is taken_in(0), between epochs taken_in(last
    // epoch).
    static Word ready_in(Word nth) { return 2 * nth; }
    static Word taken_in(Word nth) { return 2 * nth + 1; }

    void begin_epoch() override {}
    void agree(std::size_t partner, const Bytes& introduction) override;
    void place(const Bytes& there) override; // takes the place of the destination's slots
    void expect_unmarked(int partition) const;
    void mark(int partition);
    void send_if_ready(int partition);
    int count_ready();

    const std::byte* buffer_;
    SignalBlock credit_;
    const Word first_epoch_; // least first epoch that this side can use; the destination chooses the epoch
    const int per_signal_;
    Window staging_; // a copy of the buffer, if a transport carries the data
    std::vector<ArrivalCounter<HostAtomics>> arrivals_;
    PartitionedSender<HostAtomics, Transport> core_;
    mutable std::vector<Word> marks_;        // marks of partitions; accessed atomically while an epoch is active
    std::atomic<bool> is_connected_ = false; // stored with release after core_; threads that mark partitions acquire it
    std::atomic<Word> published_ =
        0; // number of signals set; stored with release: a thread that acquires an epoch's last number knows that all have left
};

class ReceiveState : public RequestState
{
public:
    // `place`: where the data arrives, in symmetric memory. `buffer`: where the caller wants it. If they differ, data is copied.
    ReceiveState(PartitionedEngine& engine, std::byte* buffer, std::byte* place, Partitioning partitioning, Envelope envelope,
                 RequestName name);
    ~ReceiveState() override;

    bool parrived(int partition);
    bool advance() override { return true; }
    bool knows_peer() const override { return is_connected_.load(std::memory_order_acquire); }
    bool is_complete() override;
    std::string lacks() override;
    FailureRecord record(const Watch& watch) override;
    Bytes introduction(std::size_t partner) const override;

private:
    void begin_epoch() override;
    void agree(std::size_t partner, const Bytes& introduction) override;
    void meet(std::size_t partner, const Bytes& introduction) override;
    std::size_t offset() const; // returns the offset of place_ in the arena

    std::byte* place_;
    std::optional<CopiesOut> copies_out_; // set if the caller's buffer is not place_, which then belongs to this request
    SignalBlock signals_;
    PartitionedReceiver<HostAtomics, Transport> core_;
    std::atomic<bool> is_connected_ = false;
    int arrived_ = 0; // number of signals of this epoch that have come, from the first on without a gap
};

} // namespace parhelion
