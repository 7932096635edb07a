// SPDX-License-Identifier: Apache-2.0
// Messages that a kernel packs and the receiver's queue fetches by a copy, as used by staged-host and staged-dma.
// Cost: a launch to pack, a copy, a launch to unpack.
#pragma once

#include "halo/gpu/messages.cuh"

#include <algorithm>
#include <atomic>

namespace parhelion {

// Tells when a message that is copied has been packed. The thread that queues work for the message's source
// sets it. The thread that queues work for the fetching rank, which may be another thread, reads it. No
// message is packed again before it was fetched: positions are packed after the same rank has returned
// forces, and forces after positions. At a repartition all threads meet, which replaces this order.
struct PackedMark
{
    GpuEvent event;                      // recorded on the source's queue
    std::atomic<std::uint64_t> times{0}; // number of times the event was recorded (staged-dma) or has passed (staged-host)
};

template <class N>
class FetchedMessages
{
public:
    struct Message // positions or forces: the message that this rank packs, and the one that it fetches from a rank
    {
        using Kernel = void (GpuHaloMessages<N>::*)(GpuQueue&, int, GpuState<N>&);

        int number;
        Kernel pack, unpack;
        std::shared_ptr<PackedMark> packed;
        std::byte* to;
        const std::byte* from;
        std::size_t slot_bytes;
        const std::int32_t* slots;
        int source;
        std::shared_ptr<PackedMark> packed_there;
        std::uint64_t fetched = 0; // number of messages fetched so far
    };

    FetchedMessages(GpuQueue& queue, const GpuHaloMemory& memory, int rank);

    int count() const { return messages_.count(); }
    Message& x(int message) { return x_[static_cast<std::size_t>(message)]; }
    Message& f(int message) { return f_[static_cast<std::size_t>(message)]; }

    void request_atoms(GpuQueue& queue, GpuState<N>& state) { messages_.request_atoms(queue, state); }
    void build_send_lists(GpuQueue& queue, GpuState<N>& state)
    {
        messages_.build_send_lists(queue, state);
        send_lists_built_.record(queue);
    }
    void pack(GpuQueue& queue, Message& message, GpuState<N>& state)
    {
        (messages_.*message.pack)(queue, message.number, state);
        message.packed->event.record(queue);
    }
    // Makes the host wait until the thread that queues for the source has announced that the message is packed.
    void await_packed(Message& message) { world_.wait(message.source, message.packed_there->times, ++message.fetched); }
    void copy(GpuQueue& queue, const Message& message)
    {
        world_.wait(rank_, send_lists_built_,
                    GpuWorld::HostWait::Spins); // waits only in the first copy after a repartition
        gpu_memory::on_device(queue, message.to, message.from, static_cast<std::size_t>(*message.slots) * message.slot_bytes);
    }
    void unpack(GpuQueue& queue, const Message& message, GpuState<N>& state)
    {
        (messages_.*message.unpack)(queue, message.number, state);
    }
    // Makes the host wait for an event of this rank's queue.
    void await(const GpuEvent& event) { world_.wait(rank_, event, GpuWorld::HostWait::Spins); }

private:
    static PinnedBuffer<std::int32_t> no_sizes(std::size_t messages)
    {
        PinnedBuffer<std::int32_t> sizes(2 * messages);
        std::fill(sizes.data(), sizes.data() + sizes.size(), 0);
        return sizes;
    }

    GpuWorld& world_;
    int rank_;
    PinnedBuffer<std::int32_t> sizes_; // declared before messages_, which points to it
    GpuHaloMessages<N> messages_;
    std::vector<Message> x_, f_;
    GpuEvent send_lists_built_; // sizes_ is valid after this event
};

template <class N>
FetchedMessages<N>::FetchedMessages(GpuQueue& queue, const GpuHaloMemory& memory, int rank)
    : world_(*memory.world), rank_(rank), sizes_(no_sizes(memory.windows.size())),
      messages_(queue, memory, rank, {.sizes = sizes_.data()})
{
    const auto bytes_of = [](auto* array) { return reinterpret_cast<std::byte*>(array); };
    for (std::size_t k = 0; k < memory.windows.size(); ++k)
    {
        const auto message_of = [&](int r) -> const GpuHaloMemory::Message& {
            return memory.messages[k][static_cast<std::size_t>(r)];
        };
        const auto [source, destination] = std::pair(message_of(rank).source, message_of(rank).destination);
        const MessageBox<N> inbox = inbox_of<N>(memory, k, rank);
        const std::int32_t* const sizes = sizes_.data() + 2 * k;
        x_.push_back({static_cast<int>(k), &GpuHaloMessages<N>::pack_x, &GpuHaloMessages<N>::unpack_x, message_of(rank).x_packed,
                      bytes_of(inbox.x), bytes_of(outbox_of<N>(memory, k, source).x), sizeof(PositionCharge<N>), sizes, source,
                      message_of(source).x_packed});
        f_.push_back({static_cast<int>(k), &GpuHaloMessages<N>::pack_f, &GpuHaloMessages<N>::unpack_f, message_of(rank).f_packed,
                      bytes_of(inbox.f), bytes_of(outbox_of<N>(memory, k, destination).f), sizeof(ForceSlot<N>), sizes + 1,
                      destination, message_of(destination).f_packed});
    }
}

} // namespace parhelion
