// SPDX-License-Identifier: Apache-2.0
// What is behind the requests of comm/partitioned/partitioned.hpp: the state of each, and the engine of a rank, which matches
// them, moves them on, and waits.
//
// How two requests find each other: the source leaves its end with the bootstrap under the names of both ranks, tag, group and
// number. The destination looks for it, and then knows how many signal slots it needs; it leaves its own end, and the source
// looks for that. Both look whenever they are called, and in every wait of their rank.
//
// What becomes of the slots of a freed request: the destination gives back its signal slots at once, as nothing is under way to
// them, and allows one more epoch, with the note that it has been freed. The source gives back its credit slot and its staging
// memory once it has seen that, as it is the last that will be written to the one, and tells that the other has been read. Epochs
// of slots that are used again go on where they were, so that a signal delivered twice does no harm.
#pragma once

#include "comm/partitioned/partitioned.hpp"
#include "comm/partitioned/protocol.hpp"
#include "comm/world.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>

namespace parhelion {

// Neighbouring signal slots of this rank, and the epoch that all of them show when nothing is under way.
struct SignalBlock
{
    std::size_t first = 0;
    int count = 0;
    Word shown = 0;
};

class RequestState
{
public:
    RequestState(PartitionedEngine& engine, Partitioning partitioning, Envelope envelope, std::string name);
    RequestState(const RequestState&) = delete;
    RequestState& operator=(const RequestState&) = delete;
    virtual ~RequestState();

    // As far as it goes without waiting. True when there is nothing more to do before the next start().
    virtual bool advance() = 0;
    // What of that any thread may do: sends what is marked.
    virtual void help() {}
    virtual bool knows_peer() const = 0; // that the other side may act on this epoch
    virtual bool is_complete() = 0;      // of the active epoch
    // What it lacks, for the text of a failure: "rank 1 to start the epoch".
    virtual std::string lacks() = 0;
    virtual FailureRecord record(const Watch& watch) = 0;

    void start();
    void pbuf_prepare();
    bool test();
    void finish(); // what wait() does

    PartitionedEngine& engine() const { return engine_; }
    const Partitioning& partitioning() const { return partitioning_; }
    const Envelope& envelope() const { return envelope_; }
    bool is_active() const { return is_active_; }
    bool is_broken() const { return broken_.has_value(); }
    Word nth() const { return nth_; }
    bool is_listed = false; // by the engine, as one that has to be moved on

    [[noreturn]] void refuse(Misuse misuse, const std::string& why) const;
    void check_partition(int partition) const;
    std::string text() const; // for people

protected:
    virtual void begin_epoch() = 0;
    void break_off(Misuse misuse, std::string why); // this request is of no more use: its calls tell why
    void expect_whole() const;
    std::size_t total_bytes() const { return static_cast<std::size_t>(partitioning_.partitions) * partitioning_.bytes; }
    const std::string& name() const { return name_; }

private:
    void end_epoch();

    PartitionedEngine& engine_;
    const Partitioning partitioning_;
    const Envelope envelope_;
    const std::string name_; // of both sides, for the bootstrap
    // Written by the rank's own thread, under the engine's lock; read by it, by threads between start() and wait(), and under the
    // lock.
    bool is_active_ = false;
    Word nth_ = 0; // epochs started
    std::optional<std::pair<Misuse, std::string>> broken_;
};

class SendState : public RequestState
{
public:
    SendState(PartitionedEngine& engine, const std::byte* buffer, Partitioning partitioning, Envelope envelope, std::string name,
              const SendOptions& options);
    ~SendState() override;

    void pready(int partition);
    bool advance() override;
    void help() override;
    bool knows_peer() const override { return is_connected_.load(std::memory_order_acquire) && core_.is_prepared(nth()); }
    bool is_complete() override;
    std::string lacks() override;
    FailureRecord record(const Watch& watch) override;

private:
    // What a partition's mark says of the nth epoch. Before the first and between two epochs: taken in the last.
    static Word ready_in(Word nth) { return 2 * nth; }
    static Word taken_in(Word nth) { return 2 * nth + 1; }

    void begin_epoch() override {}
    bool connect(); // true once the destination's end is known
    bool may_write() const;
    void send_if_ready(int partition);
    int count_ready();

    const std::byte* buffer_;
    SignalBlock credit_;
    const Word first_epoch_; // the least: the destination chooses
    const int per_signal_;
    Window staging_;
    std::vector<ArrivalCounter<HostAtomics>> arrivals_;
    PartitionedSender<HostAtomics, Transport> core_;
    std::vector<Word> marks_;                // by partition; atomic while an epoch is active
    std::atomic<bool> is_connected_ = false; // release: core_ is there -> acquire: by threads that mark partitions
    std::atomic<Word> published_ =
        0; // signals so far; release: who sees all of an epoch, with acquire, has seen all threads leave
};

class ReceiveState : public RequestState
{
public:
    ReceiveState(PartitionedEngine& engine, std::byte* buffer, Partitioning partitioning, Envelope envelope, std::string name);
    ~ReceiveState() override;

    bool parrived(int partition);
    bool advance() override { return is_broken() || connect(); }
    bool knows_peer() const override { return is_connected_.load(std::memory_order_acquire); }
    bool is_complete() override;
    std::string lacks() override;
    FailureRecord record(const Watch& watch) override;

private:
    void begin_epoch() override;
    bool connect();

    std::byte* buffer_;
    SignalBlock signals_;
    PartitionedReceiver<HostAtomics, Transport> core_;
    std::atomic<bool> is_connected_ = false;
    int arrived_ = 0; // signals seen of this epoch, from the first
};

class PartitionedEngine
{
public:
    PartitionedEngine(World& world, int rank) : world_(world), rank_(rank), owner_(std::this_thread::get_id()) {}

    World& world() const { return world_; }
    int rank() const { return rank_; }
    const Watch& watch() const { return world_.watch(rank_); }
    // How many requests with this envelope there have been before.
    int next_number(const Envelope& envelope, bool is_send);
    // The name of the next request with this envelope.
    std::string next_name(const Envelope& envelope, bool is_send);

    void list(RequestState& state);
    void forget(RequestState& state);
    // Moves all listed requests on: as far as they go by the rank's own thread, which alone matches requests, since that takes
    // slots and memory; sends what is marked by any other.
    void advance();
    // Held while a request is listed or unlisted, moved on, or begins or ends an epoch.
    std::mutex& mutex() { return mutex_; }
    // Until done() is true, at the longest for the deadline; `state` tells what it lacked.
    template <class Done>
    void wait_until(RequestState& state, Done&& done);

    SignalBlock take_signals(int count, Word shown); // which show `shown`, or an earlier epoch if they have been used before
    void give_back(const SignalBlock& block) { free_signals_[block.count].push_back(block); }
    // A freed send request: until its destination has been freed as well, which it tells by a credit for `last`.
    void retire(const SignalBlock& credit, Window staging, Word last) { retired_.push_back({credit, staging, last}); }
    void settle_retired();

private:
    struct Retired
    {
        SignalBlock credit;
        Window staging;
        Word last;
    };

    World& world_;
    int rank_;
    std::map<std::tuple<int, int, std::string, bool>, int> made_; // requests, by peer, tag, group and side
    const std::thread::id owner_;
    std::mutex mutex_; // of listed_, and of who is active
    std::vector<RequestState*> listed_;
    std::map<int, std::vector<SignalBlock>> free_signals_; // by how many
    std::vector<Retired> retired_;
};

} // namespace parhelion
