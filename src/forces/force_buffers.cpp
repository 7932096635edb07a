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
        std::fill(forces.values().begin(), forces.values().end(), typename N::ForceSum{});
    });
}

template <class N>
void sum_forces(CpuQueue& queue, const ForceBuffers<N>& buffers, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::SumForces);
    auto& sum = state.f.values();
    queue.for_range(sum.size(), 3 * cluster_size, [&](int, std::size_t begin, std::size_t end) {
        const auto& first = buffers.forces.front().values();
        std::copy(first.begin() + static_cast<std::ptrdiff_t>(begin), first.begin() + static_cast<std::ptrdiff_t>(end),
                  sum.begin() + static_cast<std::ptrdiff_t>(begin));
        for (std::size_t t = 1; t < buffers.forces.size(); ++t)
        {
            const auto& part = buffers.forces[t].values();
            for (std::size_t i = begin; i < end; ++i) { sum[i] += part[i]; }
        }
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
    template void sum_forces<N>(CpuQueue&, const ForceBuffers<N>&, ParticleState<N>&);                                           \
    template EnergySums<N> sum_energies<N>(const ForceBuffers<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
