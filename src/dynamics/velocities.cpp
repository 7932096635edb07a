// SPDX-License-Identifier: Apache-2.0
#include "dynamics/velocities.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "dynamics/com.hpp"
#include "dynamics/kinetic.hpp"

#include <cmath>

namespace parhelion {

template <class N>
void generate_velocities(CpuQueue& queue, const VelocityGeneration& generation, const Constraints& constraints,
                         const ConstraintAssignment& assignment, ParticleState<N>& state, const Mobility& mobility)
{
    using Real = typename N::Real;
    PARHELION_EXPECTS(generation.temperature >= 0);
    const double kt = units::boltzmann * generation.temperature;
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            const std::int32_t global = state.global_of_slot[slot];
            if (global < 0) { continue; }
            const NormalDeviates n =
                normal_deviates(random_bits(generation.seed, RandomPurpose::Velocities, 0, static_cast<std::uint32_t>(global)));
            const double sigma = std::sqrt(kt * static_cast<double>(state.inverse_mass[slot]));
            const Vec3<double> v = sigma * Vec3<double>{n.value[0], n.value[1], n.value[2]};
            state.v.set(slot, static_cast<Vec3<Real>>(mobility.empty() ? v : along(mobility[state.temperature_group[slot]], v)));
        }
    });
    constraints.project(queue, assignment, state, state.v);
    const AtomGroups everything;
    remove_com_motion(queue, everything, finish_com_motion(sum_com_motion(queue, everything, state)), state, mobility);
    int groups = 1;
    for (const std::uint8_t g : state.temperature_group) { groups = std::max(groups, g + 1); }
    const double now = temperature(compute_kinetic(queue, state, groups).energy(), generation.degrees_of_freedom);
    const double factor = now > 0 ? std::sqrt(generation.temperature / now) : 0;
    for (Real& v : state.v.values()) { v = static_cast<Real>(factor * static_cast<double>(v)); }
}

template <class N>
void stop_frozen(CpuQueue& queue, const Mobility& mobility, ParticleState<N>& state)
{
    if (mobility.empty()) { return; }
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            const auto v = static_cast<Vec3<double>>(state.v.get(slot));
            state.v.set(slot, static_cast<Vec3<typename N::Real>>(along(mobility[state.temperature_group[slot]], v)));
        }
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void generate_velocities(CpuQueue&, const VelocityGeneration&, const Constraints&, const ConstraintAssignment&,     \
                                      ParticleState<N>&, const Mobility&);                                                       \
    template void stop_frozen(CpuQueue&, const Mobility&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
