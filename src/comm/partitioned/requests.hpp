// SPDX-License-Identifier: Apache-2.0
// What is behind the requests of comm/partitioned/partitioned.hpp: the state of each. The engine of its rank (engine.hpp) has
// them hear from each other, moves them on, and waits.
//
// How two requests find each other: each tells the other side that it has been made, by a letter (post.hpp), with what that side
// must know. A source's letter names its credit slot; the destination then knows how many signal slots it needs, takes them, and
// answers with them. Letters are read whenever a rank calls, and in its waits; a request whose other side is not there is not
// looked at.
//
// What becomes of the slots of a freed request: it tells the other side that it has parted, and keeps its slots until that side
// has parted, too, as nothing is under way to them then. Epochs of slots that are used again go on where they were
// (signal_pool.hpp).
#pragma once

#include "comm/partitioned/allocations.hpp"
#include "comm/partitioned/partitioned.hpp"
#include "comm/partitioned/post.hpp"
#include "comm/partitioned/protocol.hpp"
#include "comm/partitioned/signal_pool.hpp"
#include "comm/world.hpp"

#include <atomic>
#include <exception>
#include <string>

namespace parhelion {

// The other side of a message, or another member of a collective, as this one has heard of it.
struct Partner
{
    int rank;
    bool has_made = false; // its request
    std::optional<Parting> parting{};
};

// What a request is called.
struct RequestName
{
    std::string text;           // for people
    Address here;               // of this side
    std::string envelope_there; // of the other side, whose request has the same number
};

class RequestState
{
public:
    RequestState(PartitionedEngine& engine, Partitioning partitioning, Envelope envelope, RequestName name,
                 std::vector<Partner> partners);
    RequestState(const RequestState&) = delete;
    RequestState& operator=(const RequestState&) = delete;
    virtual ~RequestState();

    // As far as it goes without waiting. True when there is nothing more to do before the next start() or letter.
    virtual bool advance() = 0;
    // What of that any thread may do: sends what is marked.
    virtual void help() {}
    virtual bool knows_peer() const = 0; // that the other side may act on this epoch
    virtual bool is_complete() = 0;      // of the active epoch
    // What it lacks, for the text of a failure: "rank 1 to start the epoch".
    virtual std::string lacks() = 0;
    virtual FailureRecord record(const Watch& watch) = 0;

    // What a partner must know of this request, and what that one says.
    virtual Bytes introduction(std::size_t partner) const = 0;
    void hear(int from, const Letter& letter);

    void start();
    void pbuf_prepare();
    bool test();
    void finish(); // what wait() does

    PartitionedEngine& engine() const { return engine_; }
    const Partitioning& partitioning() const { return partitioning_; }
    const Envelope& envelope() const { return envelope_; }
    const RequestName& name() const { return name_; }
    const std::vector<Partner>& partners() const { return partners_; }
    bool is_active() const { return is_active_; }
    bool is_broken() const { return is_broken_.load(std::memory_order_acquire); }
    Word nth() const { return nth_; }
    bool is_listed = false; // by the engine, as one that has to be moved on

    [[noreturn]] void refuse(Misuse misuse, const std::string& why) const;
    [[noreturn]] void refuse_second_mark(int partition) const;
    void check_partition(int partition) const;
    std::string text() const;                                            // for people
    void keep(Allocations::Use use) { uses_.push_back(std::move(use)); } // memory, for as long as this lives

    void expect_whole() const; // throws what it was broken off by
    // A partner has parted that would have to act on this epoch: then the request is broken. For the rank's own thread.
    void look_at_partners();

protected:
    virtual void begin_epoch() = 0;
    // A partner has made its request. agree() breaks off unless both ask for the same; only then, and if the partner has not
    // parted, comes meet().
    virtual void agree(std::size_t partner, const Bytes& introduction) = 0;
    virtual void meet(std::size_t, const Bytes&) {}
    virtual void place(const Bytes&) {} // where the other side's slots are
    // This request is of no more use: its calls tell why.
    void break_off(Misuse misuse, const std::string& why) noexcept;
    void break_off(std::exception_ptr why) noexcept;
    void expect_active(const char* call) const;
    void poll(); // who asks again and again waits
    std::size_t total_bytes() const { return static_cast<std::size_t>(partitioning_.partitions) * partitioning_.bytes; }
    // A partner that has not made its request, one that has left if there is one; or this rank.
    int missing() const;

private:
    void end_epoch();

    PartitionedEngine& engine_;
    const Partitioning partitioning_;
    const Envelope envelope_;
    const RequestName name_;
    std::vector<Partner> partners_;
    std::vector<Allocations::Use> uses_;
    // Written by the rank's own thread, under the engine's lock; read by it, by threads between start() and wait(), and under the
    // lock.
    bool is_active_ = false;
    Word nth_ = 0; // epochs started
    std::exception_ptr broken_;
    std::atomic<bool> is_broken_ = false; // release: broken_ -> acquire
};

class SendState : public RequestState
{
public:
    SendState(PartitionedEngine& engine, const std::byte* buffer, Partitioning partitioning, Envelope envelope, RequestName name,
              const SendOptions& options);
    ~SendState() override;

    void pready(int partition);
    // Of so many, which are legal all or none is marked.
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
    // What a partition's mark says of the nth epoch. Before the first and between two epochs: taken in the last.
    static Word ready_in(Word nth) { return 2 * nth; }
    static Word taken_in(Word nth) { return 2 * nth + 1; }

    void begin_epoch() override {}
    void agree(std::size_t partner, const Bytes& introduction) override;
    void place(const Bytes& there) override; // the destination's end is known
    void expect_unmarked(int partition) const;
    void mark(int partition);
    void send_if_ready(int partition);
    int count_ready();

    const std::byte* buffer_;
    SignalBlock credit_;
    const Word first_epoch_; // the least: the destination chooses
    const int per_signal_;
    Window staging_; // a copy of the buffer, where a transport carries
    std::vector<ArrivalCounter<HostAtomics>> arrivals_;
    PartitionedSender<HostAtomics, Transport> core_;
    mutable std::vector<Word> marks_;        // by partition; atomic while an epoch is active
    std::atomic<bool> is_connected_ = false; // release: core_ is there -> acquire: by threads that mark partitions
    std::atomic<Word> published_ =
        0; // signals so far; release: who sees all of an epoch, with acquire, has seen all threads leave
};

class ReceiveState : public RequestState
{
public:
    ReceiveState(PartitionedEngine& engine, std::byte* buffer, Partitioning partitioning, Envelope envelope, RequestName name);
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

    std::byte* buffer_;
    SignalBlock signals_;
    PartitionedReceiver<HostAtomics, Transport> core_;
    std::atomic<bool> is_connected_ = false;
    int arrived_ = 0; // signals seen of this epoch, from the first
};

} // namespace parhelion
