// SPDX-License-Identifier: Apache-2.0
// Sums and barriers that kernels carry out without a host, over all ranks of a world or over a group of ranks.
//
// The idea: every member stores its values into a slot of each other member and signals. A member that has all signals adds the
// values in the order of the group, so that all members get the same bits. Each rank needs one block, and no host. Epochs are
// in device memory, so that captured work can be replayed. Every rank receives the values of all others, so a sum is for some
// thousand values at most.
//
// If every rank has its own GPU, one kernel does the whole sum or barrier. If ranks share a GPU, all their sends are queued
// before the first receive. A caller's kernel can sum, too, with the functions of comm/gpu/collectives.cuh.
//
// Each pair of members has two slots and no credits, as in the sums of CPU ranks: a member that has received all of epoch e + 1
// knows that every member has read epoch e. Model: tests/comm/models/all_reduce.pml.
//
// If the wait of a rank reaches its deadline, the rank leaves its values unchanged, and GpuWorld::check() throws.
#pragma once

#include "comm/gpu/peer_ends.hpp"

namespace parhelion {

class GpuCollective
{
public:
    // Makes a collective for messages of up to `capacity` bytes, among all ranks of the world in their order, or among `group`.
    GpuCollective(GpuWorld& world, const std::string& label, std::size_t capacity, Word first_epoch = 1)
        : GpuCollective(world, world.all_ranks(), label, capacity, first_epoch)
    {
    }
    GpuCollective(GpuWorld& world, std::span<const int> group, const std::string& label, std::size_t capacity,
                  Word first_epoch = 1);

    // Returns a member's ends of the channels to its peers.
    const GpuRankEnds& ends(int rank) const { return ends_.of(rank); }
    std::size_t capacity() const { return capacity_; }
    const GpuWorld& world() const { return world_; }

private:
    std::size_t capacity_;
    const GpuWorld& world_;
    GpuPeerEnds ends_;
};

// Replaces values[i] by its sum over the members, or for uint32_t by the bitwise or. T is double, int64_t, uint32_t, or a type
// of the caller's (comm/gpu/collectives.cuh). Every rank has n values, which must fit into the capacity. In a group of one rank
// nothing is done. This call is for a rank with its own GPU; other ranks use the two halves below.
template <class T>
void all_reduce(GpuQueue& queue, const GpuCollective& collective, int rank, T* values, int n);
// all_reduce_send() and all_reduce_receive() are the halves of all_reduce(), for any rank. Do not change the values between them.
template <class T>
void all_reduce_send(GpuQueue& queue, const GpuCollective& collective, int rank, const T* values, int n);
template <class T>
void all_reduce_receive(GpuQueue& queue, const GpuCollective& collective, int rank, T* values, int n);

// A barrier delays work queued after it until all members have reached it; then that work sees what their queues wrote before.
// barrier() is for a rank with its own GPU. barrier_arrive() and barrier_wait() are its halves, for any rank.
void barrier(GpuQueue& queue, const GpuCollective& collective, int rank);
void barrier_arrive(GpuQueue& queue, const GpuCollective& collective, int rank);
void barrier_wait(GpuQueue& queue, const GpuCollective& collective, int rank);

} // namespace parhelion
