// SPDX-License-Identifier: Apache-2.0
// Collectives as data. A schedule is what one member of a group of ranks does for one partition, step by step; threads
// (comm/partitioned/collectives.hpp) and kernels (comm/partitioned/gpu/collectives_gpu.hpp) execute the same one.
//
// A partition is cut into chunks. A step combines, for one chunk, terms in their order: messages of other members, and this
// member's own input. The result goes to other members, or becomes the chunk of this member's result, or both. A step of one term
// copies. Temucin et al. (GPU-initiated MPI partitioned communication, section IV-B) write a step as (I, R, op, O, A): incoming
// neighbours, what to send, operation, outgoing neighbours, what has arrived. Here R and A are the chunk, and I is ordered.
//
// What a schedule must keep, and tests/comm/partitioned/schedule_test.cpp proves for all algorithms and group sizes:
//   - the kth message from a to b is the kth that b takes from a, and of the same chunk;
//   - every chunk of a result combines each member's input once, in an order that is the same wherever it becomes a result:
//     all members get the same bits;
//   - no chunk of the result is written before this member has read its own input of it: a buffer may be both;
//   - members that execute their steps in order, a step whole or not yet, come to the end with two slots a channel or more.
// Models of what channels add, epoch after epoch: collective_ring.pml and collective_direct.pml.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parhelion {

enum class Collective : std::uint8_t
{
    AllReduce,     // every member gets the reduction of all inputs
    AllGather,     // every member gets all inputs, in the order of the group
    ReduceScatter, // member m gets block m of the reduction
    Broadcast      // every member gets the root's input
};

enum class Algorithm : std::uint8_t
{
    Automatic,
    OneShot, // everybody sends to everybody who needs it: fewest steps
    TwoShot, // of an all-reduce alone: each member reduces a chunk and sends it to all: fewest bytes without going round
    Ring     // each member sends to the next alone: 2 (members - 1) steps of an all-reduce
};

struct Step
{
    int chunk;
    int first_term, terms; // in Schedule::terms; at least one
    int first_out, outs;   // in Schedule::outs
    bool is_kept;          // becomes the chunk of the result
};

struct Schedule
{
    int members;
    int place;  // of the member whose it is, in the group
    int chunks; // of a partition
    std::vector<Step> steps;
    std::vector<int> terms; // places: whose message; `place` itself: the input
    std::vector<int> outs;  // places

    bool takes_input() const;
};

// Throws ContractError if the algorithm does not exist for the collective, or is Automatic. `root` is of a broadcast.
Schedule make_schedule(Collective collective, Algorithm algorithm, int members, int place, int root = 0);
// The algorithm for so many bytes a partition, the same for all members.
Algorithm choose_algorithm(Collective collective, int members, std::size_t partition_bytes);
bool exists(Collective collective, Algorithm algorithm);

struct Extent
{
    std::size_t begin, count; // in elements
};

// Where the chunks of partitions are in a buffer. Of an all-reduce and a broadcast a partition is cut into chunks. Of the others
// a chunk is the partition of one member's block.
struct ChunkLayout
{
    std::size_t count;  // elements of a partition
    int cuts;           // chunks of a cut partition; 1: chunks are blocks
    std::size_t stride; // from block to block; 0: there is one block alone

    // Cuts are multiples of this many elements, so that chunks are aligned like the partition for wide loads and stores.
    static constexpr std::size_t grain = 8;

    PARHELION_HD Extent extent(int partition, int chunk) const
    {
        const std::size_t begin = static_cast<std::size_t>(partition) * count;
        if (cuts == 1) { return {begin + static_cast<std::size_t>(chunk) * stride, count}; }
        const std::size_t from = cut(chunk), to = cut(chunk + 1);
        return {begin + from, to - from};
    }
    // Elements of the largest chunk.
    std::size_t largest() const { return cuts == 1 ? count : cut_size(); }

private:
    PARHELION_HD std::size_t cut_size() const
    {
        const std::size_t grains = (count + grain - 1) / grain, n = static_cast<std::size_t>(cuts);
        const std::size_t size = (grains + n - 1) / n * grain;
        return size < count ? size : count;
    }
    PARHELION_HD std::size_t cut(int chunk) const
    {
        const std::size_t at = static_cast<std::size_t>(chunk) * cut_size();
        return at < count ? at : count;
    }
};

struct Layouts
{
    ChunkLayout input, result;
};
// Of `partitions` partitions of `count` elements each.
Layouts layouts_of(Collective collective, const Schedule& schedule, int partitions, std::size_t count);

} // namespace parhelion
