// SPDX-License-Identifier: Apache-2.0
#include "interactions/force_buffers.hpp"

#include "trace/phases.hpp"

#include <algorithm>

namespace parhelion {

template <class N>
void clear_forces(CpuQueue& queue, ForceBuffers<N>& buffers, std::size_t slots)
{
    const ScopedPhase span(queue.clock(), Phase::SumForces);
    buffers.forces.resize(static_cast<std::size_t>(queue.threads()));
    buffers.energies.assign(static_cast<std::size_t>(queue.threads()), {});
    queue.run([&](int thread) {
        auto& forces = buffers.forces[static_cast<std::size_t>(thread)];
        if (forces.slots() != slots) { forces.resize(slots); }
        std::fill(forces.values().begin(), forces.values().end(), typename N::ForceSum{});
    });
}

namespace {

// Sums forces over threads, for this thread's part of the clusters of `sum`. Its first cluster is first_cluster of the buffers.
template <class N>
void sum_part(const CpuQueue& queue, int thread, const ForceBuffers<N>& buffers, std::size_t first_cluster,
              ClusterArray<typename N::ForceSum>& sum)
{
    const auto [begin, end] = queue.range(sum.values().size(), 3 * cluster_size, thread);
    for (std::size_t t = 0; t < buffers.forces.size(); ++t)
    {
        const auto* part = buffers.forces[t].cluster(first_cluster);
        auto* to = sum.values().data();
        if (t == 0) { std::copy(part + begin, part + end, to + begin); }
        else
        {
            for (std::size_t i = begin; i < end; ++i) { to[i] += part[i]; }
        }
    }
}

} // namespace

template <class N>
void sum_forces(CpuQueue& queue, ForceBuffers<N>& buffers, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::SumForces);
    buffers.halo.resize(state.slots() - state.home_slots());
    queue.run([&](int thread) {
        sum_part(queue, thread, buffers, 0, state.f);
        sum_part(queue, thread, buffers, state.home_clusters(), buffers.halo);
    });
}

template <class N>
EnergySums<N> sum_energies(const ForceBuffers<N>& buffers)
{
    EnergySums<N> total;
    for (const EnergySums<N>& part : buffers.energies) { total += part; }
    return total;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void clear_forces<N>(CpuQueue&, ForceBuffers<N>&, std::size_t);                                                     \
    template void sum_forces<N>(CpuQueue&, ForceBuffers<N>&, ParticleState<N>&);                                                 \
    template EnergySums<N> sum_energies<N>(const ForceBuffers<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
