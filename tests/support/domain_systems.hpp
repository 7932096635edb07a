// SPDX-License-Identifier: Apache-2.0
// Systems that are awkward to divide: half a box of vacuum, all atoms in one cell, one atom in a cell, atoms on the borders; and
// what of the halo and the pair list can be said of every one of them.
#pragma once

#include "support/decomposition.hpp"
#include "support/pair_systems.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace parhelion::test {

inline constexpr Vec3<double> domain_box{3.0, 3.3, 3.6};

// Lone atoms at the given places, nm.
inline System atoms_at(const Vec3<double>& box, const std::vector<Vec3<double>>& x)
{
    System system = random_liquid(box, 0, 0, 1);
    system.topology.blocks = {{1, static_cast<std::int64_t>(x.size()), 0}};
    system.topology.finish();
    system.x = x;
    return system;
}

// Ties the atoms of every bent molecule to its first: update groups of three.
inline System with_rigid_molecules(System system)
{
    system.topology.molecule_types[0].settles = {{0, 1, 2, 0.1, 0.15}};
    return system;
}

// Coordinates scaled, from the origin.
inline System squeezed(System system, const Vec3<double>& factor)
{
    for (Vec3<double>& x : system.x)
    {
        for (int d = 0; d < 3; ++d)
        {
            // First into the box: the scaling keeps molecules whole unless they lie across its border.
            x[d] = factor[d] * (x[d] - system.box.diagonal()[d] * std::floor(x[d] / system.box.diagonal()[d]));
        }
    }
    return system;
}

struct DomainCase
{
    const char* name;
    System system;
};

inline System atoms_on_borders()
{
    std::vector<Vec3<double>> x = {{0, 0, 0}};
    for (int n = 2; n <= 8; ++n)
    {
        for (int k = 0; k < n; ++k)
        {
            const double f = static_cast<double>(k) / n;
            for (const double shift : {-1e-9, 0.0, 1e-9}) { x.push_back({(f + shift) * domain_box.x, 0.4, 0.3}); }
            x.push_back({0.1, f * domain_box.y, 0.2});
            x.push_back({0.2, 0.1, f * domain_box.z});
            x.push_back({f * domain_box.x, f * domain_box.y, f * domain_box.z});
        }
    }
    return atoms_at(domain_box, x);
}

// All atoms in the first cell of every grid of up to 8 cells, and one where only the last cell is.
inline System crowd_and_hermit()
{
    System system = squeezed(random_liquid(domain_box, 0, 40, 5), {0.12, 0.12, 0.12});
    system.x.back() = 0.99 * domain_box;
    return system;
}

inline const std::vector<DomainCase>& domain_cases()
{
    static const std::vector<DomainCase> cases = {
        {"liquid", random_liquid(domain_box, 70, 70, 1)},
        {"rigid molecules", with_rigid_molecules(random_liquid(domain_box, 100, 30, 2))},
        {"slab", squeezed(random_liquid(domain_box, 30, 100, 3), {1, 1, 0.5})},
        {"all in one domain", squeezed(random_liquid(domain_box, 10, 20, 4), {0.12, 0.12, 0.12})},
        {"one atom far from the others", crowd_and_hermit()},
        {"borders", atoms_on_borders()},
        {"one atom", atoms_at(domain_box, {{1.7, 0.1, 3.5}})},
        {"two atoms across a border", atoms_at(domain_box, {{1.499, 0.001, 1.0}, {1.5, 3.299, 1.0}})},
        {"two atoms across the box", atoms_at(domain_box, {{0.001, 0.0, 3.599}, {2.999, 3.299, 0.0}})},
    };
    return cases;
}

// Bits, charge, type and name of every halo atom against its owner's; the home atoms of every rank are no one else's.
template <class N>
void expect_halo_is_owners(Decomposition<N>& d)
{
    const std::vector<int> owner = d.owners();
    ASSERT_EQ(std::count(owner.begin(), owner.end(), -1), 0);
    for (int r = 0; r < d.ranks(); ++r)
    {
        const ParticleState<N>& state = d.rank(r).state;
        ASSERT_EQ(state.slots() - state.home_slots(), d.rank(r).plan.halo_clusters() * cluster_size);
        ASSERT_EQ(state.x.slots(), state.slots());
        std::int64_t found = 0;
        for (std::size_t slot = state.home_slots(); slot < state.slots(); ++slot)
        {
            const std::int32_t atom = state.global_of_slot[slot];
            if (atom < 0) { continue; }
            const auto g = static_cast<std::size_t>(atom);
            const ParticleState<N>& theirs = d.rank(owner[g]).state;
            const std::size_t there = d.slot_of(theirs, g);
            ASSERT_NE(owner[g], r) << "atom " << atom;
            ASSERT_EQ(state.slot_of_global[g], static_cast<std::int32_t>(slot)) << "atom " << atom << " is here twice";
            ASSERT_EQ(state.x.get(slot), theirs.x.get(there)) << "rank " << r << " atom " << atom << " of rank " << owner[g];
            ASSERT_EQ(state.charge[slot], theirs.charge[there]);
            ASSERT_EQ(state.lj_type[slot], theirs.lj_type[there]);
            ++found;
        }
        const auto here = std::count_if(state.slot_of_global.begin(), state.slot_of_global.end(),
                                        [&](std::int32_t slot) { return slot >= static_cast<std::int32_t>(state.home_slots()); });
        ASSERT_EQ(here, found); // nothing is remembered that is gone
    }
}

// A pair of atoms, lower first, and whether they exclude each other.
struct ListedPair
{
    std::int32_t i, j;
    bool is_excluded;
    friend auto operator<=>(const ListedPair&, const ListedPair&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const ListedPair& p)
{
    return out << p.i << "-" << p.j << (p.is_excluded ? " (excluded)" : "");
}

// Returns what the rows list of a rank, near or far, sorted.
template <class N>
void append_listed(const ParticleState<N>& state, const std::vector<PairListPart>& parts, std::vector<ListedPair>& pairs)
{
    for (const PairListPart& part : parts)
    {
        for (const PairRow& row : part.rows)
        {
            for (std::int32_t e = row.begin; e < row.end; ++e)
            {
                const PairEntry entry = part.entries[static_cast<std::size_t>(e)];
                const std::uint32_t exists = e == row.begin ? row.exists : ~0u;
                for (int bit = 0; bit < half_cluster_size * cluster_size; ++bit)
                {
                    if ((exists >> bit & 1) == 0) { continue; }
                    const auto i = static_cast<std::size_t>(row.half_cluster * half_cluster_size + bit / cluster_size);
                    const auto j = static_cast<std::size_t>(entry.cluster * cluster_size + bit % cluster_size);
                    const auto [low, high] = std::minmax(state.global_of_slot[i], state.global_of_slot[j]);
                    if (low >= 0) { pairs.push_back({low, high, (entry.interacts >> bit & 1) == 0}); }
                }
            }
        }
    }
}

// All pairs nearer than `cutoff`, by trying all.
template <class N>
std::vector<ListedPair> pairs_nearer(const Topology& topology, const PeriodicBox<N>& box,
                                     const std::vector<Vec3<typename N::Fixed>>& x, double cutoff)
{
    std::vector<std::int64_t> molecule;
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        molecule.push_back(topology.locate(static_cast<std::int64_t>(i)).molecule_first_atom);
    }
    std::vector<ListedPair> pairs;
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        for (std::size_t j = i + 1; j < x.size(); ++j)
        {
            if (norm(box.difference(x[i], x[j])) >= cutoff) { continue; }
            pairs.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), molecule[i] == molecule[j]});
        }
    }
    return pairs;
}

// Every pair nearer than `cutoff` by the owners' positions is in one rank's list, once, and none is in two, however far apart. In
// the molecules of pair_systems.hpp all atoms exclude each other.
template <class N>
void expect_pairs_listed_once(Decomposition<N>& d, double cutoff)
{
    std::vector<ListedPair> listed;
    for (int r = 0; r < d.ranks(); ++r) { append_listed(d.rank(r).state, d.rank(r).pairs.parts, listed); }
    std::sort(listed.begin(), listed.end());
    const auto twice = std::adjacent_find(listed.begin(), listed.end(),
                                          [](const ListedPair& a, const ListedPair& b) { return a.i == b.i && a.j == b.j; });
    ASSERT_TRUE(twice == listed.end()) << *twice << " is listed twice";
    for (const ListedPair& pair : pairs_nearer<N>(d.topology(), d.whole().box, d.positions(), cutoff))
    {
        ASSERT_TRUE(std::binary_search(listed.begin(), listed.end(), pair)) << pair << " is not listed";
    }
}

} // namespace parhelion::test
