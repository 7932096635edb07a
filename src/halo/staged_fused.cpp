// SPDX-License-Identifier: Apache-2.0
#include "halo/staged_fused.hpp"

#include "halo/shared_messages.hpp"

#include <algorithm>
#include <cstring>

namespace parhelion {

template <class N>
void StagedFusedExchange<N>::send_coordinates(HaloMessages<N>& messages, ParticleState<N>& state)
{
    using Fixed = typename N::Fixed;
    std::vector<std::byte*> out(messages.size());
    for (std::size_t m = 0; m < messages.size(); ++m) { out[m] = messages.link(m).send_x.begin(messages.bytes_of_x(m)); }
    SharedMessages shared(messages.queue().threads(), messages.size());
    const auto await = [&](std::size_t m, int thread) {
        return shared.await(m, thread, [&] { return messages.link(m).receive_x.wait().data; });
    };
    shared.run(messages.queue(), [&](int thread) {
        const auto meet = [&](std::size_t m) {
            if (shared.is_last(m)) { messages.link(m).send_x.publish(messages.bytes_of_x(m)); }
        };
        for (std::size_t m = 0; m < messages.size(); ++m)
        {
            messages.pack_coordinates(m, messages.share(messages.plan().messages[m].home, thread), state, out[m]);
            if (messages.forwards(m).empty()) { meet(m); }
        }
        // Forwarded clusters are read from the slot where they arrived, so that they need not be unpacked first.
        for (std::size_t m = 0; m < messages.size(); ++m)
        {
            if (messages.forwards(m).empty()) { continue; }
            const std::vector<std::int32_t>& clusters = messages.plan().messages[m].clusters;
            for (const std::size_t earlier : messages.forwards(m))
            {
                const std::byte* const in = await(earlier, thread);
                if (in == nullptr) { return; }
                const auto [first, last] = messages.plan().block(earlier + 1);
                const auto from = std::lower_bound(clusters.begin(), clusters.end(), first) - clusters.begin();
                const auto to = std::lower_bound(clusters.begin(), clusters.end(), last) - clusters.begin();
                const auto [begin, end] = messages.share(static_cast<std::size_t>(to - from), thread);
                for (std::size_t i = static_cast<std::size_t>(from) + begin; i < static_cast<std::size_t>(from) + end; ++i)
                {
                    std::memcpy(out[m] + i * block_bytes<Fixed>,
                                in + static_cast<std::size_t>(clusters[i] - first) * block_bytes<Fixed>, block_bytes<Fixed>);
                }
            }
            meet(m);
        }
        for (std::size_t m = 0; m < messages.size(); ++m)
        {
            const std::byte* const in = await(m, thread);
            if (in == nullptr) { return; }
            messages.unpack_coordinates(m, thread, in, state);
        }
    });
    for (std::size_t m = 0; m < messages.size(); ++m) { messages.link(m).receive_x.ack(); }
}

template <class N>
void StagedFusedExchange<N>::return_forces(HaloMessages<N>& messages, ClusterArray<ForceSum>& halo_forces,
                                           ParticleState<N>& state)
{
    std::vector<std::byte*> out(messages.size());
    for (std::size_t m = 0; m < messages.size(); ++m) { out[m] = messages.link(m).send_f.begin(messages.bytes_of_f(m)); }
    SharedMessages shared(messages.queue().threads(), messages.size());
    // needs[m]: the first message whose forces must return before message m is complete; messages.size() if there is none.
    std::vector<std::size_t> needs(messages.size(), messages.size());
    for (std::size_t m = messages.size(); m-- > 0;)
    {
        for (const std::size_t earlier : messages.forwards(m)) { needs[earlier] = m; }
    }
    shared.run(messages.queue(), [&](int thread) {
        std::size_t to_add = messages.size(); // the messages from this one to the last have been added
        const auto add_from = [&](std::size_t m) {
            while (to_add > m)
            {
                const std::byte* const in =
                    shared.await(to_add - 1, thread, [&] { return messages.link(to_add - 1).receive_f.wait().data; });
                if (in == nullptr) { return false; }
                messages.add_forces(--to_add, thread, in, halo_forces, state);
            }
            return true;
        };
        for (std::size_t m = messages.size(); m-- > 0;)
        {
            if (!add_from(needs[m])) { return; }
            messages.pack_forces(m, thread, halo_forces, out[m]);
            if (shared.is_last(m)) { messages.link(m).send_f.publish(messages.bytes_of_f(m)); }
        }
        add_from(0);
    });
    for (std::size_t m = 0; m < messages.size(); ++m) { messages.link(m).receive_f.ack(); }
}

#define PARHELION_INSTANTIATE(N) template class StagedFusedExchange<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
