// SPDX-License-Identifier: Apache-2.0
#include "dynamics/com.hpp"

#include "base/error.hpp"

#include <array>

namespace parhelion {

namespace {

struct ComMotion
{
    Vec3<double> velocity; // nm/ps
    double mass = 0;       // u
};

template <class N>
std::vector<ComMotion> com_motions(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state)
{
    using Sums = std::vector<std::array<ScalarSum<N>, 4>>; // momentum, mass
    const auto n = static_cast<std::size_t>(groups.count);
    std::vector<Sums> per_thread(static_cast<std::size_t>(queue.threads()), Sums(n));
    queue.for_range(state.slots(), cluster_size, [&](int thread, std::size_t begin, std::size_t end) {
        Sums sums(n);
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] < 0) { continue; }
            const std::uint8_t g = groups.group(state.global_of_slot[slot]);
            if (g == AtomGroups::none) { continue; }
            const double mass = 1 / static_cast<double>(state.inverse_mass[slot]);
            const auto v = static_cast<Vec3<double>>(state.v.get(slot));
            for (int d = 0; d < 3; ++d) { sums[g][static_cast<std::size_t>(d)] += to_sum<ScalarSum<N>>(mass * v[d]); }
            sums[g][3] += to_sum<ScalarSum<N>>(mass);
        }
        per_thread[static_cast<std::size_t>(thread)] = std::move(sums);
    });
    std::vector<ComMotion> motions(n);
    for (std::size_t g = 0; g < n; ++g)
    {
        std::array<ScalarSum<N>, 4> sum{};
        for (const Sums& sums : per_thread)
        {
            for (std::size_t k = 0; k < 4; ++k) { sum[k] += sums[g][k]; }
        }
        const double mass = from_sum(sum[3]);
        if (mass > 0) { motions[g] = {(1 / mass) * Vec3<double>{from_sum(sum[0]), from_sum(sum[1]), from_sum(sum[2])}, mass}; }
    }
    return motions;
}

} // namespace

template <class N>
std::vector<Vec3<double>> com_velocities(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state)
{
    std::vector<Vec3<double>> velocities;
    for (const ComMotion& motion : com_motions(queue, groups, state)) { velocities.push_back(motion.velocity); }
    return velocities;
}

template <class N>
double remove_com_motion(CpuQueue& queue, const AtomGroups& groups, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Kinetic);
    const std::vector<ComMotion> motions = com_motions(queue, groups, state);
    queue.for_range(state.slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] < 0) { continue; }
            const std::uint8_t g = groups.group(state.global_of_slot[slot]);
            if (g == AtomGroups::none) { continue; }
            state.v.set(slot,
                        static_cast<Vec3<typename N::Real>>(static_cast<Vec3<double>>(state.v.get(slot)) - motions[g].velocity));
        }
    });
    double removed = 0;
    for (const ComMotion& motion : motions) { removed += 0.5 * motion.mass * norm2(motion.velocity); }
    return removed;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::vector<Vec3<double>> com_velocities(CpuQueue&, const AtomGroups&, const ParticleState<N>&);                    \
    template double remove_com_motion(CpuQueue&, const AtomGroups&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
