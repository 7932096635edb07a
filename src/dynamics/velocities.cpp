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
                         const ConstraintAssignment& assignment, ParticleState<N>& state)
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
            state.v.set(slot, static_cast<Vec3<Real>>(sigma * Vec3<double>{n.value[0], n.value[1], n.value[2]}));
        }
    });
    constraints.project(queue, assignment, state, state.v);
    const AtomGroups everything;
    remove_com_motion(queue, everything, finish_com_motion(sum_com_motion(queue, everything, state)), state);
    int groups = 1;
    for (const std::uint8_t g : state.temperature_group) { groups = std::max(groups, g + 1); }
    const double now = temperature(compute_kinetic(queue, state, groups).energy(), generation.degrees_of_freedom);
    const double factor = now > 0 ? std::sqrt(generation.temperature / now) : 0;
    for (Real& v : state.v.values()) { v = static_cast<Real>(factor * static_cast<double>(v)); }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void generate_velocities(CpuQueue&, const VelocityGeneration&, const Constraints&, const ConstraintAssignment&,     \
                                      ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
