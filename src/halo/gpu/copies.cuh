// SPDX-License-Identifier: Apache-2.0
// GpuCopies in a kernel: load, await, add and store per atom, end.
#pragma once

#include "device/gpu/warp.cuh"
#include "halo/gpu/copies.hpp"
#include "halo/gpu/message.cuh"

namespace parhelion {

// The copies of an atom; without an atom, none. The first is loaded with the number: most atoms have one at most. In a run that
// has failed already there may be more than messages, for which the table has no room: whoever loads the number leaves it at
// that.
template <class N>
struct AtomCopies
{
    std::int32_t count = 0;
    Copy<N> first{};
};
template <class N>
__device__ AtomCopies<N> load_copies(const CopyTask<N>& task, std::int32_t slot, bool is_there = true)
{
    if (task.copies.count == 0) { return {}; }
    AtomCopies<N> copies{min(task.copies.copies_of_slot[slot], task.copies.count), task.copies.copies[slot]};
    if (!is_there) { copies.count = 0; }
    return copies;
}

// The same in two steps: on its way into shared memory, where each thread has a place; and taken from there, once it is there.
template <class N, int threads>
class CopiesAhead
{
public:
    // begin_copy(to, from): of an element, to this thread's place.
    template <class BeginCopy>
    __device__ void fetch(const CopyTask<N>& task, std::int32_t slot, BeginCopy&& begin_copy)
    {
        if (task.copies.count == 0) { return; }
        begin_copy(first_, task.copies.copies[slot]);
        begin_copy(count_, task.copies.copies_of_slot[slot]);
    }
    __device__ AtomCopies<N> take(const CopyTask<N>& task, bool is_there) const
    {
        const int most = task.copies.count;
        AtomCopies<N> copies;
        if (is_there && most > 0) { copies = {min(count_[threadIdx.x], most), first_[threadIdx.x]}; }
        return copies;
    }

private:
    Copy<N> first_[threads];
    std::int32_t count_[threads];
};

// body(copy) for the copies behind the first.
template <class N, class Body>
__device__ void for_each_further_copy(const CopyTask<N>& task, std::int32_t slot, const AtomCopies<N>& of_atom, Body&& body)
{
#pragma unroll 1
    for (std::int32_t k = 1; k < of_atom.count; ++k) // few have any
    {
        body(task.copies.copies[static_cast<std::size_t>(k) * task.copies.capacity + static_cast<std::size_t>(slot)]);
    }
}

// The messages of forces, as the lanes of a warp await them. Where to look is found out when it is made, beside other loads.
template <class N>
class ReturnedForces
{
public:
    __device__ explicit ReturnedForces(const CopyTask<N>& task) : task_(task)
    {
        if (awaits(lane_)) { first_ = task.copies.messages[lane_].f_receive; }
    }

    // For all lanes, before the add_returned_forces() of one of them whose atom has copies: all messages, so that none of theirs
    // is stored into before its reader is done. Where no atom has copies nobody waits: nothing comes back, nothing is stored.
    // They are awaited once.
    __device__ void await()
    {
        if (are_here_) { return; }
        are_here_ = true;
        const GpuCopies<N>& c = task_.copies;
        for (int k = lane_; awaits(k); k += 32)
        {
            if (k == lane_ && first_.has_arrived()) { continue; }
            c.messages[k].f_receive.wait_arrived(*c.watch);
        }
        warp_barrier(); // rule M2, of a warp. After a wait in vain, which the world knows of, the run goes on with what is there.
    }

private:
    __device__ bool awaits(int message) const { return task_.adds_forces && message < task_.copies.count; }

    const CopyTask<N>& task_;
    int lane_ = static_cast<int>(threadIdx.x) % 32;
    bool are_here_ = false;
    GpuReceiver first_;
};

// Adds to f the forces that came back for the atom.
template <class N>
__device__ void add_returned_forces(const CopyTask<N>& task, std::int32_t slot, const AtomCopies<N>& copies, ForceSlot<N>& f)
{
    if (!task.adds_forces || copies.count == 0) { return; }
    const auto add = [&](const ForceSlot<N>& other) { f.x += other.x, f.y += other.y, f.z += other.z; };
    add(*copies.first.f);
    for_each_further_copy(task, slot, copies, [&](const Copy<N>& copy) { add(*copy.f); });
}

template <class N>
__device__ void store_copies(const CopyTask<N>& task, std::int32_t slot, const AtomCopies<N>& copies,
                             const PositionCharge<N>& position)
{
    if (!task.sends_positions || copies.count == 0) { return; }
    *copies.first.x = position;
    for_each_further_copy(task, slot, copies, [&](const Copy<N>& copy) { *copy.x = position; });
}

// For all threads of all blocks (x), when theirs is done. The last block takes the messages of forces and signals those of
// positions.
template <class N>
__device__ void end_copies(const CopyTask<N>& task)
{
    const GpuCopies<N>& c = task.copies;
    if (c.count == 0) { return; }
    const bool has_message = static_cast<int>(threadIdx.x) < c.count;
    GpuMessage<N>* const m = c.messages + (has_message ? threadIdx.x : 0);
    GpuSender x_send = m->x_send; // on its way while blocks arrive, not after
    const GpuReceiver x_receive = m->x_receive;
    if (__syncthreads_or(is_last_block(*c.done, gridDim.x)) == 0 || !has_message) { return; }
    if (task.sends_positions)
    {
        x_send.signal();
        m->x_send = x_send;
    }
    if (task.adds_forces) { m->f_receive.take(); }
    if (task.awaits_positions) { x_receive.wait_arrived(*c.watch), m->x_receive.take(); }
}

} // namespace parhelion
