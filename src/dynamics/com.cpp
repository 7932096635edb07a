// SPDX-License-Identifier: Apache-2.0
#include "dynamics/com.hpp"

#include "base/error.hpp"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr std::size_t sums_per_group = 4; // momentum, mass

} // namespace

template <class N>
std::vector<ScalarSum<N>> sum_com_motion(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Kinetic);
    using Sums = std::vector<ScalarSum<N>>;
    Sums total(sums_per_group * static_cast<std::size_t>(groups.count));
    std::vector<Sums> per_thread(static_cast<std::size_t>(queue.threads()), total);
    queue.for_range(state.home_slots(), cluster_size, [&](int thread, std::size_t begin, std::size_t end) {
        Sums sums(total.size()); // on this thread's own cache lines
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] < 0) { continue; }
            const std::uint8_t g = groups.group(state.global_of_slot[slot]);
            if (g == AtomGroups::none) { continue; }
            const double mass = 1 / static_cast<double>(state.inverse_mass[slot]);
            const auto v = static_cast<Vec3<double>>(state.v.get(slot));
            ScalarSum<N>* sum = sums.data() + sums_per_group * g;
            for (int d = 0; d < 3; ++d) { sum[d] += to_sum<ScalarSum<N>>(mass * v[d]); }
            sum[3] += to_sum<ScalarSum<N>>(mass);
        }
        per_thread[static_cast<std::size_t>(thread)] = std::move(sums);
    });
    for (const Sums& sums : per_thread)
    {
        for (std::size_t i = 0; i < total.size(); ++i) { total[i] += sums[i]; }
    }
    return total;
}

template <class Sum>
std::vector<ComMotion> finish_com_motion(const std::vector<Sum>& sums)
{
    PARHELION_EXPECTS(sums.size() % sums_per_group == 0);
    std::vector<ComMotion> motions(sums.size() / sums_per_group);
    for (std::size_t g = 0; g < motions.size(); ++g)
    {
        const Sum* sum = sums.data() + sums_per_group * g;
        const double mass = from_sum(sum[3]);
        if (mass > 0) { motions[g] = {(1 / mass) * Vec3<double>{from_sum(sum[0]), from_sum(sum[1]), from_sum(sum[2])}, mass}; }
    }
    return motions;
}

template <class N>
void remove_com_motion(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Kinetic);
    PARHELION_EXPECTS(motions.size() == static_cast<std::size_t>(groups.count));
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] < 0) { continue; }
            const std::uint8_t g = groups.group(state.global_of_slot[slot]);
            if (g == AtomGroups::none) { continue; }
            state.v.set(slot,
                        static_cast<Vec3<typename N::Real>>(static_cast<Vec3<double>>(state.v.get(slot)) - motions[g].velocity));
        }
    });
}

double kinetic_energy(const std::vector<ComMotion>& motions)
{
    double energy = 0;
    for (const ComMotion& motion : motions) { energy += 0.5 * motion.mass * norm2(motion.velocity); }
    return energy;
}

template std::vector<ComMotion> finish_com_motion(const std::vector<double>&);
template std::vector<ComMotion> finish_com_motion(const std::vector<std::int64_t>&);

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::vector<ScalarSum<N>> sum_com_motion(CpuQueue&, const AtomGroups&, const ParticleState<N>&);                    \
    template void remove_com_motion(CpuQueue&, const AtomGroups&, const std::vector<ComMotion>&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
