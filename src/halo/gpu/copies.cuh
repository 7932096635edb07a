// SPDX-License-Identifier: Apache-2.0
// Device functions of GpuCopies (copies.hpp): load the copies of an atom, await and add returned forces, store positions.
#pragma once

#include "device/gpu/warp.cuh"
#include "halo/gpu/copies.hpp"
#include "halo/gpu/message.cuh"

namespace parhelion {

// The copies of one atom on other ranks. count is 0 if the slot has no atom. The first copy is loaded together
// with the count, because most atoms have at most one copy. In a run that has already failed an atom may have
// more copies than there are messages. The table has no space for them, so load_copies() limits the count.
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

// Loads an atom's copies in two steps: asynchronously into shared memory, where each thread has a place, and later from there.
template <class N, int threads>
class CopiesAhead
{
public:
    // begin_copy(to, from) begins an asynchronous copy of an element to this thread's place.
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

// Calls body(copy) for each copy of the atom except the first.
template <class N, class Body>
__device__ void for_each_further_copy(const CopyTask<N>& task, std::int32_t slot, const AtomCopies<N>& of_atom, Body&& body)
{
#pragma unroll 1
    for (std::int32_t k = 1; k < of_atom.count; ++k) // few atoms have a second copy
    {
        body(task.copies.copies[static_cast<std::size_t>(k) * task.copies.capacity + static_cast<std::size_t>(slot)]);
    }
}

// The messages of forces for which a warp waits. The constructor loads the address to poll, together with other loads.
template <class N>
class ReturnedForces
{
public:
    __device__ explicit ReturnedForces(const CopyTask<N>& task) : task_(task)
    {
        if (awaits(lane_)) { first_ = task.copies.messages[lane_].f_receive; }
    }

    // Waits for all messages of forces, once. All lanes call it before add_returned_forces() is called for an atom
    // with copies. It awaits all messages, so that no rank stores into one of them before its reader is done. Warps
    // whose atoms have no copies need not wait: for them no forces return and no positions are stored.
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
        warp_barrier(); // rule M2 of docs/design/communication.md. After a failed wait the kernel goes on; the host ends the run.
    }

private:
    __device__ bool awaits(int message) const { return task_.adds_forces && message < task_.copies.count; }

    const CopyTask<N>& task_;
    int lane_ = static_cast<int>(threadIdx.x) % 32;
    bool are_here_ = false;
    GpuReceiver first_;
};

// Adds to f the forces that other ranks have returned for the atom's copies.
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

// Ends the exchange of a kernel. All threads of all blocks (x) call it when their work on the messages
// is done. The last block advances the receivers of forces and signals the messages of positions.
template <class N>
__device__ void end_copies(const CopyTask<N>& task)
{
    const GpuCopies<N>& c = task.copies;
    if (c.count == 0) { return; }
    const bool has_message = static_cast<int>(threadIdx.x) < c.count;
    GpuMessage<N>* const m = c.messages + (has_message ? threadIdx.x : 0);
    GpuSender x_send = m->x_send; // loaded while other blocks still run
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
