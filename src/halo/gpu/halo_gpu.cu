// SPDX-License-Identifier: Apache-2.0
// The table of halo methods, and the setup that all ranks share before any rank makes its halo.
#include "halo/gpu/halo_gpu.hpp"

#include "halo/gpu/direct.cuh"
#include "halo/gpu/no_halo.hpp"
#include "halo/gpu/staged_dma.cuh"
#include "halo/gpu/staged_fused.cuh"
#include "halo/gpu/staged_host.cuh"

#include <array>

namespace parhelion {

namespace {

// The zones that a message brings, and the offset of the cell from which it comes.
struct MessagePlan
{
    int first_zone, end_zone;
    std::array<int, 3> from;
};

// Plans one message per zone, from its owner.
std::vector<MessagePlan> direct_messages(const GpuCell& cell)
{
    std::vector<MessagePlan> plan;
    for (int zone = 1; zone < cell.zones(); ++zone)
    {
        plan.push_back({zone, zone + 1, {cell.offset_of(zone, 0), cell.offset_of(zone, 1), cell.offset_of(zone, 2)}});
    }
    return plan;
}

// Plans one message per pulse, from the next cell along its dimension.
std::vector<MessagePlan> staged_messages(const GpuCell& cell)
{
    std::vector<MessagePlan> plan;
    for (int d = 2; d >= 0; --d)
    {
        for (int pulse = 1; pulse <= cell.pulses[d]; ++pulse)
        {
            std::array<int, 3> offset{}, last{}, from{};
            offset[static_cast<std::size_t>(d)] = last[static_cast<std::size_t>(d)] = pulse;
            for (int e = d + 1; e < 3; ++e) { last[static_cast<std::size_t>(e)] = cell.pulses[e]; }
            from[static_cast<std::size_t>(d)] = 1;
            plan.push_back({cell.zone_at(offset[0], offset[1], offset[2]), cell.zone_at(last[0], last[1], last[2]) + 1, from});
        }
    }
    return plan;
}

int rank_at(const GpuCell& cell, const std::array<int, 3>& offset, int sign)
{
    int rank = 0;
    for (std::size_t d = 0; d < 3; ++d)
    {
        rank = rank * cell.cells[d] + (cell.cell[d] + sign * offset[d] + cell.cells[d]) % cell.cells[d];
    }
    return rank;
}

template <class N>
using Made = std::unique_ptr<GpuHalo<N>>;

template <class N, template <class> class Halo>
Made<N> make(GpuQueue& queue, const GpuHaloMemory& memory, int rank)
{
    return std::make_unique<Halo<N>>(queue, memory, rank);
}
template <class N>
Made<N> make_staged_fused(GpuQueue& queue, const GpuHaloMemory& memory, int rank)
{
    return memory.shares_gpus ? make<N, StagedPulsesHalo>(queue, memory, rank) : make<N, StagedFusedHalo>(queue, memory, rank);
}

template <class N>
struct Method
{
    std::vector<MessagePlan> (*messages)(const GpuCell& cell); // plans the messages of a rank
    Carrier carrier;
    Made<N> (*make)(GpuQueue& queue, const GpuHaloMemory& memory, int rank);
};
template <class N>
const Method<N>& method_of(HaloMethod method)
{
    static constexpr std::array<Method<N>, halo_method_names.size()> methods = {{
        // in the order of HaloMethod
        {staged_messages, Carrier::Copies, make<N, StagedHostHalo>},
        {staged_messages, Carrier::Copies, make<N, StagedDmaHalo>},
        {staged_messages, Carrier::Kernels, make_staged_fused<N>},
        {direct_messages, Carrier::Kernels, make<N, DirectHalo>},
    }};
    return methods[static_cast<std::size_t>(method)];
}

// Returns the bytes of an inbox, plus those of an outbox behind it if messages are copied or some go to another node.
template <class N>
std::size_t window_bytes(bool has_outboxes, std::size_t capacity)
{
    return (has_outboxes ? 2 : 1) * MessageBox<N>::bytes(capacity);
}

// Makes message m of a rank from its plan, with its channels, or with PackedMarks if messages are copied.
template <class N>
GpuHaloMemory::Message make_message(const GpuHaloMemory& memory, std::size_t m, int rank, const MessagePlan& plan,
                                    const GpuCell& cell)
{
    GpuWorld& world = *memory.world;
    // The channels have no credits: gpu/halo_gpu.hpp says why; models halo_direct.pml, halo_staged.pml.
    ChannelOptions signals_alone;
    signals_alone.depth = 1, signals_alone.credits = Credits::No;
    GpuHaloMemory::Message message;
    message.first_zone = plan.first_zone, message.end_zone = plan.end_zone;
    message.source = rank_at(cell, plan.from, 1), message.destination = rank_at(cell, plan.from, -1);
    // All ranks have the boxes at the same offsets. This process may be unable to address the boxes of `rank` or of its peers.
    const int here = world.is_here(rank) ? rank : world.here().first;
    const MessageBox<N> outbox = outbox_of<N>(memory, m, here), inbox = inbox_of<N>(memory, m, here);
    const auto open = [&](const std::string& what, int peer, const auto* from, const auto* to) {
        const auto offset = reinterpret_cast<const std::byte*>(to) - world.data(here, {});
        return world.open("halo " + what + ", pulse " + std::to_string(m), rank, peer, signals_alone,
                          {reinterpret_cast<const std::byte*>(from), static_cast<std::size_t>(offset)});
    };
    message.wanted = open("plan", message.source, outbox.slots, inbox.slots);
    if (memory.carrier == Carrier::Kernels)
    {
        message.x = open("coordinates", message.destination, outbox.x, inbox.x);
        message.f = open("forces", message.source, outbox.f, inbox.f);
    }
    else
    {
        world.setup_queue(rank).make_current();
        message.x_packed = std::make_shared<PackedMark>(), message.f_packed = std::make_shared<PackedMark>();
    }
    return message;
}

} // namespace

template <class N>
std::size_t gpu_halo_messages(HaloMethod method, const GpuCell& cell)
{
    return method_of<N>(method).messages(cell).size();
}

template <class N>
std::size_t gpu_halo_bytes(HaloMethod method, const GpuCell& cell, std::size_t capacity)
{
    return gpu_halo_messages<N>(method, cell) * window_bytes<N>(method_of<N>(method).carrier == Carrier::Copies, capacity);
}

template <class N>
GpuHaloMemory make_gpu_halo_memory(GpuWorld& world, HaloMethod method, std::span<const GpuCell> cells, std::size_t capacity,
                                   bool shares_gpus)
{
    const Method<N>& by = method_of<N>(method);
    GpuHaloMemory memory{&world, method, by.carrier, shares_gpus, {cells.begin(), cells.end()}, capacity, {}, {}};
    const bool has_outboxes = by.carrier == Carrier::Copies || world.has_nodes();
    for (std::size_t m = 0; m < by.messages(cells[0]).size(); ++m)
    {
        memory.windows.push_back(world.allocate(window_bytes<N>(has_outboxes, capacity)));
        std::vector<GpuHaloMemory::Message>& of_rank = memory.messages.emplace_back();
        for (std::size_t rank = 0; rank < cells.size(); ++rank)
        {
            const GpuCell& cell = cells[rank];
            of_rank.push_back(make_message<N>(memory, m, static_cast<int>(rank), by.messages(cell)[m], cell));
        }
    }
    return memory;
}

template <class N>
std::unique_ptr<GpuHalo<N>> make_gpu_halo(GpuQueue& queue, const GpuHaloMemory& memory, int rank)
{
    if (memory.windows.empty()) { return std::make_unique<NoHalo<N>>(); }
    return method_of<N>(memory.method).make(queue, memory, rank);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::size_t gpu_halo_messages<N>(HaloMethod, const GpuCell&);                                                       \
    template std::size_t gpu_halo_bytes<N>(HaloMethod, const GpuCell&, std::size_t);                                             \
    template GpuHaloMemory make_gpu_halo_memory<N>(GpuWorld&, HaloMethod, std::span<const GpuCell>, std::size_t, bool);          \
    template std::unique_ptr<GpuHalo<N>> make_gpu_halo<N>(GpuQueue&, const GpuHaloMemory&, int);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
