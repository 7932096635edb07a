// SPDX-License-Identifier: Apache-2.0
// The pair list: which atoms may come within the cut-off until the list is built again.
//
// The idea: pairs are listed by blocks of 4 x 8 atoms, half a cluster (i) against a cluster (j), so that one row of the block is
// one vector operation and a list entry costs 8 bytes for up to 32 pairs. Every pair of atoms is in exactly one entry (a half
// list): of two clusters a < b, a is i if a + b is even, else b. Excluded pairs are taken out by a bit each; the few entries that
// have such bits come first in their row, so that all others run without looking at masks. With several ranks a rank lists the
// pairs that its territory gives it, home or halo. Cost: about two thirds of the pairs in
// the list are out of range (bench/pairs says how many); building is linear in the atoms.
#pragma once

#include "device/cpu_queue.hpp"
#include "model/topology.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

inline constexpr int half_cluster_size = cluster_size / 2;

struct PairEntry
{
    std::int32_t cluster;    // j
    std::uint32_t interacts; // bit 8 * i + j; clear: the pair is excluded, out of range or, in the diagonal entry, does not exist
};

// Entries of one half cluster, entries[begin .. end) of its part; entries[begin .. masked_end) have a bit clear. Of the first
// entry not every pair exists: in most rows it is the half cluster's own cluster, the diagonal. Two clusters whose pairs belong
// to different ranks (state/territory.hpp) have a row for themselves.
struct PairRow
{
    std::int32_t half_cluster; // its atoms are slots 4 * half_cluster ...
    std::int32_t begin, masked_end, end;
    std::uint32_t exists; // pairs of the first entry, bit 8 * i + j; the others are not this row's at all
};

// Rows of neighbouring half clusters: the unit of work in building.
struct PairListPart
{
    std::vector<PairRow> rows;
    AlignedVector<PairEntry> entries;
};

struct PairList
{
    std::vector<PairListPart> parts;  // as built
    std::vector<PairListPart> pruned; // what prune_pair_list left of it; empty: not pruned since
    Vec3<double> reach;               // nm: no partner is farther from the middle of a half cluster until the next list
    std::uint64_t serial = 0;         // differs between any two lists built

    // What forces are computed over.
    const std::vector<PairListPart>& active() const { return pruned.empty() ? parts : pruned; }
    std::size_t entries() const; // of those
};

// The bits of pairs i < j that exist in the diagonal entry of half 0 and 1 of a cluster.
constexpr std::uint32_t diagonal_pairs(int half)
{
    std::uint32_t bits = 0;
    for (int i = 0; i < half_cluster_size; ++i)
    {
        for (int j = half * half_cluster_size + i + 1; j < cluster_size; ++j) { bits |= 1u << (cluster_size * i + j); }
    }
    return bits;
}

// Lists every pair of this rank's territory nearer than `cutoff` (nm) at the present positions, and no pair twice. Any order of
// atoms gives a complete list, cluster order a short one. Precondition: cutoff <= Box::largest_cutoff().
template <class N>
void build_pair_list(CpuQueue& queue, const ParticleState<N>& state, const Topology& topology, double cutoff, PairList& list);

// Leaves in list.pruned what has a pair nearer than `cutoff` (nm) at the present positions, for the steps until the next pruning:
// entries without one are dropped, of the others the i atoms without one; entries alike in that are neighbours. The list itself
// stays for the next pruning. Precondition: the list was built for this order of atoms; pairs that `cutoff` is to cover are in
// it.
template <class N>
void prune_pair_list(CpuQueue& queue, const ParticleState<N>& state, double cutoff, PairList& list);

} // namespace parhelion
