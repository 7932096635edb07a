// SPDX-License-Identifier: Apache-2.0
// Executes collectives of one call for a member of a group. The first message to each other member has this member's terms and
// the first data for that member. A member sends nothing else before it has the first messages of all members. If their terms
// differ, every member sees this and throws the same error, and the channels are in the same state as before the call.
//
// Messages travel in chunks through channels between each two ranks, which all groups share. This is safe because a rank executes
// its calls one by one, and each call receives all its messages. While a member waits, the rank's requests continue. There is no
// deadlock: the member with the earliest chunk of all can send it, since its slots have been read, and can then combine it.
#pragma once

#include "comm/partitioned/call_plan.hpp"
#include "comm/partitioned/engine.hpp"

#include <string>
#include <vector>

namespace parhelion {

class CallRunner
{
public:
    // members: empty means all ranks. Throws PartitionedError if this rank is not a member, or for a wrong list of members.
    CallRunner(PartitionedEngine& engine, std::vector<int> members, const std::string& group);

    PartitionedEngine& engine() { return engine_; }
    int place() const { return place_; }
    int members() const { return static_cast<int>(members_.size()); }
    // Returns a plan without rounds, to be filled in for run(). Only the thread that has the rank's turn may call this.
    CallPlan& plan(const CallTerms& terms);
    Round& add_round();
    // Executes the plan. Throws PartitionedError if the terms of the members differ.
    void run();

private:
    CallPeer& peer(std::size_t place) { return *peers_[place]; }
    template <class Act>
    void for_peers(Act&& act);
    void open_channels();
    void write_header();
    void meet();
    void expect_agreement();
    [[noreturn]] void refuse(const std::string& why);
    CallTerms terms_of(std::size_t place);
    std::uint64_t count_of(std::size_t place, std::size_t index); // returns an element of a member's CallPlan::counts
    std::string text_of(std::size_t place);

    void run_round(const Round& round);
    // Each returns true if it has sent, taken or combined any bytes.
    bool send(CallPeer& peer, const Round::Source& source);
    bool take(CallPeer& peer, const Round::Target& target);
    bool combine(const Round& round);

    struct Moved
    {
        bool is_done = true, has_moved = false;
    };
    struct Missing
    {
        std::size_t place;
        bool is_message; // true: a message is missing; false: a free slot
    };
    // Calls advance() until it is done. Gives up if it has not moved any bytes for as long as the deadline.
    template <class Advance, class WhatIsMissing>
    void wait_until(Advance&& advance, WhatIsMissing&& what_is_missing);
    [[noreturn]] void give_up(const Missing& missing, bool has_expired);
    FailureRecord record_of(const Missing& missing) const;

    PartitionedEngine& engine_;
    std::vector<int> members_;
    int place_;
    std::uint64_t group_;
    CallPlan plan_;
    std::size_t rounds_ = 0;              // rounds of the plan; plan_.rounds may be longer, from earlier plans
    Bytes header_;                        // header of the first message to each member
    std::vector<CallPeer*> peers_;        // indexed by place; null for this rank; opened by the first call
    std::size_t combined_ = 0;            // number of bytes of the round's result that are complete
    std::vector<const std::byte*> terms_; // addresses of the terms to combine; a member, so that calls do not allocate
};

} // namespace parhelion
