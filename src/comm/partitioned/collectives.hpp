// SPDX-License-Identifier: Apache-2.0
// Partitioned collectives: all-reduce, all-gather, reduce-scatter and broadcast. Threads mark partitions of the input ready one
// by one, and read partitions of the result one by one. Start, wait, test, threads and progress follow the rules of
// comm/partitioned/partitioned.hpp: while a rank waits for any request, all requests of the rank advance.
//
//   CollectiveRequest sum = pallreduce_init(partitioned, input, result, {ElementType::Double, 8, 1000}, Reduction::Sum);
//   sum.start(); ... fill input partition i; sum.pready(i); ... if (sum.parrived(j)) { read result partition j } ... sum.wait();
//
// Buffers.   Buffers may be anywhere in this rank's memory, aligned to their elements. A result partition may be written from
//            this rank's pready of it on, until wait() returns. Result and input may share one buffer. The input of an
//            all-gather is then this member's block of the result; the result of a reduce-scatter is any block of the input.
// Matching.  The nth collective with the same members and group matches the nth such collective of every other member.
//            All members call in the same order.
//            The arguments of matching calls are the same, except for the buffers.
// Bits.      All members get the same bits, in every run. The order of terms depends on the algorithm, the number of members and
//            the place in the buffer, never on arrival times. Each member may mark its partitions in an order of its own.
//
// Every partition goes through a schedule (comm/partitioned/schedule.hpp) by itself, over channels of its own with credits. Cost:
// at the receiver, per partition and peer, two slots of the largest chunk, held until all members have freed the collective.
#pragma once

#include "comm/partitioned/partitioned.hpp"
#include "comm/partitioned/reduction.hpp"
#include "comm/partitioned/schedule.hpp"

#include <string>
#include <vector>

namespace parhelion {

// The type and number of a buffer's elements: `partitions` partitions of `count` elements each. In a broadcast and an
// all-reduce they are those of both buffers. In an all-gather they are the input's, in a reduce-scatter the result's; the other
// buffer has such a block for each member. The type Byte is for all-gathers and broadcasts only.
struct Elements
{
    ElementType type;
    int partitions;
    std::size_t count;
};

struct CollectiveOptions
{
    std::vector<int> members{}; // ranks, with this one, in the order of blocks and chunks; empty: all ranks
    Algorithm algorithm = Algorithm::Automatic;
    Word first_epoch = 1; // first epoch of the channels; for tests of counters that wrap around
    std::string group{};  // collectives of different groups never match, as with an Envelope
};

class CollectiveState;

class CollectiveRequest : public PartitionedRequest
{
public:
    CollectiveRequest() = default;
    // Marks this rank's input partition as complete, exactly once per epoch. In a broadcast only the root has an input.
    void pready(int partition);
    void pready_range(int first, int last); // marks first, last and all between
    // Returns whether this partition of the result may be read, until the next start(). True if the request is null or inactive.
    bool parrived(int partition) const;

private:
    friend class CollectiveMaker;
    explicit CollectiveRequest(std::unique_ptr<CollectiveState> state);
    CollectiveState& collective() const;
};

// These functions make the request of one member of a collective, and return at once. They throw PartitionedError.
CollectiveRequest pallreduce_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                  Reduction reduction, const CollectiveOptions& options = {});
CollectiveRequest preduce_scatter_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                       Reduction reduction, const CollectiveOptions& options = {});
CollectiveRequest pallgather_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                  const CollectiveOptions& options = {});
// Makes a member's request of a broadcast. `root` is the place of the broadcast's root among the members.
CollectiveRequest pbroadcast_init(Partitioned& partitioned, void* buffer, const Elements& elements, int root,
                                  const CollectiveOptions& options = {});

} // namespace parhelion
