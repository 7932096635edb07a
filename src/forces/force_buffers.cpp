// SPDX-License-Identifier: Apache-2.0
#include "forces/force_buffers.hpp"

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
        std::fill(forces.values().begin(), forces.values().end(), ScalarSum<N>{});
    });
}

namespace {

// This thread's share of the clusters of `sum`, whose first is cluster `first_cluster` of the buffers.
template <class N>
void sum_part(const CpuQueue& queue, int thread, const ForceBuffers<N>& buffers, std::size_t first_cluster,
              ClusterArray<typename N::ForceSum>& sum)
{
    constexpr std::size_t block = 3 * cluster_size;
    const auto [begin, end] = queue.range(sum.values().size(), block, thread);
    for (std::size_t i = begin; i < end; i += block)
    {
        ScalarSum<N> total[block] = {};
        for (const ClusterArray<ScalarSum<N>>& forces : buffers.forces)
        {
            const ScalarSum<N>* part = forces.cluster(first_cluster) + i;
            for (std::size_t k = 0; k < block; ++k) { total[k] += part[k]; }
        }
        for (std::size_t k = 0; k < block; ++k) { sum.values()[i + k] = static_cast<typename N::ForceSum>(total[k]); }
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
