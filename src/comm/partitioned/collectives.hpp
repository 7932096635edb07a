// SPDX-License-Identifier: Apache-2.0
// Partitioned collectives: all-reduce, all-gather, reduce-scatter and broadcast whose members' threads mark input partitions
// ready one by one, and read result partitions one by one. Requests as those of comm/partitioned/partitioned.hpp, whose rules for
// start, wait, test, threads and progress hold here, too: while a rank waits for any request, all of them go on.
//
//   CollectiveRequest sum = pallreduce_init(partitioned, input, result, {ElementType::Double, 8, 1000}, Reduction::Sum);
//   sum.start(); ... fill input partition i; sum.pready(i); ... if (sum.parrived(j)) { read result partition j } ... sum.wait();
//
// Buffers.   Anywhere in this rank's memory, aligned to their elements. A partition of the result may be written from this rank's
//            pready of it on, until wait() returns. Result and input may be one buffer: of an all-gather the input then is this
//            member's block of the result, of a reduce-scatter the result is any block of the input.
// Matching.  The nth collective of a rank and these members is the nth of the others: all call in one order, with the same
//            arguments but for buffers.
// Bits.      All members get the same bits, in every run. The order of terms depends on the algorithm, the number of members and
//            the place in the buffer, never on who comes first. Partitions may be marked in any order, other on each member.
//
// Every partition goes through a schedule (comm/partitioned/schedule.hpp) by itself, over channels of its own with credits. Cost:
// for each partition and peer two slots of the largest chunk at the receiver, taken for the life of the world.
#pragma once

#include "comm/partitioned/partitioned.hpp"
#include "comm/partitioned/reduction.hpp"
#include "comm/partitioned/schedule.hpp"

#include <vector>

namespace parhelion {

// So many partitions of `count` elements each: of a broadcast's and an all-reduce's buffers, of an all-gather's input (its result
// has such a block for each member) and of a reduce-scatter's result (its input has). Bytes: of all-gathers and broadcasts.
struct Elements
{
    ElementType type;
    int partitions;
    std::size_t count;
};

struct CollectiveOptions
{
    std::vector<int> members{}; // ranks, this one among them, in the order of blocks and chunks; empty: all ranks
    Algorithm algorithm = Algorithm::Automatic;
    Word first_epoch = 1; // of channels: for tests, of what comes when counters wrap
};

class CollectiveState;

class CollectiveRequest : public PartitionedRequest
{
public:
    CollectiveRequest() = default;
    // This rank's input partition is complete: each exactly once an epoch. Of a broadcast the root alone has an input.
    void pready(int partition);
    void pready_range(int first, int last); // both included
    // May this partition of the result be read? Stays true until the next start(); true for a null or inactive request.
    bool parrived(int partition) const;

private:
    friend class CollectiveMaker;
    explicit CollectiveRequest(std::unique_ptr<CollectiveState> state);
    CollectiveState& collective() const;
};

// All return at once. Throw PartitionedError.
CollectiveRequest pallreduce_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                  Reduction reduction, const CollectiveOptions& options = {});
CollectiveRequest preduce_scatter_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                       Reduction reduction, const CollectiveOptions& options = {});
CollectiveRequest pallgather_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                  const CollectiveOptions& options = {});
// root: a place among the members.
CollectiveRequest pbroadcast_init(Partitioned& partitioned, void* buffer, const Elements& elements, int root,
                                  const CollectiveOptions& options = {});

} // namespace parhelion
