// SPDX-License-Identifier: Apache-2.0
#include "interactions/field/electric_field.hpp"

#include "trace/phases.hpp"

namespace parhelion {

UniformField make_electric_field(const RunParameters& parameters)
{
    UniformField field;
    for (int d = 0; d < 3; ++d) { field.axis[d] = parameters.electric_field[static_cast<std::size_t>(d)]; }
    field.start_time = parameters.start_time;
    field.dt = parameters.dt;
    return field;
}

template <class N>
void add_electric_field(CpuQueue& queue, const UniformField& field, std::int64_t step, ParticleState<N>& state)
{
    if (!field.acts()) { return; }
    const ScopedPhase span(queue.clock(), Phase::SumForces);
    using Sum = typename N::ForceSum;
    const Vec3<double> per_charge = field.at(step);
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            const Vec3<double> f = static_cast<double>(state.charge[slot]) * per_charge;
            state.f.add(slot, {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)});
        }
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void add_electric_field(CpuQueue&, const UniformField&, std::int64_t, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
