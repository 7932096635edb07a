// SPDX-License-Identifier: Apache-2.0
#include "interactions/field/acceleration.hpp"

#include "base/error.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

// Returns the acceleration of the centre of mass of all atoms.
Vec3<double> mean_acceleration(const Topology& topology, const GroupAcceleration& acceleration)
{
    Vec3<double> force;
    double total = 0;
    std::size_t global = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (const Atom& atom : topology.molecule_types[static_cast<std::size_t>(block.type)].atoms)
            {
                force += atom.mass * acceleration.of_group[acceleration.group_of_atom[global++]];
                total += atom.mass;
            }
        }
    }
    return total > 0 ? 1 / total * force : Vec3<double>{};
}

} // namespace

GroupAcceleration make_acceleration(const System& system, const RunParameters& parameters)
{
    GroupAcceleration made;
    if (parameters.accelerated_groups.empty()) { return made; }
    PARHELION_EXPECTS(parameters.accelerated_groups.size() <= 255);
    made.group_of_atom.resize(static_cast<std::size_t>(system.topology.atom_count()));
    made.of_group.emplace_back();
    for (const AcceleratedGroup& group : parameters.accelerated_groups)
    {
        const auto index = static_cast<std::uint8_t>(made.of_group.size());
        made.of_group.push_back(group.acceleration);
        const auto named = system.groups.find(group.name);
        if (named == system.groups.end()) { std::ranges::fill(made.group_of_atom, index); } // the group is System
        else
        {
            for (const std::int64_t atom : named->second) { made.group_of_atom[static_cast<std::size_t>(atom)] = index; }
        }
    }
    if (parameters.com_mode == ComMode::None) { return made; }
    const Vec3<double> mean = mean_acceleration(system.topology, made);
    for (int d = 0; d < 3; ++d)
    {
        if (std::abs(mean[d]) * system.topology.total_mass() <= 1e-6) { continue; } // u nm/ps^2, GROMACS' limit
        for (Vec3<double>& a : made.of_group) { a[d] -= mean[d]; }
    }
    return made;
}

template <class N>
void add_acceleration(CpuQueue& queue, const GroupAcceleration& acceleration, ParticleState<N>& state)
{
    if (!acceleration.acts()) { return; }
    const ScopedPhase span(queue.clock(), Phase::SumForces);
    using Sum = typename N::ForceSum;
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            const auto inverse_mass = static_cast<double>(state.inverse_mass[slot]);
            if (state.global_of_slot[slot] < 0 || !(inverse_mass > 0)) { continue; }
            const std::uint8_t group = acceleration.group_of_atom[static_cast<std::size_t>(state.global_of_slot[slot])];
            const Vec3<double> f = 1 / inverse_mass * acceleration.of_group[group];
            state.f.add(slot, {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)});
        }
    });
}

#define PARHELION_INSTANTIATE(N) template void add_acceleration(CpuQueue&, const GroupAcceleration&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
