// SPDX-License-Identifier: Apache-2.0
// A system dealt out to ranks by hand: who owns which atom is the test's choice, and everybody else's atoms are the halo. For
// tests that what ranks compute adds up to what one computes.
#pragma once

#include "state/molecules.hpp"
#include "state/particle_state.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace parhelion::test {

// Molecules of two types in blocks that alternate, one of them empty.
inline Topology blocks_that_alternate()
{
    Topology topology;
    topology.molecule_types.resize(2);
    topology.molecule_types[0].atoms.resize(3);
    topology.molecule_types[1].atoms.resize(20);
    topology.blocks = {{0, 30, 0}, {1, 4, 0}, {0, 0, 0}, {1, 2, 0}, {0, 25, 0}};
    topology.finish();
    return topology;
}

// By global atom: one of `ranks` ranks, at random.
inline std::vector<int> random_owners(std::int64_t atoms, int ranks, unsigned seed)
{
    std::mt19937 engine(seed);
    std::vector<int> owner(static_cast<std::size_t>(atoms));
    for (int& rank : owner) { rank = static_cast<int>(engine() % static_cast<unsigned>(ranks)); }
    return owner;
}

// The state of one rank: its atoms as home atoms, then all others as halo, each in clusters of their own, highest atoms first.
template <class N>
ParticleState<N> state_of_rank(const ParticleState<N>& whole, const std::vector<int>& owner, int rank)
{
    ParticleState<N> state;
    state.box = whole.box;
    const auto add_atoms = [&](bool home) {
        for (std::size_t atom = owner.size(); atom-- > 0;)
        {
            if ((owner[atom] == rank) == home) { state.global_of_slot.push_back(static_cast<std::int32_t>(atom)); }
        }
        while (state.slots() % cluster_size != 0) { state.global_of_slot.push_back(-1); }
    };
    add_atoms(true);
    const std::size_t home_slots = state.slots();
    add_atoms(false);
    state.x.resize(state.slots()), state.charge.resize(state.slots()), state.lj_type.resize(state.slots());
    state.v.resize(home_slots), state.f.resize(home_slots);
    state.inverse_mass.resize(home_slots), state.temperature_group.resize(home_slots);
    state.slot_of_global.assign(owner.size(), -1);
    std::size_t from = 0; // in the whole; a filler stays on the atom before it
    for (std::size_t slot = 0; slot < state.slots(); ++slot)
    {
        const std::int32_t atom = state.global_of_slot[slot];
        if (atom >= 0) { from = static_cast<std::size_t>(whole.slot_of_global[static_cast<std::size_t>(atom)]); }
        state.x.set(slot, whole.x.get(from));
        if (atom < 0) { continue; }
        state.slot_of_global[static_cast<std::size_t>(atom)] = static_cast<std::int32_t>(slot);
        state.charge[slot] = whole.charge[from], state.lj_type[slot] = whole.lj_type[from];
        if (slot >= home_slots) { continue; }
        state.v.set(slot, whole.v.get(from)), state.f.set(slot, whole.f.get(from));
        state.inverse_mass[slot] = whole.inverse_mass[from];
        state.temperature_group[slot] = whole.temperature_group[from];
    }
    return state;
}

// The copies of which the rank owns an atom.
inline MoleculeList molecules_of_rank(const Topology& topology, const std::vector<int>& owner, int rank)
{
    MoleculeList copies = all_molecules(topology);
    for (std::size_t type = 0; type < copies.first_atom.size(); ++type)
    {
        const auto atoms = static_cast<std::ptrdiff_t>(topology.molecule_types[type].atoms.size());
        auto& list = copies.first_atom[type];
        list.erase(std::remove_if(list.begin(), list.end(),
                                  [&](std::int32_t first) {
                                      const auto begin = owner.begin() + first;
                                      return std::find(begin, begin + atoms, rank) == begin + atoms;
                                  }),
                   list.end());
    }
    return copies;
}

// Adds up what ranks have summed, element by element.
template <class Sums>
void add_elements(Sums& total, const Sums& part)
{
    for (std::size_t i = 0; i < total.size(); ++i) { total[i] += part[i]; }
}

} // namespace parhelion::test
