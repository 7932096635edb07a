// SPDX-License-Identifier: Apache-2.0
// A particle state without a pair list: atoms in input order, fillers at the end. For tests of everything that does not care
// about the order. Lists of scalars are filled in from the topology.
#pragma once

#include "model/system.hpp"
#include "state/particle_state.hpp"

#include <algorithm>
#include <vector>

namespace parhelion::test {

template <class N>
ParticleState<N> particles_in_input_order(const System& system)
{
    const auto atoms = static_cast<std::size_t>(system.topology.atom_count());
    const std::size_t slots = (atoms + cluster_size - 1) / cluster_size * cluster_size;
    ParticleState<N> state;
    state.box.set_edges(system.box);
    state.x.resize(slots), state.v.resize(slots), state.f.resize(slots);
    state.charge.resize(slots), state.inverse_mass.resize(slots);
    state.lj_type.assign(slots, system.topology.types());
    state.temperature_group.resize(slots);
    state.global_of_slot.assign(slots, -1);
    state.slot_of_global.resize(atoms);
    for (std::size_t slot = 0; slot < slots; ++slot)
    {
        const std::size_t atom = std::min(slot, atoms - 1);
        state.x.set(slot, state.box.to_fixed(system.x[atom]));
        if (slot != atom) { continue; }
        const Atom& a = system.topology.atom(static_cast<std::int64_t>(atom));
        state.charge[slot] = static_cast<typename N::Real>(a.charge);
        state.inverse_mass[slot] = static_cast<typename N::Real>(a.mass > 0 ? 1 / a.mass : 0);
        state.lj_type[slot] = a.type;
        if (!system.v.empty()) { state.v.set(slot, static_cast<Vec3<typename N::Real>>(system.v[atom])); }
        state.global_of_slot[slot] = static_cast<std::int32_t>(atom);
        state.slot_of_global[atom] = static_cast<std::int32_t>(slot);
    }
    return state;
}

// state.f by global atom, kJ/mol/nm.
template <class N>
std::vector<Vec3<double>> forces_of(const ParticleState<N>& state)
{
    std::vector<Vec3<double>> forces(state.slot_of_global.size());
    for (std::size_t atom = 0; atom < forces.size(); ++atom)
    {
        const auto f = state.f.get(static_cast<std::size_t>(state.slot_of_global[atom]));
        forces[atom] = {from_sum(f.x), from_sum(f.y), from_sum(f.z)};
    }
    return forces;
}

} // namespace parhelion::test
