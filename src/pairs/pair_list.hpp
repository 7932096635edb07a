// SPDX-License-Identifier: Apache-2.0
// The pair list: all pairs of atoms that may come within the cut-off until the list is built again.
//
// The idea: pairs are listed by blocks of 4 x 8 atoms: half a cluster (i) against a cluster (j). One line of
// the block is one vector operation, and a list entry costs 8 bytes for up to 32 pairs. Every pair of atoms is
// in exactly one entry (a half list): of two clusters a < b, a is i if a + b is even, else b. An excluded pair
// is marked by a clear bit. The few entries with clear bits come first in their row, so the other entries need
// no mask test. Each of several ranks lists the pairs that its territory gives it, home or halo. Cost: about
// two thirds of the listed pairs are out of range (measured in bench/pairs); building is linear in the atoms.
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
    std::int32_t cluster;    // the j cluster
    std::uint32_t interacts; // bit 8 * i + j; clear if the pair is excluded, out of range, or not in a diagonal entry
};

// The entries of one half cluster: entries[begin .. end) of its part. Of these, entries[begin .. masked_end)
// have a clear bit. The first entry may lack pairs: in most rows its j is the half cluster's own cluster (the
// diagonal). Two clusters whose pairs belong to different ranks (state/territory.hpp) have a row of their own.
struct PairRow
{
    std::int32_t half_cluster; // slots 4 * half_cluster to 4 * half_cluster + 3
    std::int32_t begin, masked_end, end;
    std::uint32_t exists; // pairs of the first entry that are in this row, bit 8 * i + j
};

// The rows of some neighbouring half clusters. One task builds it.
struct PairListPart
{
    std::vector<PairRow> rows;
    AlignedVector<PairEntry> entries;
};

struct PairList
{
    std::vector<PairListPart> parts;  // the list as built
    std::vector<PairListPart> pruned; // result of prune_pair_list(); empty: not pruned since the list was built
    Vec3<double> reach;               // nm: largest distance of a partner from a half cluster's middle until the next list
    std::uint64_t serial = 0;         // number of the list; any two lists differ in it

    // Returns the list over which forces are computed.
    const std::vector<PairListPart>& active() const { return pruned.empty() ? parts : pruned; }
    std::size_t entries() const; // number of entries of active()
};

// Returns the bits of pairs i < j in the diagonal entry of half 0 or 1 of a cluster.
constexpr std::uint32_t diagonal_pairs(int half)
{
    std::uint32_t bits = 0;
    for (int i = 0; i < half_cluster_size; ++i)
    {
        for (int j = half * half_cluster_size + i + 1; j < cluster_size; ++j) { bits |= 1u << (cluster_size * i + j); }
    }
    return bits;
}

// Lists every pair of this rank's territory that is nearer than `cutoff` (nm) at the present positions, each once. The
// list is complete for any order of atoms, and short for cluster order. Precondition: cutoff <= Box::largest_cutoff().
template <class N>
void build_pair_list(CpuQueue& queue, const ParticleState<N>& state, const Topology& topology, double cutoff, PairList& list);

// Writes to list.pruned the entries with a pair nearer than `cutoff` (nm) at the present positions,
// for the steps until the next pruning. Other entries, and i atoms without such a pair, are dropped.
// Entries with the same i atoms are adjacent. The full list stays for the next pruning. Preconditions:
// the list was built for this order of atoms, and it has all pairs that `cutoff` is to cover.
template <class N>
void prune_pair_list(CpuQueue& queue, const ParticleState<N>& state, double cutoff, PairList& list);

} // namespace parhelion
