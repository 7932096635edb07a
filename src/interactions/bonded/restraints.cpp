// SPDX-License-Identifier: Apache-2.0
#include "interactions/bonded/restraints.hpp"

#include "base/error.hpp"
#include "interactions/bonded/restraints_body.hpp"
#include "trace/phases.hpp"

#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace parhelion {

namespace {

// Calls visit(global atom, parameters) for every restraint of a kind, in the order of the blocks.
template <class Visit>
void for_each_restraint(const Topology& topology, InteractionKind kind, Visit&& visit)
{
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        if (type.of(kind).empty()) { continue; }
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
            for (const Interaction& restraint : type.of(kind))
            {
                visit(first + restraint.atoms[0], topology.parameters_of(kind)[static_cast<std::size_t>(restraint.parameters)]);
            }
        }
    }
}

// Returns the centre of mass of all restrained atoms, each counted once, in the first molecule of each row of like molecules.
Vec3<double> reference_centre(const Topology& topology, const std::vector<Vec3<double>>& reference)
{
    Vec3<double> centre;
    double mass = 0;
    std::string last_name; // copies that are frozen differently share a name
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        if (std::exchange(last_name, type.name) == type.name) { continue; }
        const auto add = [&](std::int32_t atom) {
            const double m = type.atoms[static_cast<std::size_t>(atom)].mass;
            centre += m * reference[static_cast<std::size_t>(block.first_atom + atom)];
            mass += m;
        };
        std::set<std::int32_t> harmonic;
        for (const Interaction& restraint : type.of(InteractionKind::PositionRestraint))
        {
            add(restraint.atoms[0]);
            harmonic.insert(restraint.atoms[0]);
        }
        for (const Interaction& restraint : type.of(InteractionKind::FlatBottomRestraint))
        {
            if (!harmonic.contains(restraint.atoms[0])) { add(restraint.atoms[0]); }
        }
    }
    if (mass > 0) { centre *= 1 / mass; }
    return centre;
}

// Converts reference positions to the form in which they follow the box: a fraction of the box and an offset.
class References
{
public:
    References(const System& system, RefcoordScaling scaling)
        : positions_(system.restraint_reference.empty() ? system.x : system.restraint_reference),
          box_(system.restraint_reference.empty() ? system.box : system.restraint_reference_box), scaling_(scaling)
    {
        PARHELION_EXPECTS(static_cast<std::int64_t>(positions_.size()) == system.topology.atom_count());
        if (scaling == RefcoordScaling::Com) { centre_ = reference_centre(system.topology, positions_); }
    }
    HeldAtom of(std::int64_t atom) const
    {
        const Vec3<double>& position = positions_[static_cast<std::size_t>(atom)];
        // `scaled` is the part of the position that scales with the box.
        const Vec3<double> scaled = scaling_ == RefcoordScaling::All ? position : centre_;
        return {atom, box_.to_fractions(scaled), position - scaled};
    }

private:
    const std::vector<Vec3<double>>& positions_;
    Box<double> box_;
    Vec3<double> centre_;
    RefcoordScaling scaling_;
};

// Returns the axes that are restrained in GROMACS' geometries 1 to 8.
Vec3<double> counted_axes(double geometry)
{
    constexpr double axes[][3] = {{1, 1, 1}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
    const auto number = static_cast<std::size_t>(std::lrint(geometry));
    PARHELION_EXPECTS(number >= 1 && number <= std::size(axes));
    const auto& counted = axes[number - 1];
    return {counted[0], counted[1], counted[2]};
}

template <class N, class Restraint>
void compute_list(CpuQueue& queue, const std::vector<Restraint>& list, const ParticleState<N>& state, ForceBuffers<N>& buffers,
                  Compute compute)
{
    if (list.empty()) { return; }
    using Sum = typename N::ForceSum;
    queue.for_range(list.size(), 1, [&](int thread, std::size_t begin, std::size_t end) {
        const auto t = static_cast<std::size_t>(thread);
        EnergySums<N> energies;
        for (std::size_t i = begin; i < end; ++i)
        {
            const Restraint& restraint = list[i];
            const std::int32_t slot = state.slot_of_global[static_cast<std::size_t>(restraint.atom)];
            if (!state.is_home(slot)) { continue; }
            const auto [f, energy, virial] = restraint_force(restraint, state.box, state.x.get(static_cast<std::size_t>(slot)));
            buffers.forces[t].add(static_cast<std::size_t>(slot), {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)});
            if (compute == Compute::ForcesEnergiesVirial)
            {
                energies.add(*row_of(Restraint::kind).energy.begin(), energy);
                for (int d = 0; d < 3; ++d) { energies.virial[4 * d] += to_sum<ScalarSum<N>>(virial[d]); }
            }
        }
        buffers.energies[t] += energies;
    });
}

} // namespace

PositionRestraints make_position_restraints(const System& system, const RunParameters& parameters)
{
    const References references(system, parameters.refcoord_scaling);
    PositionRestraints restraints;
    for_each_restraint(system.topology, InteractionKind::PositionRestraint,
                       [&](std::int64_t atom, const InteractionParameters& p) {
                           restraints.list.push_back({references.of(atom), {p[0], p[1], p[2]}});
                       });
    for_each_restraint(
        system.topology, InteractionKind::FlatBottomRestraint, [&](std::int64_t atom, const InteractionParameters& p) {
            restraints.flat_bottomed.push_back({references.of(atom), counted_axes(p[0]), std::abs(p[1]), p[1] < 0, p[2]});
        });
    return restraints;
}

template <class N>
void compute_position_restraints(CpuQueue& queue, const PositionRestraints& restraints, const ParticleState<N>& state,
                                 ForceBuffers<N>& buffers, Compute compute)
{
    if (restraints.list.empty() && restraints.flat_bottomed.empty()) { return; }
    const ScopedPhase span(queue.clock(), Phase::Bonded);
    compute_list(queue, restraints.list, state, buffers, compute);
    compute_list(queue, restraints.flat_bottomed, state, buffers, compute);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void compute_position_restraints<N>(CpuQueue&, const PositionRestraints&, const ParticleState<N>&,                  \
                                                 ForceBuffers<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
