// SPDX-License-Identifier: Apache-2.0
// Sums and barriers by kernels alone, over all ranks of a world or a group of some of them.
//
// The idea: every member stores its values into a slot of each other member and signals. A member that has all signals adds the
// values in the order of the group, so that all members get the same bits. It takes one block a rank and no host. Epochs are in
// device memory, so that captured work can be replayed. Every rank receives the values of all others, so this is for some
// thousand values at most.
//
// Where every rank has a GPU of its own, one kernel does it all. Where ranks share a GPU, all their sends are queued before the
// first receive. A kernel of the caller's can do the same with the parts in comm/gpu/collectives.cuh.
//
// There are two slots and no credits, as in the sums of CPU ranks: a member that has received all of epoch e + 1 knows that every
// member has read epoch e. Model: all_reduce.pml.
//
// A rank whose wait reaches its deadline leaves its values as they are; GpuWorld::check() then throws.
#pragma once

#include "comm/gpu/peer_ends.hpp"

namespace parhelion {

class GpuCollective
{
public:
    // For messages of up to `capacity` bytes, among all ranks of the world in their order, or a group of some, each once.
    GpuCollective(GpuWorld& world, const std::string& label, std::size_t capacity, Word first_epoch = 1)
        : GpuCollective(world, world.all_ranks(), label, capacity, first_epoch)
    {
    }
    GpuCollective(GpuWorld& world, std::span<const int> group, const std::string& label, std::size_t capacity,
                  Word first_epoch = 1);

    // Of a rank of the world, which is a member.
    const GpuRankEnds& ends(int rank) const { return ends_.of(rank); }
    std::size_t capacity() const { return capacity_; }
    const GpuWorld& world() const { return world_; }

private:
    std::size_t capacity_;
    const GpuWorld& world_;
    GpuPeerEnds ends_;
};

// values[i] becomes its sum over the members, or for uint32_t the bitwise or. T: double, int64_t, uint32_t, or a type of the
// caller's (comm/gpu/collectives.cuh); n values on every rank, within the capacity. A group of one: nothing. Only for a rank
// that has a GPU of its own; others use the halves.
template <class T>
void all_reduce(GpuQueue& queue, const GpuCollective& collective, int rank, T* values, int n);
// The same in two halves, for any rank; nothing may change the values in between.
template <class T>
void all_reduce_send(GpuQueue& queue, const GpuCollective& collective, int rank, const T* values, int n);
template <class T>
void all_reduce_receive(GpuQueue& queue, const GpuCollective& collective, int rank, T* values, int n);

// What is queued behind it begins after all members have reached it, and sees what their queues wrote before. Whole or in halves,
// likewise.
void barrier(GpuQueue& queue, const GpuCollective& collective, int rank);
void barrier_arrive(GpuQueue& queue, const GpuCollective& collective, int rank);
void barrier_wait(GpuQueue& queue, const GpuCollective& collective, int rank);

} // namespace parhelion
