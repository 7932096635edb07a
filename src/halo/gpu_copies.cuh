// SPDX-License-Identifier: Apache-2.0
// GpuCopies in a kernel: begin, add and store per atom, end.
#pragma once

#include "halo/gpu_copies.hpp"
#include "halo/gpu_halo_message.cuh"

namespace parhelion {

// For all threads of a block, before the first add_returned_force().
template <class N>
__device__ void begin_copies(const CopyTask<N>& task)
{
    if (task.copies == nullptr || !task.adds_forces) { return; }
    const GpuCopies<N>& c = *task.copies;
    if (static_cast<int>(threadIdx.x) < c.count) { c.messages[threadIdx.x].f_receive.wait_arrived(*c.watch); }
    __syncthreads(); // rule M2. After a wait in vain, which the world knows of, the run goes on with what is there.
}

// body(message, place in it) for the messages that a home atom is in.
template <class N, class Body>
__device__ void for_each_copy(const GpuCopies<N>& c, std::int32_t slot, Body&& body)
{
    for (std::uint32_t left = c.messages_of_slot[slot]; left != 0; left &= left - 1)
    {
        const int k = __ffs(static_cast<int>(left)) - 1;
        body(c.messages[k], c.place_of_slot[static_cast<std::size_t>(k) * c.capacity + static_cast<std::size_t>(slot)]);
    }
}

template <class N>
__device__ void add_returned_force(const CopyTask<N>& task, std::int32_t slot, ForceSlot<N>& f)
{
    if (task.copies == nullptr || !task.adds_forces) { return; }
    for_each_copy(*task.copies, slot, [&](const GpuMessage<N>& m, std::int32_t place) {
        const ForceSlot<N> back = m.f_in[place];
        f.x += back.x, f.y += back.y, f.z += back.z;
    });
}

template <class N>
__device__ void store_copies(const CopyTask<N>& task, std::int32_t slot, const PositionCharge<N>& position)
{
    if (task.copies == nullptr || !task.sends_positions) { return; }
    for_each_copy(*task.copies, slot, [&](const GpuMessage<N>& m, std::int32_t place) { m.x_out[place] = position; });
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
        if (task.sends_positions) { m.x_send.publish(0); }
    }
}

} // namespace parhelion
