// SPDX-License-Identifier: Apache-2.0
// Collectives as data. A schedule lists the steps of one member of a group of ranks for one partition. Threads
// (comm/partitioned/collectives.hpp) and kernels (comm/partitioned/gpu/collectives_gpu.hpp) execute the same schedule.
//
// A partition is cut into chunks. A step combines the terms of one chunk in their order; a term is a message of another member or
// this member's own input. The step's result goes to other members, or into this member's result buffer, or both. A step of one
// term copies. Temucin et al. (GPU-initiated MPI partitioned communication, section IV-B) write a step as (I, R, op, O, A):
// incoming neighbours, data to send, operation, outgoing neighbours, arrived data. Here R and A are the chunk, and I is ordered.
//
// Rules of a schedule, which tests/comm/partitioned/schedule_test.cpp proves for all algorithms and group sizes:
//   - the kth message from a to b is the kth that b takes from a, and has the same chunk;
//   - every chunk of a result combines each member's input once; the order is the same on all members that keep the chunk,
//     so that they all get the same bits;
//   - no chunk of the result is written before this member has read its own input of it, so that one buffer may be both;
//   - members that execute their steps in order, each step as a whole, reach the end with two or more slots per channel.
// Models of what channels add from epoch to epoch: collective_ring.pml and collective_direct.pml.
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
    OneShot, // each member sends to every member that needs its data; has the fewest steps
    TwoShot, // all-reduce only: each member reduces a chunk and sends it to all; has the fewest bytes except for a ring
    Ring     // each member sends only to the next one; an all-reduce has 2 (members - 1) steps
};

struct Step
{
    int chunk;
    int first_term, terms; // a range of Schedule::terms; at least one
    int first_out, outs;   // a range of Schedule::outs
    bool is_kept;          // true: the chunk is written to the result
};

struct Schedule
{
    int members;
    int place;  // place of this member in the group
    int chunks; // number of chunks of a partition
    std::vector<Step> steps;
    std::vector<int> terms; // places of the members whose messages are the terms; `place` means the own input
    std::vector<int> outs;  // places of the members that get the step's result

    bool takes_input() const;
};

// Returns a member's schedule. Throws ContractError if the collective has no such algorithm. Only a broadcast uses `root`.
Schedule make_schedule(Collective collective, Algorithm algorithm, int members, int place, int root = 0);
// Returns the algorithm for partitions of this many bytes, the same algorithm on all members.
Algorithm choose_algorithm(Collective collective, int members, std::size_t partition_bytes);
bool exists(Collective collective, Algorithm algorithm);

struct Extent
{
    std::size_t begin, count; // first element, and number of elements
};

// The positions of chunks in a buffer. In an all-reduce and a broadcast a partition is cut into chunks. In the other collectives
// a chunk is the partition of one member's block.
struct ChunkLayout
{
    std::size_t count;  // number of elements of a partition
    int cuts;           // number of chunks into which a partition is cut; 1: a chunk is one block's partition
    std::size_t stride; // elements from one block to the next; 0: there is only one block

    // Chunks begin at multiples of this many elements. So they are aligned like the partition, for wide loads and stores.
    static constexpr std::size_t grain = 8;

    PARHELION_HD Extent extent(int partition, int chunk) const
    {
        const std::size_t begin = static_cast<std::size_t>(partition) * count;
        if (cuts == 1) { return {begin + static_cast<std::size_t>(chunk) * stride, count}; }
        const std::size_t from = cut(chunk), to = cut(chunk + 1);
        return {begin + from, to - from};
    }
    // Returns the elements of the largest chunk.
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
// Returns the layouts of input and result, for `partitions` partitions of `count` elements each.
Layouts layouts_of(Collective collective, const Schedule& schedule, int partitions, std::size_t count);

} // namespace parhelion
