// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/partitioned/collective_plan.hpp"
#include "comm/partitioned/engine.hpp"
#include "comm/world/channel.hpp"

namespace parhelion {

// One rank's side of a collective. Any thread that finds a partition free executes its steps as far as possible without
// waiting. These are threads that mark partitions, and threads of this rank that wait for any of its requests.
//
// For each partition there is a channel from a member to every member that it sends to (comm/core/protocol.hpp). The payload
// slots and signal slots of all channels to a member lie together: first those from one source, by partition, then those from
// the next source. Credit slots are ordered in the same way. So a few numbers describe the slots to another member.
class CollectiveState : public RequestState
{
public:
    CollectiveState(PartitionedEngine& engine, CollectivePlan plan, const std::byte* input, std::byte* result, RequestName name);
    ~CollectiveState() override;

    void pready(int partition);
    void pready_range(int first, int last); // marks all partitions of the range, or none on an error
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
    // The progress of one partition through the schedule.
    struct Partition
    {
        std::vector<Link> links;            // channels by the other member's place; unused for this rank and where no messages go
        std::atomic<Word> ready = 0;        // the last epoch for which the input was marked; stored with release, after the input
        std::atomic<Word> done = 0;         // the last epoch whose result is complete; stored with release, after the result
        std::atomic<bool> is_taken = false; // true while a thread has the partition; only this thread uses the links and `step`
        std::size_t step = 0;
        std::vector<const std::byte*> terms; // addresses of the terms of the executing step; kept, so that no epoch allocates
        std::vector<std::byte*> outs;
    };

    struct Late
    {
        int partition, peer;
        Awaited awaited;
    };

    // The message by which a member introduces itself: its arguments, and where its slots for the other member are.
    struct Introduction
    {
        CollectiveTerms terms;
        Word first_epoch; // least epoch that this member can use; all members use the greatest of these
        std::size_t slots, signals, credits;
    };
    struct Held // memory that this rank has taken from its own arenas
    {
        Window slots, staging;
        SignalBlock signals, credits;
    };

    void begin_epoch() override {}
    void agree(std::size_t partner, const Bytes& introduction) override;
    void meet(std::size_t partner, const Bytes& introduction) override;
    void connect(); // makes the links once all members have introduced themselves
    void take_memory();
    static void give_back(PartitionedEngine& engine, const Held& held);
    Link make_link(int place, int partition, const Introduction& there) const;
    bool may_send(const Link& link) const;
    Word last_epoch() const; // the latest epoch of all links
    std::vector<std::pair<SignalSlot*, Word>> last_credits();
    bool has_input(const Partition& partition) const;
    bool is_done(const Partition& partition) const { return partition.done.load(std::memory_order_acquire) == nth(); }
    void expect_markable(int partition) const;
    void expect_unmarked(int partition) const;
    void mark(int partition);
    void move_on(int partition); // does nothing while another thread moves the partition on
    Late find_late();            // returns the member that this one waits for; itself, if its own partitions are not ready
    bool can_do(Partition& partition, const Step& step);
    void execute(Partition& partition, int number, const Step& step);

    const CollectivePlan plan_;
    const std::byte* const input_;
    std::byte* const result_;
    const bool takes_input_;
    const std::size_t stride_;             // bytes from one slot to the next
    std::vector<int> sources_, sinks_;     // places of members that send to this one; places of members that it sends to
    std::vector<std::size_t> of_partners_; // place in the group of each partner
    Held held_;
    Word first_epoch_;
    std::vector<std::optional<Introduction>> introductions_; // introductions of members, by place
    std::vector<Partition> partitions_;
    std::atomic<bool> is_connected_ = false;
    std::atomic<int> marking_ = 0; // number of threads in pready(); an epoch ends only when it is 0
};

} // namespace parhelion
