// SPDX-License-Identifier: Apache-2.0
#include "interactions/bonded/restraints.hpp"

#include "base/error.hpp"
#include "interactions/bonded/restraints_body.hpp"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

// Calls visit(global atom, local atom, molecule type, parameters) for every restraint of the system, in the order of the blocks.
template <class Visit>
void for_each_restraint(const Topology& topology, Visit&& visit)
{
    constexpr InteractionKind kind = InteractionKind::PositionRestraint;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        if (type.of(kind).empty()) { continue; }
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
            for (const Interaction& restraint : type.of(kind))
            {
                const std::int32_t local = restraint.atoms[0];
                visit(first + local, type.atoms[static_cast<std::size_t>(local)],
                      topology.parameters_of(kind)[static_cast<std::size_t>(restraint.parameters)]);
            }
        }
    }
}

} // namespace

PositionRestraints make_position_restraints(const System& system, const RunParameters& parameters)
{
    const bool given = !system.restraint_reference.empty();
    const std::vector<Vec3<double>>& reference = given ? system.restraint_reference : system.x;
    const Vec3<double>& box = given ? system.restraint_reference_box : system.box;
    PARHELION_EXPECTS(static_cast<std::int64_t>(reference.size()) == system.topology.atom_count());

    Vec3<double> centre;
    double mass = 0;
    for_each_restraint(system.topology, [&](std::int64_t global, const Atom& atom, const InteractionParameters&) {
        centre += atom.mass * reference[static_cast<std::size_t>(global)];
        mass += atom.mass;
    });
    if (mass > 0) { centre *= 1 / mass; }

    PositionRestraints restraints;
    for_each_restraint(system.topology, [&](std::int64_t global, const Atom&, const InteractionParameters& p) {
        const Vec3<double>& position = reference[static_cast<std::size_t>(global)];
        Vec3<double> scaled; // the part of the position that follows the box
        if (parameters.refcoord_scaling == RefcoordScaling::All) { scaled = position; }
        if (parameters.refcoord_scaling == RefcoordScaling::Com) { scaled = centre; }
        restraints.list.push_back(
            {global, {p[0], p[1], p[2]}, {scaled.x / box.x, scaled.y / box.y, scaled.z / box.z}, position - scaled});
    });
    return restraints;
}

template <class N>
void compute_position_restraints(CpuQueue& queue, const PositionRestraints& restraints, const ParticleState<N>& state,
                                 ForceBuffers<N>& buffers, Compute compute)
{
    if (restraints.list.empty()) { return; }
    const ScopedPhase span(queue.clock(), Phase::Bonded);
    using Sum = typename N::ForceSum;
    queue.for_range(restraints.list.size(), 1, [&](int thread, std::size_t begin, std::size_t end) {
        const auto t = static_cast<std::size_t>(thread);
        EnergySums<N> energies;
        for (std::size_t i = begin; i < end; ++i)
        {
            const PositionRestraint& restraint = restraints.list[i];
            const std::int32_t slot = state.slot_of_global[static_cast<std::size_t>(restraint.atom)];
            if (!state.is_home(slot)) { continue; }
            const auto [f, energy, virial] = restraint_force(restraint, state.box, state.x.get(static_cast<std::size_t>(slot)));
            buffers.forces[t].add(static_cast<std::size_t>(slot), {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)});
            if (compute == Compute::ForcesEnergiesVirial)
            {
                energies.add(EnergyTerm::PositionRestraint, energy);
                for (int d = 0; d < 3; ++d) { energies.virial[4 * d] += to_sum<ScalarSum<N>>(virial[d]); }
            }
        }
        buffers.energies[t] += energies;
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void compute_position_restraints<N>(CpuQueue&, const PositionRestraints&, const ParticleState<N>&,                  \
                                                 ForceBuffers<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
