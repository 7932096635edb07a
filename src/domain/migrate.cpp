// SPDX-License-Identifier: Apache-2.0
#include "domain/migrate.hpp"

#include "base/bytes.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace parhelion {

namespace {

// The data of an atom that are sent to its new owner.
template <class N>
struct AtomRecord
{
    Vec3<typename N::Fixed> x;
    Vec3<typename N::Real> v;
    typename N::Real charge, inverse_mass;
    std::int32_t lj_type, global;
    std::uint8_t temperature_group;
};

template <class N>
AtomRecord<N> record(const ParticleState<N>& state, std::size_t slot)
{
    return {state.x.get(slot),   state.v.get(slot),          state.charge[slot],           state.inverse_mass[slot],
            state.lj_type[slot], state.global_of_slot[slot], state.temperature_group[slot]};
}

template <class N>
void put(ParticleState<N>& state, std::size_t slot, const AtomRecord<N>& atom)
{
    state.x.set(slot, atom.x);
    state.v.set(slot, atom.v);
    state.charge[slot] = atom.charge;
    state.inverse_mass[slot] = atom.inverse_mass;
    state.lj_type[slot] = atom.lj_type;
    state.global_of_slot[slot] = atom.global;
    state.temperature_group[slot] = atom.temperature_group;
    state.slot_of_global[static_cast<std::size_t>(atom.global)] = static_cast<std::int32_t>(slot);
}

// Resizes all arrays; new slots at the end are empty.
template <class N>
void resize(ParticleState<N>& state, std::size_t slots)
{
    slots = (slots + cluster_size - 1) / cluster_size * cluster_size;
    state.x.resize(slots), state.v.resize(slots), state.f.resize(slots);
    state.charge.resize(slots), state.inverse_mass.resize(slots), state.lj_type.resize(slots);
    state.temperature_group.resize(slots), state.global_of_slot.resize(slots, -1);
}

template <class N>
void drop_halo(ParticleState<N>& state)
{
    for (std::size_t slot = state.home_slots(); slot < state.slots(); ++slot)
    {
        if (state.global_of_slot[slot] >= 0) { state.slot_of_global[static_cast<std::size_t>(state.global_of_slot[slot])] = -1; }
    }
    state.territory = {};
    resize(state, state.home_slots());
}

// Returns the owner of the home atom in `slot`: the rank whose cell has the reference atom of its group, a home atom here.
template <class N>
int owner(const ParticleState<N>& state, std::size_t slot, const CellGrid& grid, const Topology& topology,
          const UpdateGroups& groups)
{
    const AtomAddress address = topology.locate(state.global_of_slot[slot]);
    const std::int64_t reference =
        address.molecule_first_atom +
        groups.molecule_types[static_cast<std::size_t>(address.type)].reference_of_atom[static_cast<std::size_t>(address.local)];
    const auto x = state.x.get(static_cast<std::size_t>(state.slot_of_global[static_cast<std::size_t>(reference)]));
    return grid.rank_of(grid.cell_at({leading_bits(x.x), leading_bits(x.y), leading_bits(x.z)}));
}

// Returns the ranks of the neighbouring cells, each once and without this rank.
std::vector<int> neighbours(const CellGrid& grid, int rank)
{
    std::set<int> found;
    for (int i = 0; i < 27; ++i) { found.insert(grid.ahead(rank, {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1})); }
    found.erase(rank);
    return {found.begin(), found.end()};
}

} // namespace

template <class N>
ParticleState<N> home_atoms(const ParticleState<N>& whole, const CellGrid& grid, int rank, const Topology& topology,
                            const UpdateGroups& groups)
{
    ParticleState<N> state;
    state.box = whole.box;
    state.slot_of_global.assign(whole.slot_of_global.size(), -1);
    std::size_t atoms = 0;
    for (std::size_t slot = 0; slot < whole.home_slots(); ++slot)
    {
        if (whole.global_of_slot[slot] < 0 || owner(whole, slot, grid, topology, groups) != rank) { continue; }
        if (atoms == state.home_slots()) { resize(state, 2 * atoms + cluster_size); }
        put(state, atoms++, record(whole, slot));
    }
    resize(state, atoms);
    return state;
}

template <class N>
void migrate(CpuQueue& queue, const CellGrid& grid, const Topology& topology, const UpdateGroups& groups, Communicator& comm,
             std::int64_t step, ParticleState<N>& state)
{
    if (grid.ranks() == 1 || !grid.has_cell(comm.rank())) { return; }
    const ScopedPhase span(queue.clock(), Phase::Migrate);
    drop_halo(state);
    std::vector<std::int32_t> new_owner(state.home_slots(), comm.rank());
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] >= 0) { new_owner[slot] = owner(state, slot, grid, topology, groups); }
        }
    });
    const std::vector<int> peers = neighbours(grid, comm.rank());
    std::vector<std::vector<AtomRecord<N>>> leaving(peers.size());
    for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
    {
        if (new_owner[slot] == comm.rank()) { continue; }
        const auto peer = std::lower_bound(peers.begin(), peers.end(), new_owner[slot]);
        if (peer == peers.end() || *peer != new_owner[slot])
        {
            throw PhysicsError(
                step, fmt::format("E504 step {}: {} has moved beyond the cells next to its own since the last "
                                  "repartition. Common causes: a start that overlaps or is not minimised, a time "
                                  "step too long; or cells too thin for the interval: use fewer ranks or a smaller nstlist.",
                                  step, topology.describe(state.global_of_slot[slot])));
        }
        leaving[static_cast<std::size_t>(peer - peers.begin())].push_back(record(state, slot));
    }
    std::vector<SetupMessage> setup_messages;
    for (std::size_t p = 0; p < peers.size(); ++p)
    {
        for (const AtomRecord<N>& atom : leaving[p])
        {
            std::int32_t& slot = state.slot_of_global[static_cast<std::size_t>(atom.global)];
            state.global_of_slot[static_cast<std::size_t>(slot)] = -1;
            slot = -1;
        }
        ByteWriter(setup_messages.emplace_back(SetupMessage{peers[p], {}}).bytes).put_all(leaving[p]);
    }
    std::size_t end = state.home_slots();
    for (const SetupMessage& setup_message : comm.exchange(setup_messages, peers))
    {
        const std::vector<AtomRecord<N>> arriving = ByteReader(setup_message.bytes).get_all<AtomRecord<N>>();
        resize(state, end + arriving.size());
        for (const AtomRecord<N>& atom : arriving) { put(state, end++, atom); }
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template ParticleState<N> home_atoms<N>(const ParticleState<N>&, const CellGrid&, int, const Topology&,                      \
                                            const UpdateGroups&);                                                                \
    template void migrate<N>(CpuQueue&, const CellGrid&, const Topology&, const UpdateGroups&, Communicator&, std::int64_t,      \
                             ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
