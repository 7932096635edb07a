// SPDX-License-Identifier: Apache-2.0
// What every method of a GPU's halo holds: its messages in device memory, the plan that a repartition makes of them, and the
// kernels that pack, send, receive and unpack them.
//
// The idea: packing and unpacking do not depend on how a message travels. Either kernels store it into the receiver's memory and
// signal, or it is packed here and copied, with queues or the host keeping the order. Cost: a launch each.
#pragma once

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "halo/gpu/halo_gpu.hpp"
#include "halo/gpu/message.cuh"
#include "trace/phases.hpp"

namespace parhelion {

template <class N>
constexpr std::size_t bytes_per_slot = sizeof(PositionCharge<N>) + sizeof(ForceSlot<N>);

// A box of a message's window: where messages arrive, or where they are packed to be carried by others than kernels.
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
    // Of `slots` and a list of so many wanted atoms, which are one piece.
    PARHELION_HD static constexpr std::size_t list_bytes(std::size_t count) { return front + count * sizeof(std::int32_t); }

private:
    static constexpr std::size_t front = 128; // for `slots`, so that what follows is aligned
};

// Where a message arrives at a rank; where the rank packs it if it is copied, or goes to another node.
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
// Where kernels of `rank` store its messages to a peer.
template <class N>
MessageBox<N> stored_for(const GpuHaloMemory& memory, std::size_t message, int rank, int peer)
{
    const bool is_here = memory.carrier == Carrier::Copies || !memory.world->reaches(rank, peer);
    return is_here ? outbox_of<N>(memory, message, rank) : inbox_of<N>(memory, message, peer);
}

// What builds() fills besides the messages, for methods that need it; null or none for the others.
template <class N>
struct SendListTables
{
    std::uint8_t* is_forwarded = nullptr; // by message and slot
    std::int32_t* sizes = nullptr;        // of each message as destination and as source; host memory
    GpuCopies<N> copies = {};             // whose messages, count, capacity and watch GpuHaloMessages knows
};

template <class N>
class GpuHaloMessages
{
public:
    // The messages of `rank`, of which there are some. Waits.
    GpuHaloMessages(GpuQueue& queue, const GpuHaloMemory& memory, int rank, const SendListTables<N>& send_lists = {});

    int count() const { return count_; }
    const GpuCopies<N>& copies() const { return copies_; } // none unless there are tables of them
    // Each message gets no more blocks than this.
    void limit_blocks(int most) { blocks_ = std::min(blocks_, most); }

    void request_atoms(GpuQueue& queue, GpuState<N>& state);
    void build_send_lists(GpuQueue& queue, GpuState<N>& state);

    struct Part // of the messages
    {
        int first, count;
    };
    Part all() const { return {0, count_}; }
    static Part only(int message) { return {message, 1}; }

    // Carried by kernels.
    void send_x(GpuQueue& queue, Part part, GpuState<N>& state);
    void receive_x(GpuQueue& queue, Part part, GpuState<N>& state);
    void send_f(GpuQueue& queue, Part part, GpuState<N>& state);
    void send_f(GpuQueue& queue, GpuState<N>& state, GpuEvent& begun); // all; `begun` passes when all blocks have begun
    void receive_f(GpuQueue& queue, Part part, GpuState<N>& state);
    // Copied: from the outbox, to the inbox of this rank.
    void pack_x(GpuQueue& queue, int message, GpuState<N>& state);
    void unpack_x(GpuQueue& queue, int message, GpuState<N>& state);
    void pack_f(GpuQueue& queue, int message, GpuState<N>& state);
    void unpack_f(GpuQueue& queue, int message, GpuState<N>& state);

    // For kernels of a method's own: some blocks for each message (y).
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
    int count_, blocks_; // messages; thread blocks of each
    const Watch* watch_;
    std::size_t capacity_;
    DeviceBuffer<GpuMessage<N>> messages_;
    DeviceBuffer<std::int32_t> send_slots_;
    GpuCopies<N> copies_;
};

} // namespace parhelion
