// SPDX-License-Identifier: Apache-2.0
// A message of a GPU's halo as kernels see it: both ends of it, and what all kernels of the exchange do alike.
//
// The idea: a launch covers some of the messages, with several blocks for each; a block does its share of one. Methods differ in
// where a message is packed and in what signals its arrival. The table of messages says the first, the kernel's way of waiting
// the second. Cost: the table is some kilobytes in device memory, written by the kernels as epochs advance.
#pragma once

#include "comm/gpu/block.cuh"
#include "halo/gpu/copies.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/view.cuh"

namespace parhelion {

inline constexpr int halo_threads = 256;     // of a block
inline constexpr int slots_per_block = 1024; // of a message, as long as there are not more than most_blocks
inline constexpr int most_blocks = 32;       // of a message: all of a rank's must run at once

// What a message's destination tells its source beside the atoms it wants: where it has them.
struct alignas(16) WantedSlots
{
    std::int64_t x; // the first one's position, bytes behind the beginning of the destination's arena, which has an address of
                    // its own in every process
    std::int64_t count;
};

// One message of the plan, both ends of it: this rank is the destination of one rank's atoms and the source of another's.
template <class N>
struct GpuMessage
{
    // As destination. Slots of zones [first_zone, end_zone).
    std::int32_t first_zone, end_zone;
    std::int32_t begin, count; // these slots; as requested
    std::int32_t* wanted_out;  // at the source: global numbers, by slot
    WantedSlots* slots_out;
    const std::byte* arena; // of this rank
    PositionCharge<N>* x_in;
    ForceSlot<N>* f_out;        // at the source; here, if the message is copied or relayed
    std::uint8_t* is_forwarded; // by slot; null where messages do not wait for each other
    GpuSender wanted_send;
    GpuReceiver x_receive;
    GpuSender f_send;
    // As source.
    std::int32_t* wanted_in;
    WantedSlots* slots_in;
    std::byte* arena_there;   // of the destination
    std::int32_t* send_slots; // where the wanted atoms are; -1: filler
    std::int32_t send_count;
    bool is_source_far, is_destination_far; // on another node: what is for it is here, and relayed
    PositionCharge<N>* x_out;               // at the destination; here, if the message is copied or relayed
    ForceSlot<N>* f_in;
    GpuReceiver wanted_receive;
    GpuSender x_send;
    GpuReceiver f_receive;
    SignalSlot f_added; // here: the epoch whose forces have been added
    // Slots of this message as destination and as source, in host memory; null unless the host copies it.
    std::int32_t* sizes;
    // Thread blocks that have done their part, one counter for each operation: its rounds follow one another.
    BlockCounter requested, send_lists, x_sent, x_received, f_sent, f_received;
};

template <class N>
struct HaloArgs
{
    GpuMessage<N>* messages;
    int first; // of the messages of this launch
    const Watch* watch;
    GpuCopies<N> copies; // none unless positions go to their slots at once
    std::int32_t capacity;
    GpuCell cell;
    GpuColumns columns;
    const std::int32_t* first_supercluster;
    GpuView<N> state;

    __device__ int number() const { return first + static_cast<int>(blockIdx.y); } // of this block's message
    __device__ GpuMessage<N>& message() const { return messages[number()]; }
    // zones(): the end of the last.
    __device__ std::int32_t slot_of_zone(int zone) const
    {
        return first_supercluster[columns.first(cell, zone)] * supercluster_size;
    }
    __device__ std::int32_t begin_of(const GpuMessage<N>& m) const { return slot_of_zone(m.first_zone); }
    // Never more than there is room for: a rank whose slots have overflowed has raised its flag.
    __device__ std::int32_t count_of(const GpuMessage<N>& m) const
    {
        return min(slot_of_zone(m.end_zone) - begin_of(m), capacity);
    }
    __device__ std::int32_t home_end() const { return slot_of_zone(1); }
    // The message that brought a halo slot, one of the first `messages_before`.
    __device__ GpuMessage<N>& message_of(std::int32_t slot, int messages_before) const
    {
        int k = 0;
        while (k + 1 < messages_before && slot >= slot_of_zone(messages[k].end_zone)) { ++k; }
        return messages[k];
    }
};

// body(i) for this block's share of [0, count).
template <class Body>
__device__ void for_share(std::int32_t count, Body&& body)
{
    const int stride = static_cast<int>(gridDim.x) * halo_threads;
    for (std::int32_t i = static_cast<std::int32_t>(blockIdx.x) * halo_threads + threadIdx.x; i < count; i += stride) { body(i); }
}

// For all threads of a block that has done its part of a message: the last block of the message signals it, or goes on to the
// next epoch.
__device__ inline void signal_when_last(BlockCounter& counter, GpuSender& sender)
{
    if (is_last_block(counter, gridDim.x)) { sender.signal(); }
}
__device__ inline void take_when_last(BlockCounter& counter, GpuReceiver& receiver)
{
    if (is_last_block(counter, gridDim.x)) { receiver.take(); }
}

template <class N>
__device__ void add_received_force(const HaloArgs<N>& a, const GpuMessage<N>& m, std::int32_t i)
{
    const std::int32_t slot = m.send_slots[i];
    if (slot < 0) { return; }
    const ForceSlot<N> f = m.f_in[i];
    a.state.add_force(slot, Vec3<typename N::ForceSum>{f.x, f.y, f.z});
}

// Halo forces are zero after they have left.
template <class N>
__device__ void send_force(const HaloArgs<N>& a, const GpuMessage<N>& m, std::int32_t i)
{
    m.f_out[i] = a.state.f[m.begin + i];
    a.state.f[m.begin + i] = {};
}

// This block's share of a message's forces; what a thread sends is under way together.
template <class N>
__device__ void send_forces(const HaloArgs<N>& a, const GpuMessage<N>& m)
{
    constexpr int together = slots_per_block / halo_threads;
    const std::int32_t count = m.count;
    ForceSlot<N>* const from = a.state.f + m.begin;
    ForceSlot<N>* const to = m.f_out;
    const int stride = static_cast<int>(gridDim.x) * halo_threads;
    for (int i = static_cast<int>(blockIdx.x * halo_threads + threadIdx.x); i < count; i += together * stride)
    {
        ForceSlot<N> f[together];
#pragma unroll
        for (int k = 0; k < together; ++k)
        {
            if (i + k * stride < count) { f[k] = from[i + k * stride]; }
        }
#pragma unroll
        for (int k = 0; k < together; ++k)
        {
            if (i + k * stride < count) { to[i + k * stride] = f[k], from[i + k * stride] = {}; }
        }
    }
}

} // namespace parhelion
