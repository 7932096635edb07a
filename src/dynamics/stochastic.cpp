// SPDX-License-Identifier: Apache-2.0
#include "dynamics/stochastic.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "dynamics/stochastic_body.hpp"
#include "trace/phases.hpp"

#include <cmath>

namespace parhelion {

StochasticDynamics make_stochastic_dynamics(const RunParameters& parameters, std::uint64_t seed, const Mobility& mobility)
{
    StochasticDynamics dynamics;
    dynamics.seed = seed;
    for (const TemperatureGroup& group : parameters.temperature_groups)
    {
        const double keep = group.tau > 0 ? std::exp(-parameters.dt / group.tau) : 1;
        dynamics.groups.push_back({keep, units::boltzmann * group.reference});
    }
    const std::size_t n = dynamics.groups.size();
    for (std::size_t g = n; n > 0 && g < mobility.size(); ++g)
    {
        dynamics.groups.push_back({dynamics.groups[g % n].keep, dynamics.groups[g % n].kt, mobility[g]});
    }
    return dynamics;
}

void anneal(const TemperatureCoupling& coupling, StochasticDynamics& dynamics)
{
    for (std::size_t g = 0; g < dynamics.groups.size(); ++g)
    {
        dynamics.groups[g].kt = units::boltzmann * coupling.groups[g % coupling.groups.size()].reference;
    }
}

template <class N>
void friction_and_noise(CpuQueue& queue, const StochasticDynamics& dynamics, std::int64_t step, ParticleState<N>& state,
                        ClusterArray<typename N::Real>& before)
{
    const ScopedPhase span(queue.clock(), Phase::Couple);
    PARHELION_EXPECTS(!dynamics.groups.empty());
    before = state.v;
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            const std::int32_t global = state.global_of_slot[slot];
            if (global < 0) { continue; }
            const StochasticDynamics::Group& group = dynamics.groups[state.temperature_group[slot]];
            const auto v1 = static_cast<Vec3<double>>(state.v.get(slot));
            const Vec3<double> v2 =
                after_friction_and_noise(group, dynamics.seed, step, global, static_cast<double>(state.inverse_mass[slot]), v1);
            state.v.set(slot, static_cast<Vec3<typename N::Real>>(0.5 * (v1 + v2)));
        }
    });
}

template <class N>
ScalarSum<N> finish_stochastic_step(CpuQueue& queue, const ClusterArray<typename N::Real>& before, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Couple);
    std::vector<ScalarSum<N>> heat(static_cast<std::size_t>(queue.threads()));
    queue.for_range(state.home_slots(), cluster_size, [&](int thread, std::size_t begin, std::size_t end) {
        ScalarSum<N> sum{};
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] < 0) { continue; }
            const auto v1 = static_cast<Vec3<double>>(before.get(slot));
            const auto v2 = static_cast<Vec3<typename N::Real>>(2.0 * static_cast<Vec3<double>>(state.v.get(slot)) - v1);
            state.v.set(slot, v2);
            const auto inverse_mass = static_cast<double>(state.inverse_mass[slot]);
            if (!(inverse_mass > 0)) { continue; } // virtual sites have no mass
            const double mass = 1 / inverse_mass;
            sum += to_sum<ScalarSum<N>>(0.5 * mass * (norm2(static_cast<Vec3<double>>(v2)) - norm2(v1)));
        }
        heat[static_cast<std::size_t>(thread)] = sum;
    });
    ScalarSum<N> total{};
    for (const ScalarSum<N> h : heat) { total += h; }
    return total;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void friction_and_noise(CpuQueue&, const StochasticDynamics&, std::int64_t, ParticleState<N>&,                      \
                                     ClusterArray<N::Real>&);                                                                    \
    template ScalarSum<N> finish_stochastic_step(CpuQueue&, const ClusterArray<N::Real>&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
