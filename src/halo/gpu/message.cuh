// SPDX-License-Identifier: Apache-2.0
// A message of a GPU's halo as kernels see it, both on its source and on its destination, and operations for all its kernels.
//
// The idea: a launch covers some of the messages, with several blocks for each message. A block does its share of one message.
// Methods differ in where a message is packed and in what signals its arrival. The table of messages says where it is packed, and
// the kernel decides how it waits. Cost: the table is some kilobytes in device memory, written by the kernels as epochs advance.
#pragma once

#include "comm/gpu/block.cuh"
#include "halo/gpu/copies.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/view.cuh"

namespace parhelion {

inline constexpr int halo_threads = 256;     // threads per block
inline constexpr int slots_per_block = 1024; // slots of a message per block, up to most_blocks blocks
inline constexpr int most_blocks = 32;       // blocks per message; limited because all blocks of a rank must run at once

// The slots in which the destination keeps the wanted atoms. The destination tells them to the source together with the atoms.
struct alignas(16) WantedSlots
{
    std::int64_t x; // place of the first slot, in bytes from the start of the destination's arena. It is no address,
                    // because processes map an arena at different addresses
    std::int64_t count;
};

// One message of the plan with both ends: this rank is the destination of one rank's atoms and the source of another's.
template <class N>
struct GpuMessage
{
    // Members for the message that this rank receives, as destination. Its slots are those of zones [first_zone, end_zone).
    std::int32_t first_zone, end_zone;
    std::int32_t begin, count; // range of the message's slots, as requested
    std::int32_t* wanted_out;  // list on the source: global numbers, by slot
    WantedSlots* slots_out;
    const std::byte* arena; // arena of this rank
    PositionCharge<N>* x_in;
    ForceSlot<N>* f_out;        // forces in the source's inbox; on this rank if the message is copied or carried by a proxy
    std::uint8_t* is_forwarded; // [slot]: 1 if a later message forwards the atom; null if messages do not wait
    GpuSender wanted_send;
    GpuReceiver x_receive;
    GpuSender f_send;
    // Members for the message that this rank sends, as source.
    std::int32_t* wanted_in;
    WantedSlots* slots_in;
    std::byte* arena_there;   // arena of the destination
    std::int32_t* send_slots; // slots of the wanted atoms; -1: filler
    std::int32_t send_count;
    bool is_source_far, is_destination_far; // true if on another node: a proxy then carries messages, which are stored here
    PositionCharge<N>* x_out;               // written by the kernel: on the destination, or here if copied or sent by a proxy
    ForceSlot<N>* f_in;
    GpuReceiver wanted_receive;
    GpuSender x_send;
    GpuReceiver f_receive;
    SignalSlot f_added; // epoch whose forces have been added on this rank
    // Numbers of slots of the received and of the sent message, in host memory; null unless the host copies the messages.
    std::int32_t* sizes;
    // The counters of finished thread blocks, one for each operation. An operation begins again only when all its blocks have
    // finished.
    BlockCounter requested, send_lists, x_sent, x_received, f_sent, f_received;
};

template <class N>
struct HaloArgs
{
    GpuMessage<N>* messages;
    int first; // number of this launch's first message
    const Watch* watch;
    GpuCopies<N> copies; // empty unless positions go directly to their slots
    std::int32_t capacity;
    GpuCell cell;
    GpuColumns columns;
    const std::int32_t* first_supercluster;
    GpuView<N> state;

    __device__ int number() const { return first + static_cast<int>(blockIdx.y); } // number of this block's message
    __device__ GpuMessage<N>& message() const { return messages[number()]; }
    // Returns the first slot of a zone; for zone == zones(), the end of the last zone.
    __device__ std::int32_t slot_of_zone(int zone) const
    {
        return first_supercluster[columns.first(cell, zone)] * supercluster_size;
    }
    __device__ std::int32_t begin_of(const GpuMessage<N>& m) const { return slot_of_zone(m.first_zone); }
    // Returns the message's number of slots, at most `capacity`: a rank whose slots have overflowed has raised its flag.
    __device__ std::int32_t count_of(const GpuMessage<N>& m) const
    {
        return min(slot_of_zone(m.end_zone) - begin_of(m), capacity);
    }
    __device__ std::int32_t home_end() const { return slot_of_zone(1); }
    // Returns the message that brought a halo slot; it is one of the first `messages_before` messages.
    __device__ GpuMessage<N>& message_of(std::int32_t slot, int messages_before) const
    {
        int k = 0;
        while (k + 1 < messages_before && slot >= slot_of_zone(messages[k].end_zone)) { ++k; }
        return messages[k];
    }
};

// Calls body(i) for this block's share of [0, count).
template <class Body>
__device__ void for_share(std::int32_t count, Body&& body)
{
    const int stride = static_cast<int>(gridDim.x) * halo_threads;
    for (std::int32_t i = static_cast<std::int32_t>(blockIdx.x) * halo_threads + threadIdx.x; i < count; i += stride) { body(i); }
}

// Called by all threads of a block that has done its part of a message. The last block of
// the message to call it signals the message, or advances the receiver to the next epoch.
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

// Sends the force on a halo slot and sets it to zero here.
template <class N>
__device__ void send_force(const HaloArgs<N>& a, const GpuMessage<N>& m, std::int32_t i)
{
    m.f_out[i] = a.state.f[m.begin + i];
    a.state.f[m.begin + i] = {};
}

// Sends this block's share of a message's forces. A thread loads several forces before it stores any.
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
