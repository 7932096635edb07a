// SPDX-License-Identifier: Apache-2.0
#include "dynamics/com.hpp"

#include "base/error.hpp"
#include "model/frozen_atoms.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <utility>

namespace parhelion {

ComGroups make_com_groups(AtomGroups groups, const Topology& topology)
{
    ComGroups made{std::move(groups), {}};
    const auto is_frozen = [](const MoleculeType& type) {
        return std::ranges::any_of(type.atoms, [](const Atom& atom) { return atom.frozen != 0; });
    };
    if (std::ranges::none_of(topology.molecule_types, is_frozen)) { return made; }
    made.frozen.resize(static_cast<std::size_t>(made.groups.count));
    if (made.groups.of_atom.empty()) { made.groups.of_atom.resize(static_cast<std::size_t>(topology.atom_count())); }
    std::size_t global = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (const Atom& atom : topology.molecule_types[static_cast<std::size_t>(block.type)].atoms)
            {
                std::uint8_t& group = made.groups.of_atom[global++];
                if (atom.frozen == every_axis) { group = AtomGroups::none; }
                if (group == AtomGroups::none) { continue; }
                for (int d = 0; d < 3; ++d)
                {
                    if ((atom.frozen >> d & 1) != 0) { made.frozen[group][d] += atom.mass; }
                }
            }
        }
    }
    return made;
}

template <class N>
std::vector<ScalarSum<N>> sum_com_motion(CpuQueue& queue, const AtomGroups& groups, const ParticleState<N>& state, ComMode mode)
{
    const ScopedPhase span(queue.clock(), Phase::Kinetic);
    using Sums = std::vector<ScalarSum<N>>;
    const auto sums_per_group = static_cast<std::size_t>(com_sum_count(mode));
    Sums total(sums_per_group * static_cast<std::size_t>(groups.count));
    std::vector<Sums> per_thread(static_cast<std::size_t>(queue.threads()), total);
    queue.for_range(state.home_slots(), cluster_size, [&](int thread, std::size_t begin, std::size_t end) {
        Sums sums(total.size()); // allocated by this thread, so it has cache lines of its own
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] < 0) { continue; }
            const std::uint8_t g = groups.group(state.global_of_slot[slot]);
            if (g == AtomGroups::none) { continue; }
            const auto inverse_mass = static_cast<double>(state.inverse_mass[slot]);
            if (!(inverse_mass > 0)) { continue; } // virtual sites have no mass
            const double mass = 1 / inverse_mass;
            const auto v = static_cast<Vec3<double>>(state.v.get(slot));
            ScalarSum<N>* sum = sums.data() + sums_per_group * g;
            double products[angular_com_sums];
            com_products(mode, mass, v, state.box.to_nm(state.x.get(slot)), products);
            for (std::size_t k = 0; k < sums_per_group; ++k) { sum[k] += to_sum<ScalarSum<N>>(products[k]); }
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
std::vector<ComMotion> finish_com_motion(const std::vector<Sum>& sums, const std::vector<Vec3<double>>& frozen, ComMode mode)
{
    const auto sums_per_group = static_cast<std::size_t>(com_sum_count(mode));
    PARHELION_EXPECTS(sums.size() % sums_per_group == 0);
    std::vector<ComMotion> motions(sums.size() / sums_per_group);
    for (std::size_t g = 0; g < motions.size(); ++g)
    {
        const Sum* sum = sums.data() + sums_per_group * g;
        ComMotion& motion = motions[g];
        motion.mass = from_sum(sum[3]);
        if (!frozen.empty()) { motion.frozen = frozen[g]; }
        motion.velocity = com_velocity({from_sum(sum[0]), from_sum(sum[1]), from_sum(sum[2])}, motion.mass, motion.frozen);
        if (mode != ComMode::Angular) { continue; }
        double values[angular_com_sums];
        std::transform(sum, sum + angular_com_sums, values, [](Sum s) { return from_sum(s); });
        motion.rotation = rotation_of(values);
    }
    return motions;
}

namespace {

// Calls act(slot, motion, axes) for the home atoms of all groups: the motion of the atom's group, the axes along which it moves.
template <class N, class Act>
void for_each_moved(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions,
                    const ParticleState<N>& state, const Mobility& mobility, const Act& act)
{
    const ScopedPhase span(queue.clock(), Phase::Kinetic);
    PARHELION_EXPECTS(motions.size() == static_cast<std::size_t>(groups.count));
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] < 0) { continue; }
            const std::uint8_t g = groups.group(state.global_of_slot[slot]);
            if (g == AtomGroups::none) { continue; }
            act(slot, motions[g], mobility.empty() ? Vec3<double>{1, 1, 1} : mobility[state.temperature_group[slot]]);
        }
    });
}

} // namespace

template <class N>
void remove_com_motion(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, ParticleState<N>& state,
                       const Mobility& mobility)
{
    for_each_moved(
        queue, groups, motions, state, mobility, [&](std::size_t slot, const ComMotion& of_group, const Vec3<double>& moves) {
            Vec3<double> motion = of_group.velocity;
            if (of_group.rotation.rate != Vec3<double>{}) { motion += of_group.rotation.at(state.box.to_nm(state.x.get(slot))); }
            motion = along(moves, motion);
            state.v.set(slot, static_cast<Vec3<typename N::Real>>(static_cast<Vec3<double>>(state.v.get(slot)) - motion));
        });
}

template <class N>
void remove_com_displacement(CpuQueue& queue, const AtomGroups& groups, const std::vector<ComMotion>& motions, double time,
                             ParticleState<N>& state, const Mobility& mobility)
{
    for_each_moved(queue, groups, motions, state, mobility,
                   [&](std::size_t slot, const ComMotion& of_group, const Vec3<double>& moves) {
                       state.x.set(slot, state.box.displaced(state.x.get(slot), -0.5 * time * along(moves, of_group.velocity)));
                   });
}

double kinetic_energy(const std::vector<ComMotion>& motions)
{
    double energy = 0;
    for (const ComMotion& motion : motions)
    {
        energy += 0.5 * motion.mass * norm2(motion.velocity) - 0.5 * dot(motion.velocity, along(motion.frozen, motion.velocity));
        energy += motion.rotation.energy;
    }
    return energy;
}

template std::vector<ComMotion> finish_com_motion(const std::vector<double>&, const std::vector<Vec3<double>>&, ComMode);
template std::vector<ComMotion> finish_com_motion(const std::vector<std::int64_t>&, const std::vector<Vec3<double>>&, ComMode);

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::vector<ScalarSum<N>> sum_com_motion(CpuQueue&, const AtomGroups&, const ParticleState<N>&, ComMode);           \
    template void remove_com_motion(CpuQueue&, const AtomGroups&, const std::vector<ComMotion>&, ParticleState<N>&,              \
                                    const Mobility&);                                                                            \
    template void remove_com_displacement(CpuQueue&, const AtomGroups&, const std::vector<ComMotion>&, double,                   \
                                          ParticleState<N>&, const Mobility&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
