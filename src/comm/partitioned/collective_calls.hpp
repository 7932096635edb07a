// SPDX-License-Identifier: Apache-2.0
// Collectives of whole buffers, one call each. All members of a group make the call. A call returns when this member has its
// whole result and may change its buffers. Buffers that are produced in pieces, or that many collectives use, have a faster
// interface in comm/partitioned/collectives.hpp.
//
//   CollectiveCalls all(partitioned);
//   all.allreduce(input, result, {ElementType::Double, 1000}, Reduction::Sum);
//
// Matching.  The nth call of a member matches the nth call of every other member of the group. Kind, type, reduction, count and
//            root must be equal. If they differ, all members get a PartitionedError (BadArgument) that names both sides. Then
//            nothing has been written, and the ranks may continue.
// Buffers.   Buffers may be anywhere in this rank's memory, aligned to their elements. A buffer that a member does not use may be
//            null. Input and result must not overlap, except where a comment allows it.
// Meeting.   No member returns before all members have called.
// Bits.      Terms are combined in the order of the group. Neither the transport nor the count nor the order of arrival changes
//            results. Numbers of 16 bits are combined as floats and rounded once.
// Waits are bounded: CommError if the deadline passes, LostRank if a member has ended, PeerAborted if another rank has stopped
// the run. Calls that break the rules throw PartitionedError and change nothing; the others then wait for this rank.
//
// Cost: a message to each other member and one from each, which also carries up to 64 KiB of data. Memory: memory_of().
#pragma once

#include "comm/partitioned/partitioned.hpp"
#include "comm/partitioned/reduction.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace parhelion {

class CallRunner; // comm/partitioned/call_runner.hpp

// Type and number of the elements that a member sends to each member, or gets from each.
struct ElementBlock
{
    ElementType type;
    std::size_t count;
};

// The lengths and the offsets of the members' blocks in a buffer, in elements, indexed by place.
struct BlockTable
{
    std::span<const std::size_t> counts, offsets;
};

// The collective calls of a rank as a member of a group. Only one thread may use it at a time. `partitioned` must outlive it.
class CollectiveCalls
{
public:
    // members: ranks in the order of blocks and terms, this rank included; empty: all ranks. Calls of groups with different
    // names never match. Throws PartitionedError.
    explicit CollectiveCalls(Partitioned& partitioned, std::vector<int> members = {}, const std::string& group = "");
    CollectiveCalls(CollectiveCalls&&) noexcept;
    CollectiveCalls& operator=(CollectiveCalls&&) noexcept;
    ~CollectiveCalls();

    // Returns when all members have called it. All that they wrote before the call is then visible.
    void barrier();
    // Returns the argument `mine` of every member, indexed by place.
    std::vector<std::array<int, 2>> split(std::array<int, 2> mine);

    // In allreduce(), reduce(), scan() and exclusive_scan() input and result may be the same buffer.
    void allreduce(const void* input, void* result, const ElementBlock& block, Reduction reduction);
    // root: the place of the member that gets the result.
    void reduce(const void* input, void* result, const ElementBlock& block, Reduction reduction, int root);
    // The input has a block for each member. The result is this member's block; its buffer may be any block of the input.
    void reduce_scatter(const void* input, void* result, const ElementBlock& block, Reduction reduction);
    // Combines the terms of the members up to this one.
    void scan(const void* input, void* result, const ElementBlock& block, Reduction reduction);
    // Combines the terms of the members before this one. The first member's result buffer is not changed.
    void exclusive_scan(const void* input, void* result, const ElementBlock& block, Reduction reduction);

    // In the next three calls the smaller buffer may be this member's block of the larger one.
    void allgather(const void* input, void* result, const ElementBlock& block);
    void gather(const void* input, void* result, const ElementBlock& block, int root);
    void scatter(const void* input, void* result, const ElementBlock& block, int root);
    void broadcast(void* buffer, const ElementBlock& block, int root);
    // Sends block m of the input to member m. Input and result have a block for each member.
    void alltoall(const void* input, void* result, const ElementBlock& block);

    // In the next three calls each member has its own counts. Both sides give a block's length. Blocks of a result are disjoint.
    void gather_v(const void* input, const ElementBlock& mine, void* result, const BlockTable& blocks, int root);
    void scatter_v(const void* input, const BlockTable& blocks, void* result, const ElementBlock& mine, int root);
    void alltoall_v(const void* input, const BlockTable& inputs, void* result, const BlockTable& results, ElementType type);

    // Returns the number of bytes of a rank's symmetric memory that calls among `ranks` ranks take: for slots of messages from
    // each rank and, if the transport copies messages from slots, also for slots of messages to each rank.
    static std::size_t memory_of(int ranks);

private:
    void scan_terms(const void* input, void* result, const ElementBlock& block, Reduction reduction, bool includes_own);

    std::unique_ptr<CallRunner> runner_;
};

} // namespace parhelion
