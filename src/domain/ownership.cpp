// SPDX-License-Identifier: Apache-2.0
#include "domain/ownership.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>

namespace parhelion {

template <class N>
MoleculeList molecules_here(const Topology& topology, const ParticleState<N>& state)
{
    MoleculeList list;
    list.first_atom.resize(topology.molecule_types.size());
    for (const std::int32_t global : state.global_of_slot)
    {
        if (global < 0) { continue; }
        const AtomAddress address = topology.locate(global);
        list.first_atom[static_cast<std::size_t>(address.type)].push_back(static_cast<std::int32_t>(address.molecule_first_atom));
    }
    for (std::vector<std::int32_t>& copies : list.first_atom)
    {
        std::sort(copies.begin(), copies.end());
        copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
    }
    return list;
}

template <class N>
bool is_mine(const ParticleState<N>& state, const std::int32_t* atoms, int count)
{
    std::array<Territory::Place, 8> places;
    PARHELION_EXPECTS(count <= static_cast<int>(places.size()));
    for (int i = 0; i < count; ++i)
    {
        const std::int32_t slot = state.slot_of_global[static_cast<std::size_t>(atoms[i])];
        if (slot < 0) { return false; }
        const auto at = static_cast<std::size_t>(slot);
        const auto x = state.x.get(at);
        places[static_cast<std::size_t>(i)] = {state.territory.zone_of(at / cluster_size, state.home_clusters()),
                                               {leading_bits(x.x), leading_bits(x.y), leading_bits(x.z)}};
    }
    return state.territory.is_corner_home(places.data(), count);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template MoleculeList molecules_here<N>(const Topology&, const ParticleState<N>&);                                           \
    template bool is_mine<N>(const ParticleState<N>&, const std::int32_t*, int);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
