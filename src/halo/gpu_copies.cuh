// SPDX-License-Identifier: Apache-2.0
// GpuCopies in a kernel: begin, add and store per atom, end.
#pragma once

#include "halo/gpu_copies.hpp"
#include "halo/gpu_halo_message.cuh"

namespace parhelion {

// For all threads of a block, before the first add_returned_forces().
template <class N>
__device__ void begin_copies(const CopyTask<N>& task)
{
    if (task.copies == nullptr || !task.adds_forces) { return; }
    const GpuCopies<N>& c = *task.copies;
    if (static_cast<int>(threadIdx.x) < c.count) { c.messages[threadIdx.x].f_receive.wait_arrived(*c.watch); }
    __syncthreads(); // rule M2. After a wait in vain, which the world knows of, the run goes on with what is there.
}

// The copies of an atom. The first is loaded with the number, and many atoms' together: most have one at most.
template <class N>
struct AtomCopies
{
    std::int32_t count = 0;
    Copy<N> first{};
};
template <class N>
__device__ AtomCopies<N> load_copies(const GpuCopies<N>* copies, std::int32_t slot)
{
    if (copies == nullptr) { return {}; }
    return {min(copies->copies_of_slot[slot], copies->count), copies->copies[slot]};
}

// body(copy) for the copies behind the first.
template <class N, class Body>
__device__ void for_each_further_copy(const CopyTask<N>& task, std::int32_t slot, const AtomCopies<N>& of_atom, Body&& body)
{
    for (std::int32_t k = 1; k < of_atom.count; ++k)
    {
        body(task.copies->copies[static_cast<std::size_t>(k) * task.copies->capacity + static_cast<std::size_t>(slot)]);
    }
}

// Adds to f[i] the forces that came back for the atom in slot[i].
template <int n, class N>
__device__ void add_returned_forces(const CopyTask<N>& task, const std::int32_t (&slot)[n], ForceSlot<N>* const (&f)[n])
{
    if (task.copies == nullptr || !task.adds_forces) { return; }
    AtomCopies<N> copies[n];
    ForceSlot<N> back[n] = {};
    const auto add = [](ForceSlot<N>& sum, const ForceSlot<N>& other) { sum.x += other.x, sum.y += other.y, sum.z += other.z; };
    for (int i = 0; i < n; ++i) { copies[i] = load_copies(task.copies, slot[i]); }
    for (int i = 0; i < n; ++i)
    {
        if (copies[i].count > 0) { back[i] = *copies[i].first.f; }
    }
    for (int i = 0; i < n; ++i)
    {
        add(*f[i], back[i]);
        for_each_further_copy(task, slot[i], copies[i], [&](const Copy<N>& copy) { add(*f[i], *copy.f); });
    }
}

template <class N>
__device__ void store_copies(const CopyTask<N>& task, std::int32_t slot, const PositionCharge<N>& position)
{
    if (task.copies == nullptr || !task.sends_positions) { return; }
    const AtomCopies<N> copies = load_copies(task.copies, slot);
    if (copies.count > 0) { *copies.first.x = position; }
    for_each_further_copy(task, slot, copies, [&](const Copy<N>& copy) { *copy.x = position; });
}

// For all threads of all blocks (x), when theirs is done. The last block takes the messages of forces and signals those of
// positions.
template <class N>
__device__ void end_copies(const CopyTask<N>& task)
{
    if (task.copies == nullptr) { return; }
    const GpuCopies<N>& c = *task.copies;
    if (__syncthreads_or(is_last_block(*c.done, gridDim.x)) == 0) { return; }
    if (static_cast<int>(threadIdx.x) < c.count)
    {
        GpuMessage<N>& m = c.messages[threadIdx.x];
        if (task.adds_forces) { m.f_receive.take(); }
        if (task.sends_positions) { m.x_send.signal(); }
        if (task.awaits_positions) { m.x_receive.wait_arrived(*c.watch), m.x_receive.take(); }
    }
}

} // namespace parhelion
