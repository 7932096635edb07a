// SPDX-License-Identifier: Apache-2.0
// The part of GpuHaloMessages that sets it up, and makes the send lists at a repartition.
#include "device/gpu/atomics.cuh"
#include "halo/gpu/messages.cuh"
#include "trace/phases.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// Purpose        tells the source of each message which of its atoms this rank holds
// Work           some blocks per message (y); a thread per slot
// Reads/Writes   global numbers by slot / the source's list, begin and count of the message here
// Orders         the last block of a message signals with release
// Requires       all ranks are past the barrier of this repartition, so that no rank uses the old list
// Cost           4 bytes a halo slot
template <class N>
__global__ void __launch_bounds__(halo_threads) request_atoms_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    const std::int32_t begin = a.begin_of(m), count = a.count_of(m);
    for_share(count, [&](std::int32_t i) {
        m.wanted_out[i] = a.state.global_of_slot[begin + i];
        if (m.is_forwarded != nullptr) { m.is_forwarded[i] = 0; }
    });
    if (blockIdx.x == 0 && threadIdx.x == 0)
    {
        *m.slots_out = {reinterpret_cast<const std::byte*>(a.state.xq + begin) - m.arena, count};
        m.begin = begin, m.count = count;
        if (m.is_source_far)
        {
            m.wanted_send.set_bytes(MessageBox<N>::list_bytes(static_cast<std::size_t>(count)));
            m.f_send.set_bytes(static_cast<std::size_t>(count) * sizeof(ForceSlot<N>));
        }
    }
    if (a.copies.count > 0 && blockIdx.y == 0) // no kernel reads the old tables any more
    {
        for_share(a.home_end(), [&](std::int32_t slot) { a.copies.copies_of_slot[slot] = 0; });
    }
    signal_when_last(m.requested, m.wanted_send);
}

// Purpose        finds the slots of the atoms that other ranks want, and which of these atoms are this rank's halo atoms
// Work           some blocks per message (y); a thread per slot
// Reads/Writes   the list, slots by global number / send_slots, is_forwarded, copies, sizes
// Orders         waits for the list with acquire
// Requires       request_atoms_kernel was launched before on all ranks that share this GPU
// Cost           12 bytes a slot
template <class N>
__global__ void __launch_bounds__(halo_threads) build_send_lists_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    if (block_wait_arrived(m.wanted_receive, *a.watch))
    {
        const WantedSlots wanted = *m.slots_in;
        auto* const x_there = reinterpret_cast<PositionCharge<N>*>(m.arena_there + wanted.x);
        const auto count = static_cast<std::int32_t>(wanted.count);
        const std::int32_t home_end = a.home_end();
        for_share(count, [&](std::int32_t i) {
            const std::int32_t global = m.wanted_in[i];
            const std::int32_t slot = global < 0 ? -1 : a.state.slot_of_global[global];
            m.send_slots[i] = slot;
            if (a.copies.count > 0 && slot >= 0)
            {
                const auto k = static_cast<std::size_t>(atomic_add(a.copies.copies_of_slot + slot, 1));
                // An atom is in a message only once, unless the run has already failed.
                if (k < static_cast<std::size_t>(a.copies.count))
                {
                    a.copies.copies[k * a.copies.capacity + static_cast<std::size_t>(slot)] = {x_there + i, m.f_in + i};
                }
            }
            if (m.is_forwarded == nullptr || slot < home_end) { return; }
            const GpuMessage<N>& bringer = a.message_of(slot, a.number());
            bringer.is_forwarded[slot - bringer.begin] = 1;
        });
        if (blockIdx.x == 0 && threadIdx.x == 0)
        {
            m.send_count = count;
            if (a.copies.count > 0) { m.x_out = x_there; }
            if (m.is_destination_far) { m.x_send.set_bytes(static_cast<std::size_t>(count) * sizeof(PositionCharge<N>)); }
            if (m.sizes != nullptr) { m.sizes[0] = m.count, m.sizes[1] = count; }
        }
    }
    take_when_last(m.send_lists, m.wanted_receive);
}

} // namespace

template <class N>
GpuHaloMessages<N>::GpuHaloMessages(GpuQueue& queue, const GpuHaloMemory& memory, int rank, const SendListTables<N>& send_lists)
    : cell_(memory.cells[static_cast<std::size_t>(rank)]), count_(static_cast<int>(memory.windows.size())),
      blocks_(
          static_cast<int>(std::clamp<std::size_t>(memory.capacity / slots_per_block / memory.windows.size(), 1, most_blocks))),
      watch_(memory.world->watch(rank)), capacity_(memory.capacity), messages_(memory.windows.size()),
      send_slots_(memory.capacity * memory.windows.size())
{
    PARHELION_EXPECTS(count_ > 0 && count_ <= most_gpu_messages);
    if (send_lists.copies.copies != nullptr)
    {
        copies_ = send_lists.copies;
        copies_.messages = messages_.data(), copies_.count = count_, copies_.capacity = capacity_, copies_.watch = watch_;
    }
    const std::vector<GpuMessage<N>> messages = table(memory, rank, send_lists);
    messages_.upload(queue, messages);
    queue.synchronize(); // waits until the host's table is copied
}

template <class N>
std::vector<GpuMessage<N>> GpuHaloMessages<N>::table(const GpuHaloMemory& memory, int rank, const SendListTables<N>& send_lists)
{
    const auto number = [](int r) { return static_cast<std::size_t>(r); };
    std::vector<GpuMessage<N>> messages(memory.windows.size());
    for (std::size_t k = 0; k < messages.size(); ++k)
    {
        const GpuHaloMemory::Message &here = memory.messages[k][number(rank)], &source = memory.messages[k][number(here.source)],
                                     &destination = memory.messages[k][number(here.destination)];
        // Lists are never fetched by copies. Kernels store them into the source's memory, unless the source is on another node.
        const bool reaches_source = memory.world->reaches(rank, here.source);
        const MessageBox<N> inbox = inbox_of<N>(memory, k, rank),
                            list = reaches_source ? inbox_of<N>(memory, k, here.source) : outbox_of<N>(memory, k, rank);
        GpuMessage<N>& m = messages[k];
        m.first_zone = here.first_zone, m.end_zone = here.end_zone;
        m.wanted_out = list.wanted, m.wanted_in = inbox.wanted;
        m.slots_out = list.slots, m.slots_in = inbox.slots;
        m.arena = memory.world->data(rank, {}), m.arena_there = memory.world->data(here.destination, {});
        m.x_in = inbox.x, m.f_in = inbox.f;
        m.x_out = stored_for<N>(memory, k, rank, here.destination).x;
        m.f_out = stored_for<N>(memory, k, rank, here.source).f;
        m.send_slots = send_slots_.data() + k * capacity_;
        m.is_forwarded = send_lists.is_forwarded != nullptr ? send_lists.is_forwarded + k * capacity_ : nullptr;
        m.sizes = send_lists.sizes != nullptr ? send_lists.sizes + 2 * k : nullptr;
        m.is_source_far = !reaches_source;
        m.is_destination_far = !memory.world->reaches(rank, here.destination);
        m.wanted_send = here.wanted.sender, m.wanted_receive = destination.wanted.receiver;
        m.x_send = here.x.sender, m.x_receive = source.x.receiver;
        m.f_send = here.f.sender, m.f_receive = destination.f.receiver;
    }
    return messages;
}

template <class N>
void GpuHaloMessages<N>::request_atoms(GpuQueue& queue, GpuState<N>& state)
{
    launch_part(queue, Phase::Migrate, request_atoms_kernel<N>, all(), state);
}
template <class N>
void GpuHaloMessages<N>::build_send_lists(GpuQueue& queue, GpuState<N>& state)
{
    launch_part(queue, Phase::Migrate, build_send_lists_kernel<N>, all(), state);
}

template <class N>
HaloArgs<N> GpuHaloMessages<N>::args(Part part, GpuState<N>& state)
{
    return {.messages = messages_.data(),
            .first = part.first,
            .watch = watch_,
            .copies = copies_,
            .capacity = static_cast<std::int32_t>(capacity_),
            .cell = cell_,
            .columns = state.columns,
            .first_supercluster = state.first_supercluster.data(),
            .state = GpuView<N>(state)};
}

#define PARHELION_INSTANTIATE(N) template class GpuHaloMessages<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
