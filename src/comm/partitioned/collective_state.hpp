// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/channel.hpp"
#include "comm/partitioned/collective_plan.hpp"
#include "comm/partitioned/engine.hpp"

namespace parhelion {

// One collective of a rank. Any thread that finds a partition free moves it on, as far as it goes without waiting: who marks it,
// and whoever of the rank waits for something.
//
// Of each partition there is a channel from a member to each that it sends to (comm/protocol.hpp). What a member has of all its
// channels lies together: slots and signals of those from one member, partition by partition, then of those from the next, and
// likewise credits. So a few numbers tell a member all it must know of another one.
class CollectiveState : public RequestState
{
public:
    CollectiveState(PartitionedEngine& engine, CollectivePlan plan, const std::byte* input, std::byte* result, RequestName name);
    ~CollectiveState() override;

    void pready(int partition);
    void pready_range(int first, int last); // all or none
    bool parrived(int partition);
    bool advance() override;
    void help() override;
    bool knows_peer() const override { return is_connected_.load(std::memory_order_acquire); }
    bool is_complete() override;
    std::string lacks() override;
    FailureRecord record(const Watch& watch) override;
    Bytes introduction(std::size_t partner) const override;

private:
    struct Link
    {
        HostSender sender;
        HostReceiver receiver;
    };
    // A partition on its way through the schedule.
    struct Partition
    {
        std::vector<Link> links;            // by place; that of this rank, and what is not needed, is unused
        std::atomic<Word> ready = 0;        // the epoch for which it has been marked; release: the input -> acquire
        std::atomic<Word> done = 0;         // the epoch whose result is there; release: the result -> acquire
        std::atomic<bool> is_taken = false; // by a thread, which has the links and `step` for itself
        std::size_t step = 0;
        std::vector<const std::byte*> terms; // of a step that is executed; kept, so that no epoch allocates
        std::vector<std::byte*> outs;
    };

    struct Late
    {
        int partition, peer;
        Awaited awaited;
    };

    // What a member tells another one: what both must ask for, and where its slots for that one are.
    struct Introduction
    {
        CollectiveTerms terms;
        Word first_epoch; // the least: the greatest of all members counts
        std::size_t slots, signals, credits;
    };
    struct Held // of this rank's arenas
    {
        Window slots, staging;
        SignalBlock signals, credits;
    };

    void begin_epoch() override {}
    void agree(std::size_t partner, const Bytes& introduction) override;
    void meet(std::size_t partner, const Bytes& introduction) override;
    void connect(); // once all members have introduced themselves
    void take_memory();
    static void give_back(PartitionedEngine& engine, const Held& held);
    Link make_link(int place, int partition, const Introduction& there) const;
    bool may_send(const Link& link) const;
    Word last_epoch() const; // the latest of all links
    std::vector<std::pair<SignalSlot*, Word>> last_credits();
    bool has_input(const Partition& partition) const;
    bool is_done(const Partition& partition) const { return partition.done.load(std::memory_order_acquire) == nth(); }
    void expect_markable(int partition) const;
    void expect_unmarked(int partition) const;
    void mark(int partition);
    void move_on(int partition); // unless another thread is at it
    Late find_late();            // what this member waits for; of its own partitions if they are not ready
    bool can_do(Partition& partition, const Step& step);
    void execute(Partition& partition, int number, const Step& step);

    const CollectivePlan plan_;
    const std::byte* const input_;
    std::byte* const result_;
    const bool takes_input_;
    const std::size_t stride_;             // of slots
    std::vector<int> sources_, sinks_;     // places
    std::vector<std::size_t> of_partners_; // places
    Held held_;
    Word first_epoch_;
    std::vector<std::optional<Introduction>> introductions_; // by place
    std::vector<Partition> partitions_;
    std::atomic<bool> is_connected_ = false;
    std::atomic<int> marking_ = 0; // threads in pready(): an epoch ends when they have left
};

} // namespace parhelion
