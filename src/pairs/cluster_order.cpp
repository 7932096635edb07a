// SPDX-License-Identifier: Apache-2.0
#include "pairs/cluster_order.hpp"

#include "base/error.hpp"
#include "pairs/column_grid.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

ColumnGrid column_grid(const Box<double>& box, std::size_t atoms)
{
    // Wider columns are searched faster, narrower columns give shorter lists. Measured in bench/pairs.
    constexpr double width_of_cube = 1.0;
    const double cube = std::cbrt(box.volume() * cluster_size / static_cast<double>(std::max<std::size_t>(atoms, 1)));
    const auto cells = [&](double length) {
        return std::clamp(static_cast<int>(std::lround(length / (width_of_cube * cube))), 1, 8192);
    };
    const Vec3<double> heights = box.heights();
    return {cells(heights.x), cells(heights.y)};
}

namespace {

// The slots of the real atoms in the new order: column by column, sorted in z.
struct ColumnOrder
{
    std::vector<std::int32_t> slot; // old slots, in the new order
    std::vector<std::size_t> begin; // index in `slot` of each column's first atom; then the number of atoms
};

template <class N>
ColumnOrder sort_into_columns(CpuQueue& queue, const ParticleState<N>& state, const ColumnGrid& grid, const Zone& home)
{
    const auto place = [&](std::size_t slot, int d) {
        const std::uint32_t x = leading_bits(state.x.get(slot)[d]);
        return home.half[d] == 0 ? x : home.in_cell(d, x);
    };
    const std::uint32_t lowest = home.centre[2] - home.half[2];
    const std::size_t slots = state.home_slots();
    std::vector<std::int32_t> column(slots);
    queue.for_range(slots, cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t s = begin; s < end; ++s)
        {
            column[s] = state.global_of_slot[s] < 0 ? -1 : grid.column(place(s, 0), place(s, 1));
        }
    });
    ColumnOrder order;
    order.begin.assign(static_cast<std::size_t>(grid.columns()) + 1, 0);
    for (const std::int32_t c : column)
    {
        if (c >= 0) { ++order.begin[static_cast<std::size_t>(c) + 1]; }
    }
    for (std::size_t c = 1; c < order.begin.size(); ++c) { order.begin[c] += order.begin[c - 1]; }
    // The key: leading bits of z from the bottom of the cell, then the global index. The order thus depends on positions alone.
    std::vector<std::uint64_t> key(order.begin.back());
    std::vector<std::size_t> next(order.begin.begin(), order.begin.end() - 1);
    for (std::size_t s = 0; s < slots; ++s)
    {
        if (column[s] >= 0)
        {
            key[next[static_cast<std::size_t>(column[s])]++] =
                static_cast<std::uint64_t>(place(s, 2) - lowest) << 32 | static_cast<std::uint32_t>(state.global_of_slot[s]);
        }
    }
    order.slot.resize(key.size());
    queue.for_range(static_cast<std::size_t>(grid.columns()), 1, [&](int, std::size_t first, std::size_t last) {
        for (std::size_t c = first; c < last; ++c)
        {
            std::sort(key.begin() + static_cast<std::ptrdiff_t>(order.begin[c]),
                      key.begin() + static_cast<std::ptrdiff_t>(order.begin[c + 1]));
            for (std::size_t i = order.begin[c]; i < order.begin[c + 1]; ++i)
            {
                order.slot[i] = state.slot_of_global[key[i] & 0xffffffffu];
            }
        }
    });
    return order;
}

template <class N>
void place_atom(const ParticleState<N>& old, std::size_t from, ParticleState<N>& state, std::size_t to)
{
    state.x.set(to, old.x.get(from));
    state.v.set(to, old.v.get(from));
    state.charge[to] = old.charge[from], state.inverse_mass[to] = old.inverse_mass[from];
    state.lj_type[to] = old.lj_type[from];
    state.temperature_group[to] = old.temperature_group[from];
    state.global_of_slot[to] = old.global_of_slot[from];
    state.slot_of_global[static_cast<std::size_t>(old.global_of_slot[from])] = static_cast<std::int32_t>(to);
}

// Places a filler at the position of the atom that was in slot `on`. The filler's other data are zero already.
template <class N>
void place_filler(const ParticleState<N>& old, std::size_t on, ParticleState<N>& state, std::size_t to)
{
    state.x.set(to, old.x.get(on));
    state.global_of_slot[to] = -1;
}

template <class N>
void resize(ParticleState<N>& state, std::size_t slots)
{
    state.x.resize(slots), state.v.resize(slots);
    state.f.values().clear();
    state.f.resize(slots);
    state.charge.resize(slots), state.inverse_mass.resize(slots), state.lj_type.resize(slots);
    state.temperature_group.resize(slots), state.global_of_slot.resize(slots);
}

constexpr std::size_t padded(std::size_t atoms) { return (atoms + cluster_size - 1) / cluster_size * cluster_size; }

} // namespace

template <class N>
void reorder(CpuQueue& queue, ParticleState<N>& state, const Zone& home)
{
    const ScopedPhase span(queue.clock(), Phase::Reorder);
    for (std::size_t halo = state.home_slots(); halo < state.slots(); ++halo)
    {
        if (state.global_of_slot[halo] >= 0) { state.slot_of_global[static_cast<std::size_t>(state.global_of_slot[halo])] = -1; }
    }
    const ColumnGrid grid = column_grid(state.box.edges(), state.slot_of_global.size());
    const ColumnOrder order = sort_into_columns(queue, state, grid, home);
    std::vector<std::size_t> first_slot(order.begin.size(), 0);
    for (std::size_t c = 0; c + 1 < order.begin.size(); ++c)
    {
        first_slot[c + 1] = first_slot[c] + padded(order.begin[c + 1] - order.begin[c]);
    }
    ParticleState<N> old;
    std::swap(old, state);
    state.box = old.box;
    state.slot_of_global = std::move(old.slot_of_global);
    resize(state, first_slot.back());
    queue.for_range(static_cast<std::size_t>(grid.columns()), 1, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c)
        {
            const std::size_t atoms_here = order.begin[c + 1] - order.begin[c];
            for (std::size_t k = 0; k < first_slot[c + 1] - first_slot[c]; ++k)
            {
                const auto source = static_cast<std::size_t>(order.slot[order.begin[c] + std::min(k, atoms_here - 1)]);
                if (k < atoms_here) { place_atom(old, source, state, first_slot[c] + k); }
                else { place_filler(old, source, state, first_slot[c] + k); }
            }
        }
    });
}

template <class N>
ParticleState<N> make_state(const System& system, const std::vector<std::uint8_t>& temperature_group, CpuQueue& queue)
{
    using Real = typename N::Real;
    const Topology& topology = system.topology;
    const auto atoms = static_cast<std::size_t>(topology.atom_count());
    PARHELION_EXPECTS(system.x.size() == atoms && (system.v.empty() || system.v.size() == atoms));
    PARHELION_EXPECTS(temperature_group.empty() || temperature_group.size() == atoms);
    PARHELION_EXPECTS(system.box.least_height() > 0);
    ParticleState<N> state;
    state.box.set_edges(system.box);
    resize(state, padded(atoms));
    std::fill(state.global_of_slot.begin(), state.global_of_slot.end(), -1);
    state.slot_of_global.resize(atoms);
    for (const MoleculeBlock& block : topology.blocks)
    {
        const std::vector<Atom>& molecule = topology.molecule_types[static_cast<std::size_t>(block.type)].atoms;
        auto g = static_cast<std::size_t>(block.first_atom);
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (const Atom& atom : molecule)
            {
                state.x.set(g, state.box.to_fixed(system.x[g]));
                if (!system.v.empty()) { state.v.set(g, static_cast<Vec3<Real>>(system.v[g])); }
                state.charge[g] = static_cast<Real>(atom.charge);
                state.inverse_mass[g] = static_cast<Real>(atom.mass > 0 ? 1.0 / atom.mass : 0);
                state.lj_type[g] = atom.type;
                state.temperature_group[g] = temperature_group.empty() ? std::uint8_t{0} : temperature_group[g];
                state.global_of_slot[g] = state.slot_of_global[g] = static_cast<std::int32_t>(g);
                ++g;
            }
        }
    }
    reorder(queue, state);
    return state;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void reorder<N>(CpuQueue&, ParticleState<N>&, const Zone&);                                                         \
    template ParticleState<N> make_state<N>(const System&, const std::vector<std::uint8_t>&, CpuQueue&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
