// SPDX-License-Identifier: Apache-2.0
// The data and kernels that all halo methods on GPUs share: the messages in device memory, the plan
// that a repartition makes of them, and the kernels that pack, send, receive and unpack messages.
//
// The idea: packing and unpacking do not depend on how a message travels. Kernels store it into the receiver's memory and
// signal it, or they pack it here, and a copy follows, ordered by queues or the host. Cost: one launch per operation.
#pragma once

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "halo/gpu/halo_gpu.hpp"
#include "halo/gpu/message.cuh"
#include "trace/phases.hpp"

namespace parhelion {

template <class N>
constexpr std::size_t bytes_per_slot = sizeof(PositionCharge<N>) + sizeof(ForceSlot<N>);

// A part of a message's window: the inbox for arriving messages, or the outbox, where messages for a copy or a proxy are packed.
template <class N>
struct MessageBox
{
    WantedSlots* slots;
    std::int32_t* wanted;
    PositionCharge<N>* x;
    ForceSlot<N>* f;

    MessageBox(std::byte* memory, std::size_t capacity)
        : slots(reinterpret_cast<WantedSlots*>(memory)), wanted(reinterpret_cast<std::int32_t*>(memory + front)),
          x(reinterpret_cast<PositionCharge<N>*>(memory + round_up_window(list_bytes(capacity)))),
          f(reinterpret_cast<ForceSlot<N>*>(x + capacity))
    {
    }
    static std::size_t bytes(std::size_t capacity)
    {
        return round_up_window(round_up_window(list_bytes(capacity)) + capacity * bytes_per_slot<N>);
    }
    // Returns the bytes of `slots` and of a list of `count` wanted atoms, which are contiguous.
    PARHELION_HD static constexpr std::size_t list_bytes(std::size_t count) { return front + count * sizeof(std::int32_t); }

private:
    static constexpr std::size_t front = 128; // bytes for `slots`, so that the arrays behind it are aligned
};

// inbox_of() returns the box where a message arrives at a rank. outbox_of(): where its source packs it for a copy or a proxy.
template <class N>
MessageBox<N> inbox_of(const GpuHaloMemory& memory, std::size_t message, int rank)
{
    return {memory.world->data(rank, memory.windows[message]), memory.capacity};
}
template <class N>
MessageBox<N> outbox_of(const GpuHaloMemory& memory, std::size_t message, int rank)
{
    return {memory.world->data(rank, memory.windows[message]) + MessageBox<N>::bytes(memory.capacity), memory.capacity};
}
// Returns the box in which kernels of `rank` store its messages to a peer.
template <class N>
MessageBox<N> stored_for(const GpuHaloMemory& memory, std::size_t message, int rank, int peer)
{
    const bool is_here = memory.carrier == Carrier::Copies || !memory.world->reaches(rank, peer);
    return is_here ? outbox_of<N>(memory, message, rank) : inbox_of<N>(memory, message, peer);
}

// Tables that build_send_lists() fills besides the messages, for methods that need them; null or empty for others.
template <class N>
struct SendListTables
{
    std::uint8_t* is_forwarded = nullptr; // [message][slot]: 1 if a later message forwards the atom
    std::int32_t* sizes = nullptr;        // sizes of each message as destination and as source; host memory
    GpuCopies<N> copies = {};             // GpuHaloMessages fills in messages, count, capacity and watch
};

template <class N>
class GpuHaloMessages
{
public:
    // Makes the messages of `rank`, of which there is at least one. Waits for the GPU.
    GpuHaloMessages(GpuQueue& queue, const GpuHaloMemory& memory, int rank, const SendListTables<N>& send_lists = {});

    int count() const { return count_; }
    const GpuCopies<N>& copies() const { return copies_; } // empty unless the method has tables of copies
    // Limits the number of thread blocks for each message.
    void limit_blocks(int most) { blocks_ = std::min(blocks_, most); }

    void request_atoms(GpuQueue& queue, GpuState<N>& state);
    void build_send_lists(GpuQueue& queue, GpuState<N>& state);

    struct Part // a range of messages
    {
        int first, count;
    };
    Part all() const { return {0, count_}; }
    static Part only(int message) { return {message, 1}; }

    // The next two functions are for messages that kernels store into the receiver's memory.
    void send_x(GpuQueue& queue, Part part, GpuState<N>& state);
    void receive_x(GpuQueue& queue, Part part, GpuState<N>& state);
    void send_f(GpuQueue& queue, Part part, GpuState<N>& state);
    void send_f(GpuQueue& queue, GpuState<N>& state, GpuEvent& begun); // sends all messages; `begun` passes when all blocks run
    void receive_f(GpuQueue& queue, Part part, GpuState<N>& state);
    // The next functions are for messages that are copied from the outbox to the inbox of this rank.
    void pack_x(GpuQueue& queue, int message, GpuState<N>& state);
    void unpack_x(GpuQueue& queue, int message, GpuState<N>& state);
    void pack_f(GpuQueue& queue, int message, GpuState<N>& state);
    void unpack_f(GpuQueue& queue, int message, GpuState<N>& state);

    // Returns the arguments of a method's own kernels, which are launched with some blocks for each message (y).
    HaloArgs<N> args(Part part, GpuState<N>& state);
    template <class Kernel>
    void launch_part(GpuQueue& queue, Phase phase, Kernel kernel, Part part, GpuState<N>& state)
    {
        LaunchShape shape{blocks_, halo_threads};
        shape.blocks_y = part.count;
        launch(queue, phase, kernel, shape, args(part, state));
    }

private:
    std::vector<GpuMessage<N>> table(const GpuHaloMemory& memory, int rank, const SendListTables<N>& send_lists);

    GpuCell cell_;
    int count_, blocks_; // number of messages; thread blocks of each
    const Watch* watch_;
    std::size_t capacity_;
    DeviceBuffer<GpuMessage<N>> messages_;
    DeviceBuffer<std::int32_t> send_slots_;
    GpuCopies<N> copies_;
};

} // namespace parhelion
