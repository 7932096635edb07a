// SPDX-License-Identifier: Apache-2.0
#include "halo/gpu_halo.hpp"

#include "comm/gpu_atomics.cuh"
#include "device/block_trace.cuh"
#include "device/launch.cuh"
#include "state/gpu_view.cuh"

#include <algorithm>

namespace parhelion {

namespace {

constexpr int threads = 256;
constexpr int most_messages = 26;
constexpr std::size_t slots_per_block = 1024; // of a message
constexpr int most_blocks = 32;               // of a message: all of a rank's must run at once

using Counter = ArrivalCounter<CudaAtomics>;

// One message of the plan, both ends of it: this rank is the destination of one rank's atoms and the source of another's.
template <class N>
struct GpuMessage
{
    // As destination. Slots of zones [first_zone, end_zone).
    std::int32_t first_zone, end_zone;
    std::int32_t* wanted_out; // at the source: global numbers, by slot
    PositionCharge<N>* x_in;
    ForceSlot<N>* f_out; // at the source
    GpuSender wanted_send;
    GpuReceiver x_receive;
    GpuSender f_send;
    // As source.
    std::int32_t* wanted_in;
    std::int32_t* send_slots; // where the wanted atoms are; -1: filler
    std::int32_t send_count;
    PositionCharge<N>* x_out; // at the destination
    ForceSlot<N>* f_in;
    GpuReceiver wanted_receive;
    GpuSender x_send;
    GpuReceiver f_receive;
    // Thread blocks that have done their part, one counter for each operation: its rounds follow one another.
    Counter announced, learnt, x_sent, x_received, f_sent, f_received;
};

template <class N>
struct Args
{
    GpuMessage<N>* messages;
    int first; // of the messages of this launch
    const Watch* watch;
    std::int32_t capacity;
    GpuCell cell;
    GpuColumns columns;
    const std::int32_t* first_supercluster;
    GpuView<N> state;

    __device__ GpuMessage<N>& message() const { return messages[first + blockIdx.y]; }
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
};

// body(i) for this block's share of [0, count).
template <class Body>
__device__ void for_share(std::int32_t count, Body&& body)
{
    const int stride = static_cast<int>(gridDim.x) * threads;
    for (std::int32_t i = static_cast<std::int32_t>(blockIdx.x) * threads + threadIdx.x; i < count; i += stride) { body(i); }
}

// This block's part is done (rule M1): true in one thread of the last block to come here, which has acquired all parts.
template <class End>
__device__ bool is_last_block(Counter& counter, const End& end)
{
    __syncthreads();
    if (threadIdx.x != 0) { return false; }
    // Epochs begin at 1 and every one is a round.
    return counter.arrive(end.next_epoch() * gridDim.x);
}

// Waits for the message's next epoch with one thread (rule M2); false if the run has failed.
__device__ bool has_come(const GpuReceiver& receiver, const Watch& watch)
{
    return __syncthreads_and(threadIdx.x != 0 || receiver.wait_arrived(watch) == Verdict::Reached) != 0;
}

// Purpose        tell the sources which atoms this rank holds of theirs
// Work           some blocks per message (y); a thread per slot
// Reads/Writes   global numbers by slot / the source's list
// Orders         the last block of a message signals with release, with the number of slots
// Requires       all ranks past the barrier of this repartition, so that nobody uses the old list
// Cost           4 bytes a halo slot
template <class N>
__global__ void __launch_bounds__(threads) announce_kernel(BlockTrace tracing, Args<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    const std::int32_t begin = a.begin_of(m), count = a.count_of(m);
    for_share(count, [&](std::int32_t i) { m.wanted_out[i] = a.state.global_of_slot[begin + i]; });
    if (is_last_block(m.announced, m.wanted_send)) { m.wanted_send.publish(static_cast<std::size_t>(count)); }
}

// Purpose        where the atoms are that other ranks want
// Work           as announce_kernel
// Reads/Writes   the list, slots by global number / send_slots
// Orders         waits for the list with acquire
// Requires       every rank's announcement launched before on ranks that share this GPU
// Cost           12 bytes a slot
template <class N>
__global__ void __launch_bounds__(threads) learn_kernel(BlockTrace tracing, Args<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    if (has_come(m.wanted_receive, *a.watch))
    {
        const auto count = static_cast<std::int32_t>(m.wanted_receive.bytes());
        for_share(count, [&](std::int32_t i) {
            const std::int32_t global = m.wanted_in[i];
            m.send_slots[i] = global < 0 ? -1 : a.state.slot_of_global[global];
        });
        if (blockIdx.x == 0 && threadIdx.x == 0) { m.send_count = count; }
    }
    if (is_last_block(m.learnt, m.wanted_receive)) { m.wanted_receive.take(); }
}

// Where a position that is to be forwarded has arrived, its message not being unpacked yet.
template <class N>
__device__ PositionCharge<N> arrived(const Args<N>& a, std::int32_t slot, int messages)
{
    int k = 0;
    while (k + 1 < messages && slot >= a.slot_of_zone(a.messages[k].end_zone)) { ++k; }
    return a.messages[k].x_in[slot - a.begin_of(a.messages[k])];
}

// Purpose        positions to the ranks that hold copies
// Work           as announce_kernel. `forwards`: what came with earlier messages and is not unpacked yet is sent on from where it
//                arrived, by blocks that wait for these messages, after they have sent what is home
// Reads/Writes   positions / the destination's inbox
// Orders         the last block of a message signals with release; forwarding waits with acquire
// Requires       forces of the step before have been received; if it forwards, all blocks of the grid at once on the GPU
// Cost           36 bytes a slot
template <class N, bool forwards>
__global__ void __launch_bounds__(threads) send_x_kernel(BlockTrace tracing, Args<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    const std::int32_t home_end = a.slot_of_zone(1);
    bool has_more = false;
    for_share(m.send_count, [&](std::int32_t i) {
        const std::int32_t slot = m.send_slots[i];
        if (slot < 0) { return; }
        if (forwards && slot >= home_end) { has_more = true; }
        else { m.x_out[i] = a.state.xq[slot]; }
    });
    if constexpr (forwards)
    {
        if (__syncthreads_or(has_more) != 0)
        {
            const int before = a.first + static_cast<int>(blockIdx.y);
            bool has_all = true;
            for (int k = 0; k < before; ++k) { has_all &= has_come(a.messages[k].x_receive, *a.watch); }
            for_share(has_all ? m.send_count : 0, [&](std::int32_t i) {
                const std::int32_t slot = m.send_slots[i];
                if (slot >= home_end) { m.x_out[i] = arrived(a, slot, before); }
            });
        }
    }
    if (is_last_block(m.x_sent, m.x_send)) { m.x_send.publish(0); }
}

// Purpose        positions of halo atoms to their slots
// Work           as announce_kernel
// Reads/Writes   the inbox, global numbers / positions
// Orders         waits for the message with acquire
// Requires       sent by all ranks that share this GPU
// Cost           36 bytes a slot
template <class N>
__global__ void __launch_bounds__(threads) receive_x_kernel(BlockTrace tracing, Args<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    const std::int32_t begin = a.begin_of(m);
    if (has_come(m.x_receive, *a.watch))
    {
        for_share(a.count_of(m), [&](std::int32_t i) {
            if (a.state.global_of_slot[begin + i] >= 0) { a.state.xq[begin + i] = m.x_in[i]; }
        });
    }
    if (is_last_block(m.x_received, m.x_receive)) { m.x_receive.take(); }
}

// Purpose        forces on halo atoms back to where their positions came from
// Work           as announce_kernel
// Reads/Writes   forces (halo slots left zero) / the source's inbox
// Orders         the last block of a message signals with release
// Requires       forces complete, with what later messages have brought back (staged)
// Cost           3 force slots of bytes a slot
template <class N>
__global__ void __launch_bounds__(threads) send_f_kernel(BlockTrace tracing, Args<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    const std::int32_t begin = a.begin_of(m);
    for_share(a.count_of(m), [&](std::int32_t i) {
        m.f_out[i] = a.state.f[begin + i];
        a.state.f[begin + i] = {};
    });
    if (is_last_block(m.f_sent, m.f_send)) { m.f_send.publish(0); }
}

// Purpose        forces that other ranks computed, added to those here
// Work           as announce_kernel
// Reads/Writes   the inbox, send_slots / forces (atomic sums: an atom may be in several messages)
// Orders         waits for the message with acquire
// Requires       sent by all ranks that share this GPU
// Cost           2 force slots and 4 bytes a slot
template <class N>
__global__ void __launch_bounds__(threads) receive_f_kernel(BlockTrace tracing, Args<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    if (has_come(m.f_receive, *a.watch))
    {
        for_share(m.send_count, [&](std::int32_t i) {
            const std::int32_t slot = m.send_slots[i];
            if (slot < 0) { return; }
            const ForceSlot<N> f = m.f_in[i];
            a.state.add_force(slot, Vec3<typename N::ForceSum>{f.x, f.y, f.z});
        });
    }
    if (is_last_block(m.f_received, m.f_receive)) { m.f_receive.take(); }
}

// What a message brings, and the offset of the cell it comes from.
struct MessagePlan
{
    int first_zone, end_zone;
    std::array<int, 3> from;
};

std::vector<MessagePlan> plan_messages(HaloMethod method, const GpuCell& cell)
{
    std::vector<MessagePlan> plan;
    if (method == HaloMethod::Direct)
    {
        for (int zone = 1; zone < cell.zones(); ++zone)
        {
            plan.push_back({zone, zone + 1, {cell.offset_of(zone, 0), cell.offset_of(zone, 1), cell.offset_of(zone, 2)}});
        }
        return plan;
    }
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
constexpr std::size_t bytes_per_slot = sizeof(PositionCharge<N>) + sizeof(ForceSlot<N>) + sizeof(std::int32_t);

// The three arrays of a message's window.
template <class N>
struct Inbox
{
    PositionCharge<N>* x;
    ForceSlot<N>* f;
    std::int32_t* wanted;

    Inbox(std::byte* window, std::size_t capacity)
        : x(reinterpret_cast<PositionCharge<N>*>(window)), f(reinterpret_cast<ForceSlot<N>*>(x + capacity)),
          wanted(reinterpret_cast<std::int32_t*>(f + capacity))
    {
    }
};

} // namespace

template <class N>
std::size_t GpuHalo<N>::bytes(HaloMethod method, const GpuCell& cell, std::size_t capacity)
{
    return plan_messages(method, cell).size() * round_up_window(capacity * bytes_per_slot<N>);
}

template <class N>
GpuHaloRoom GpuHalo<N>::make_room(GpuWorld& world, HaloMethod method, std::span<const GpuCell> cells, std::size_t capacity)
{
    // Without credits: gpu_halo.hpp says why; models halo_direct.pml, halo_staged.pml.
    ChannelOptions signals_alone;
    signals_alone.depth = 1, signals_alone.credits = Credits::No;
    GpuHaloRoom room;
    room.capacity = capacity;
    for (std::size_t m = 0; m < plan_messages(method, cells[0]).size(); ++m)
    {
        room.windows.push_back(world.allocate(capacity * bytes_per_slot<N>));
        std::vector<GpuHaloRoom::Channels> of_rank;
        for (int rank = 0; rank < world.ranks(); ++rank)
        {
            const GpuCell& cell = cells[static_cast<std::size_t>(rank)];
            const MessagePlan plan = plan_messages(method, cell)[m];
            const int source = rank_at(cell, plan.from, 1), destination = rank_at(cell, plan.from, -1);
            const int pulse = static_cast<int>(m);
            of_rank.push_back({world.open({"halo plan", pulse}, rank, source, signals_alone),
                               world.open({"halo coordinates", pulse}, rank, destination, signals_alone),
                               world.open({"halo forces", pulse}, rank, source, signals_alone)});
        }
        room.channels.push_back(std::move(of_rank));
    }
    return room;
}

template <class N>
GpuHalo<N>::GpuHalo(GpuQueue& queue, GpuWorld& world, const GpuHaloRoom& room, HaloMethod method, const GpuCell& cell, int rank,
                    bool shares_gpu)
    : method_(method), cell_(cell), shares_gpu_(shares_gpu), watch_(world.watch(rank)), capacity_(room.capacity)
{
    const std::vector<MessagePlan> plan = plan_messages(method, cell);
    PARHELION_EXPECTS(plan.size() <= most_messages && plan.size() == room.windows.size());
    count_ = static_cast<int>(plan.size());
    blocks_ = static_cast<int>(
        std::clamp<std::size_t>(room.capacity / slots_per_block / std::max<std::size_t>(plan.size(), 1), 1, most_blocks));
    send_slots_.resize(room.capacity * plan.size());
    std::vector<GpuMessage<N>> messages(plan.size());
    for (std::size_t k = 0; k < plan.size(); ++k)
    {
        const int source = rank_at(cell, plan[k].from, 1), destination = rank_at(cell, plan[k].from, -1);
        const auto inbox_of = [&](int r) { return Inbox<N>(world.data(r, room.windows[k]), room.capacity); };
        const auto channels_of = [&](int r) -> const GpuHaloRoom::Channels& {
            return room.channels[k][static_cast<std::size_t>(r)];
        };
        GpuMessage<N>& m = messages[k];
        m.first_zone = plan[k].first_zone, m.end_zone = plan[k].end_zone;
        m.wanted_out = inbox_of(source).wanted, m.f_out = inbox_of(source).f, m.x_in = inbox_of(rank).x;
        m.wanted_in = inbox_of(rank).wanted, m.f_in = inbox_of(rank).f, m.x_out = inbox_of(destination).x;
        m.send_slots = send_slots_.data() + k * room.capacity;
        m.wanted_send = channels_of(rank).wanted.sender, m.wanted_receive = channels_of(destination).wanted.receiver;
        m.x_send = channels_of(rank).x.sender, m.x_receive = channels_of(source).x.receiver;
        m.f_send = channels_of(rank).f.sender, m.f_receive = channels_of(destination).f.receiver;
    }
    messages_.upload(queue, std::as_bytes(std::span(messages)));
    queue.synchronize(); // the host's table goes
}

template <class N>
template <class Kernel>
void GpuHalo<N>::launch_part(GpuQueue& queue, Phase phase, Kernel kernel, Part part, const GpuState<N>& state)
{
    if (part.count == 0) { return; }
    LaunchShape shape{blocks_, threads};
    shape.blocks_y = part.count;
    const Args<N> args{.messages = reinterpret_cast<GpuMessage<N>*>(messages_.data()),
                       .first = part.first,
                       .watch = watch_,
                       .capacity = static_cast<std::int32_t>(capacity_),
                       .cell = cell_,
                       .columns = state.columns,
                       .first_supercluster = state.first_supercluster.data(),
                       .state = GpuView<N>(const_cast<GpuState<N>&>(state))}; // which send_x and announce only read
    launch(queue, phase, kernel, shape, args);
}

template <class N>
void GpuHalo<N>::announce(GpuQueue& queue, const GpuState<N>& state)
{
    launch_part(queue, Phase::Migrate, announce_kernel<N>, {0, count_}, state);
}
template <class N>
void GpuHalo<N>::learn(GpuQueue& queue, const GpuState<N>& state)
{
    launch_part(queue, Phase::Migrate, learn_kernel<N>, {0, count_}, state);
}

// All messages at once, or one a round: positions first to last, forces last to first.
template <class N>
int GpuHalo<N>::x_rounds() const
{
    const bool at_once = method_ == HaloMethod::Direct || (method_ == HaloMethod::StagedFused && !shares_gpu_);
    return at_once ? std::min(count_, 1) : count_;
}
template <class N>
int GpuHalo<N>::f_rounds() const
{
    return method_ == HaloMethod::Direct ? std::min(count_, 1) : count_;
}
template <class N>
auto GpuHalo<N>::x_part(int round) const -> Part
{
    return x_rounds() == 1 ? Part{0, count_} : Part{round, 1};
}
template <class N>
auto GpuHalo<N>::f_part(int round) const -> Part
{
    return f_rounds() == 1 ? Part{0, count_} : Part{count_ - 1 - round, 1};
}

template <class N>
void GpuHalo<N>::send_x(GpuQueue& queue, int round, const GpuState<N>& state)
{
    const bool forwards = x_rounds() == 1 && method_ == HaloMethod::StagedFused;
    launch_part(queue, Phase::SendCoordinates, forwards ? send_x_kernel<N, true> : send_x_kernel<N, false>, x_part(round), state);
}
template <class N>
void GpuHalo<N>::receive_x(GpuQueue& queue, int round, GpuState<N>& state)
{
    launch_part(queue, Phase::SendCoordinates, receive_x_kernel<N>, x_part(round), state);
}
template <class N>
void GpuHalo<N>::send_f(GpuQueue& queue, int round, GpuState<N>& state)
{
    launch_part(queue, Phase::ReturnForces, send_f_kernel<N>, f_part(round), state);
}
template <class N>
void GpuHalo<N>::receive_f(GpuQueue& queue, int round, GpuState<N>& state)
{
    launch_part(queue, Phase::ReturnForces, receive_f_kernel<N>, f_part(round), state);
}

#define PARHELION_INSTANTIATE(N) template class GpuHalo<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
