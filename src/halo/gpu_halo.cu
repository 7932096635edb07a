// SPDX-License-Identifier: Apache-2.0
#include "halo/gpu_halo_message.cuh"

namespace parhelion {

namespace {

// Purpose        tell the sources which atoms this rank holds of theirs
// Work           some blocks per message (y); a thread per slot
// Reads/Writes   global numbers by slot / the source's list, begin and count of the message here
// Orders         the last block of a message signals with release
// Requires       all ranks past the barrier of this repartition, so that nobody uses the old list
// Cost           4 bytes a halo slot
template <class N>
__global__ void __launch_bounds__(halo_threads) announce_kernel(BlockTrace tracing, HaloArgs<N> a)
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
        *m.slots_out = {a.state.xq + begin, count};
        m.begin = begin, m.count = count;
    }
    if (a.copies.count > 0 && blockIdx.y == 0) // all looks at the old ones are over
    {
        for_share(a.home_end(), [&](std::int32_t slot) { a.copies.copies_of_slot[slot] = 0; });
    }
    if (is_last_block(m.announced)) { m.wanted_send.signal(); }
}

// Purpose        where the atoms are that other ranks want, and which of this rank's halo atoms are among them
// Work           as announce_kernel
// Reads/Writes   the list, slots by global number / send_slots, is_forwarded, copies, sizes
// Orders         waits for the list with acquire
// Requires       every rank's announcement launched before on ranks that share this GPU
// Cost           12 bytes a slot
template <class N>
__global__ void __launch_bounds__(halo_threads) learn_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    if (block_wait_arrived(m.wanted_receive, *a.watch))
    {
        const WantedSlots<N> wanted = *m.slots_in;
        const auto count = static_cast<std::int32_t>(wanted.count);
        const std::int32_t home_end = a.home_end();
        for_share(count, [&](std::int32_t i) {
            const std::int32_t global = m.wanted_in[i];
            const std::int32_t slot = global < 0 ? -1 : a.state.slot_of_global[global];
            m.send_slots[i] = slot;
            if (a.copies.count > 0 && slot >= 0)
            {
                const auto k = static_cast<std::size_t>(atomicAdd(a.copies.copies_of_slot + slot, 1));
                // An atom is in a message once, unless a run has failed already.
                if (k < static_cast<std::size_t>(a.copies.count))
                {
                    a.copies.copies[k * a.copies.capacity + static_cast<std::size_t>(slot)] = {wanted.x + i, m.f_in + i};
                }
            }
            if (m.is_forwarded == nullptr || slot < home_end) { return; }
            const GpuMessage<N>& bringer = a.message_of(slot, a.number());
            bringer.is_forwarded[slot - bringer.begin] = 1;
        });
        if (blockIdx.x == 0 && threadIdx.x == 0)
        {
            m.send_count = count;
            if (a.copies.count > 0) { m.x_out = wanted.x; }
            if (m.sizes != nullptr) { m.sizes[0] = m.count, m.sizes[1] = count; }
        }
    }
    if (is_last_block(m.learnt)) { m.wanted_receive.take(); }
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

// A box of a message's window: where messages arrive, or where they are packed to be fetched.
template <class N>
struct MessageBox
{
    WantedSlots<N>* slots;
    PositionCharge<N>* x;
    ForceSlot<N>* f;
    std::int32_t* wanted;

    MessageBox(std::byte* memory, std::size_t capacity)
        : slots(reinterpret_cast<WantedSlots<N>*>(memory)), x(reinterpret_cast<PositionCharge<N>*>(memory + front)),
          f(reinterpret_cast<ForceSlot<N>*>(x + capacity)), wanted(reinterpret_cast<std::int32_t*>(f + capacity))
    {
    }
    static std::size_t bytes(std::size_t capacity) { return round_up_window(front + capacity * bytes_per_slot<N>); }

private:
    static constexpr std::size_t front = 128; // for `slots`, so that what follows is aligned
};

// An inbox, and behind it an outbox if messages are copied.
template <class N>
std::size_t window_bytes(HaloMethod method, std::size_t capacity)
{
    return (is_host_driven(method) ? 2 : 1) * MessageBox<N>::bytes(capacity);
}

} // namespace

template <class N>
std::size_t GpuHalo<N>::messages(HaloMethod method, const GpuCell& cell)
{
    return plan_messages(method, cell).size();
}

template <class N>
std::size_t GpuHalo<N>::bytes(HaloMethod method, const GpuCell& cell, std::size_t capacity)
{
    return messages(method, cell) * window_bytes<N>(method, capacity);
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
        room.windows.push_back(world.allocate(window_bytes<N>(method, capacity)));
        std::vector<GpuHaloRoom::Channels> of_rank;
        for (int rank = 0; rank < world.ranks(); ++rank)
        {
            const GpuCell& cell = cells[static_cast<std::size_t>(rank)];
            const MessagePlan plan = plan_messages(method, cell)[m];
            const int source = rank_at(cell, plan.from, 1), destination = rank_at(cell, plan.from, -1);
            const int pulse = static_cast<int>(m);
            GpuHaloRoom::Channels& channels = of_rank.emplace_back();
            channels.wanted = world.open({"halo plan", pulse}, rank, source, signals_alone);
            if (is_host_driven(method))
            {
                world.setup_queue(rank).make_current();
                channels.x_packed = std::make_shared<PackedMark>(), channels.f_packed = std::make_shared<PackedMark>();
                continue;
            }
            channels.x = world.open({"halo coordinates", pulse}, rank, destination, signals_alone);
            channels.f = world.open({"halo forces", pulse}, rank, source, signals_alone);
        }
        room.channels.push_back(std::move(of_rank));
    }
    return room;
}

template <class N>
GpuHalo<N>::GpuHalo(GpuQueue& queue, GpuWorld& world, const GpuHaloRoom& room, HaloMethod method, const GpuCell& cell, int rank,
                    bool shares_gpu)
    : world_(world), rank_(rank), method_(method), cell_(cell), shares_gpu_(shares_gpu),
      count_(static_cast<int>(room.windows.size())), watch_(world.watch(rank)), capacity_(room.capacity)
{
    PARHELION_EXPECTS(room.windows.size() <= most_messages);
    const auto messages = static_cast<std::size_t>(std::max(count_, 1));
    blocks_ = static_cast<int>(std::clamp<std::size_t>(capacity_ / slots_per_block / messages, 1, most_blocks));
    send_slots_.resize(capacity_ * messages);
    if (is_forwarding())
    {
        is_forwarded_.resize(capacity_ * messages);
        // Blocks that wait for blocks of their own launch (rule D1).
        const int most = resident_blocks(queue) / static_cast<int>(messages);
        PARHELION_EXPECTS(most >= 1);
        blocks_ = std::min(blocks_, most);
    }
    if (is_host_driven(method_))
    {
        sizes_ = PinnedBuffer<std::int32_t>(2 * messages);
        std::fill(sizes_.data(), sizes_.data() + sizes_.size(), 0);
    }
    connect(queue, world, room, rank);
}

template <class N>
void GpuHalo<N>::connect(GpuQueue& queue, GpuWorld& world, const GpuHaloRoom& room, int rank)
{
    const std::vector<MessagePlan> plan = plan_messages(method_, cell_);
    PARHELION_EXPECTS(plan.size() == room.windows.size());
    std::vector<GpuMessage<N>> messages(plan.size());
    for (std::size_t k = 0; k < plan.size(); ++k)
    {
        const int source = rank_at(cell_, plan[k].from, 1), destination = rank_at(cell_, plan[k].from, -1);
        const auto inbox_of = [&](int r) { return MessageBox<N>(world.data(r, room.windows[k]), capacity_); };
        const auto outbox_of = [&](int r) {
            return MessageBox<N>(world.data(r, room.windows[k]) + MessageBox<N>::bytes(capacity_), capacity_);
        };
        const auto channels_of = [&](int r) -> const GpuHaloRoom::Channels& {
            return room.channels[k][static_cast<std::size_t>(r)];
        };
        const bool is_copied = is_host_driven(method_);
        const MessageBox<N> inbox = inbox_of(rank);
        GpuMessage<N>& m = messages[k];
        m.first_zone = plan[k].first_zone, m.end_zone = plan[k].end_zone;
        m.wanted_out = inbox_of(source).wanted, m.wanted_in = inbox.wanted;
        m.slots_out = inbox_of(source).slots, m.slots_in = inbox.slots;
        m.x_in = inbox.x, m.f_in = inbox.f;
        m.x_out = is_copied ? outbox_of(rank).x : inbox_of(destination).x;
        m.f_out = is_copied ? outbox_of(rank).f : inbox_of(source).f;
        m.send_slots = send_slots_.data() + k * capacity_;
        m.is_forwarded = is_forwarding() ? is_forwarded_.data() + k * capacity_ : nullptr;
        m.wanted_send = channels_of(rank).wanted.sender, m.wanted_receive = channels_of(destination).wanted.receiver;
        m.x_send = channels_of(rank).x.sender, m.x_receive = channels_of(source).x.receiver;
        m.f_send = channels_of(rank).f.sender, m.f_receive = channels_of(destination).f.receiver;
        if (!is_copied) { continue; }
        const auto bytes_of = [](auto* array) { return reinterpret_cast<std::byte*>(array); };
        m.sizes = sizes_.data() + 2 * k;
        copied_x_.push_back({channels_of(rank).x_packed, bytes_of(inbox.x), bytes_of(outbox_of(source).x),
                             sizeof(PositionCharge<N>), m.sizes, source, channels_of(source).x_packed});
        copied_f_.push_back({channels_of(rank).f_packed, bytes_of(inbox.f), bytes_of(outbox_of(destination).f),
                             sizeof(ForceSlot<N>), m.sizes + 1, destination, channels_of(destination).f_packed});
    }
    messages_.upload(queue, std::as_bytes(std::span(messages)));
    if (method_ == HaloMethod::Direct && count_ > 0)
    {
        copies_of_slot_.resize(capacity_), copy_table_.resize(capacity_ * plan.size());
        copies_of_slot_.clear(queue), copy_table_.clear(queue);
        copies_done_.resize(sizeof(BlockCounter)), copies_done_.clear(queue);
        copies_ = {.messages = reinterpret_cast<GpuMessage<N>*>(messages_.data()),
                   .count = count_,
                   .copies_of_slot = copies_of_slot_.data(),
                   .copies = copy_table_.data(),
                   .capacity = capacity_,
                   .watch = watch_,
                   .done = reinterpret_cast<BlockCounter*>(copies_done_.data())};
    }
    queue.synchronize(); // the host's tables go
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
    if (is_host_driven(method_)) { learnt_.record(queue); }
}

#define PARHELION_INSTANTIATE(N) template class GpuHalo<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
