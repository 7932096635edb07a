// SPDX-License-Identifier: Apache-2.0
#include "halo/messages.hpp"

#include "base/bytes.hpp"

#include <algorithm>
#include <cstring>

namespace parhelion {

template <class N>
void HaloMessages<N>::bind(HaloPlan plan)
{
    plan_ = std::move(plan);
    links_.clear();
    forwards_.assign(size(), {});
    std::vector<SetupMessage> setup_messages;
    std::vector<int> sources;
    for (std::size_t m = 0; m < size(); ++m)
    {
        const HaloMessage& message = plan_.messages[m];
        const auto [entry, is_new] = opened_.try_emplace({m, message.send_to});
        Link& l = entry->second;
        links_.push_back(&l);
        if (is_new)
        {
            const ChannelOptions options{.depth = 2, .credits = Credits::No, .first_epoch = first_epoch_};
            const std::string pulse = ", pulse " + std::to_string(m);
            const std::string x = "halo coordinates" + pulse, f = "halo forces" + pulse;
            l.send_x = comm_.open_send(x, message.send_to, options);
            l.receive_x = comm_.open_receive(x, message.receive_from, options);
            l.send_f = comm_.open_send(f, message.receive_from, options);
            l.receive_f = comm_.open_receive(f, message.send_to, options);
        }
        for (std::size_t earlier = 0; earlier < m; ++earlier)
        {
            const auto [first, last] = plan_.block(earlier + 1);
            const auto found = std::lower_bound(message.clusters.begin(), message.clusters.end(), first);
            if (found != message.clusters.end() && *found < last) { forwards_[m].push_back(earlier); }
        }
        // The receiver owns the slots and tells the sender their address. A non-null address later shows that a message has
        // arrived, so no slot is empty.
        const Placement x = l.receive_x.reserve(static_cast<std::size_t>(message.count + 1) * block_bytes<Fixed>);
        const Placement f = l.receive_f.reserve((message.clusters.size() + 1) * block_bytes<ForceSum>);
        ByteWriter(setup_messages.emplace_back(SetupMessage{message.receive_from, {}}).bytes).put(x);
        ByteWriter(setup_messages.emplace_back(SetupMessage{message.send_to, {}}).bytes).put(f);
        sources.insert(sources.end(), {message.send_to, message.receive_from});
    }
    const std::vector<SetupMessage> placements = comm_.exchange(setup_messages, sources);
    for (std::size_t m = 0; m < size(); ++m)
    {
        link(m).send_x.bind(ByteReader(placements[2 * m].bytes).get<Placement>());
        link(m).send_f.bind(ByteReader(placements[2 * m + 1].bytes).get<Placement>());
    }
}

template <class N>
void HaloMessages<N>::pack_coordinates(std::size_t m, Range entries, const ParticleState<N>& state, std::byte* slot) const
{
    const std::vector<std::int32_t>& clusters = plan_.messages[m].clusters;
    for (std::size_t i = entries.begin; i < entries.end; ++i)
    {
        copy_block(slot + i * block_bytes<Fixed>, state.x.cluster(static_cast<std::size_t>(clusters[i])));
    }
}

template <class N>
void HaloMessages<N>::unpack_coordinates(std::size_t m, int thread, const std::byte* slot, ParticleState<N>& state) const
{
    const HaloMessage& message = plan_.messages[m];
    const auto [begin, end] = share(static_cast<std::size_t>(message.count), thread);
    if (begin == end) { return; }
    std::memcpy(state.x.cluster(static_cast<std::size_t>(message.first) + begin), slot + begin * block_bytes<Fixed>,
                (end - begin) * block_bytes<Fixed>);
}

template <class N>
void HaloMessages<N>::pack_forces(std::size_t m, int thread, const ClusterArray<ForceSum>& halo_forces, std::byte* slot) const
{
    const HaloMessage& message = plan_.messages[m];
    const auto [begin, end] = share(static_cast<std::size_t>(message.count), thread);
    if (begin == end) { return; }
    std::memcpy(slot + begin * block_bytes<ForceSum>,
                halo_forces.cluster(static_cast<std::size_t>(message.first) - plan_.home_clusters + begin),
                (end - begin) * block_bytes<ForceSum>);
}

// Adds returned forces. A thread adds to its share of each message's clusters, which is the share that it packs,
// too. So no two threads use the same cluster, and a thread that has added returned forces may send its share on.
template <class N>
void HaloMessages<N>::add_forces(std::size_t m, int thread, const std::byte* slot, ClusterArray<ForceSum>& halo_forces,
                                 ParticleState<N>& state) const
{
    const std::vector<std::int32_t>& clusters = plan_.messages[m].clusters;
    const auto add_to = [&](std::size_t block, auto&& target) {
        const auto [first, last] = plan_.block(block);
        const auto [begin, end] = share(static_cast<std::size_t>(last - first), thread);
        auto entry = std::lower_bound(clusters.begin(), clusters.end(), first + static_cast<std::int32_t>(begin));
        for (; entry != clusters.end() && *entry < first + static_cast<std::int32_t>(end); ++entry)
        {
            ForceSum received[3 * cluster_size];
            std::memcpy(received, slot + static_cast<std::size_t>(entry - clusters.begin()) * block_bytes<ForceSum>,
                        sizeof received);
            ForceSum* f = target(static_cast<std::size_t>(*entry));
            for (int i = 0; i < 3 * cluster_size; ++i) { f[i] += received[i]; }
        }
    };
    add_to(0, [&](std::size_t cluster) { return state.f.cluster(cluster); });
    for (const std::size_t earlier : forwards_[m])
    {
        add_to(earlier + 1, [&](std::size_t cluster) { return halo_forces.cluster(cluster - plan_.home_clusters); });
    }
}

template <class N>
void HaloMessages<N>::send_together(std::size_t begin, std::size_t end, ParticleState<N>& state)
{
    std::vector<std::byte*> slots(size());
    for (std::size_t m = begin; m < end; ++m)
    {
        slots[m] = link(m).send_x.begin(plan_.messages[m].clusters.size() * block_bytes<Fixed>);
    }
    queue_.run([&](int thread) {
        for (std::size_t m = begin; m < end; ++m)
        {
            pack_coordinates(m, share(plan_.messages[m].clusters.size(), thread), state, slots[m]);
        }
    });
    for (std::size_t m = begin; m < end; ++m) { link(m).send_x.publish(plan_.messages[m].clusters.size() * block_bytes<Fixed>); }
    for (std::size_t m = begin; m < end; ++m) { slots[m] = link(m).receive_x.wait().data; }
    queue_.run([&](int thread) {
        for (std::size_t m = begin; m < end; ++m) { unpack_coordinates(m, thread, slots[m], state); }
    });
    for (std::size_t m = begin; m < end; ++m) { link(m).receive_x.ack(); }
}

template <class N>
void HaloMessages<N>::return_together(std::size_t begin, std::size_t end, ClusterArray<ForceSum>& halo_forces,
                                      ParticleState<N>& state)
{
    std::vector<std::byte*> slots(size());
    const auto bytes = [&](std::size_t m) { return static_cast<std::size_t>(plan_.messages[m].count) * block_bytes<ForceSum>; };
    for (std::size_t m = begin; m < end; ++m) { slots[m] = link(m).send_f.begin(bytes(m)); }
    queue_.run([&](int thread) {
        for (std::size_t m = begin; m < end; ++m) { pack_forces(m, thread, halo_forces, slots[m]); }
    });
    for (std::size_t m = begin; m < end; ++m) { link(m).send_f.publish(bytes(m)); }
    for (std::size_t m = begin; m < end; ++m) { slots[m] = link(m).receive_f.wait().data; }
    queue_.run([&](int thread) {
        for (std::size_t m = end; m-- > begin;) { add_forces(m, thread, slots[m], halo_forces, state); }
    });
    for (std::size_t m = begin; m < end; ++m) { link(m).receive_f.ack(); }
}

#define PARHELION_INSTANTIATE(N) template class HaloMessages<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
