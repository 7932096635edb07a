// SPDX-License-Identifier: Apache-2.0
// The pair list on the GPU: which atoms may come within the cut-off until the list is built again.
//
// The idea: a *row* is a supercluster, the i side; its *entries* are half clusters of four j atoms, each with a bit per i
// cluster: up to eight *tiles* of 8 x 4 pairs, one pair a lane. Every pair of atoms is in exactly one tile (a half list): of two
// superclusters a < b, a is i if a + b is even, else b. The few entries with excluded pairs, or with pairs of a supercluster with
// itself, come first in their row and have a byte per lane that says which of its pairs interact.
//
// A list is built from the bounding boxes of clusters, which is quick and generous, and *pruned* to the tiles that have a pair in
// range, at once and whenever the plan says so. Forces use the pruned list, cut into *shares* of equal cost, one for each warp.
//
// Cost on an H200: bench/gpu/README.md. Nothing returns to the host: what does not fit raises a flag.
#pragma once

#include "model/topology.hpp"
#include "state/gpu_state.hpp"

#include <cstdint>

namespace parhelion {

inline constexpr int half_cluster_lanes = 4;
inline constexpr int halves_per_supercluster = supercluster_size / half_cluster_lanes;

// The box around some atoms: its middle, as leading bits of positions, and half its size in nm; negative size: no atoms.
struct alignas(16) AtomBounds
{
    std::uint32_t x, y, z;
    float half_x, half_y, half_z;
};

// An entry: half cluster (slots 4 * half ...) in the upper 24 bits, a bit per i cluster in the lower 8.
using PairWord = std::uint32_t;

// The entries of one supercluster: entries[begin .. begin + count), of which the first `masked` have masks from row `masks`;
// pruned[begin .. begin + pruned) is what is left of them.
struct alignas(16) GpuPairRow
{
    std::int32_t begin, masked, masks, count;
    std::int32_t pruned;
    std::uint32_t cost; // of the pruned row, in units of a tenth of a tile
    std::int32_t exact; // 1: partners may be half a box away, so distances must be taken pair by pair
};

// As many as a multiprocessor holds of the warps that compute forces, so that all work from the beginning to the end.
inline constexpr int shares_per_multiprocessor = 20;

struct PairShare
{
    std::int32_t row, entry; // where it begins; it ends where the next one begins
};

// What the last build asked for; more than there was room for means that the list is incomplete.
struct PairListDemand
{
    std::uint32_t entries, masks;
};

// Excluded partners of every atom, by global number.
struct GpuExclusions
{
    DeviceBuffer<std::int32_t> start, excluded;     // per atom of each molecule type; partners as numbers in the molecule
    DeviceBuffer<std::int32_t> row, molecule_first; // per global atom
};
GpuExclusions make_gpu_exclusions(GpuQueue& queue, const Topology& topology);

struct GpuPairList
{
    DeviceBuffer<AtomBounds> superclusters, clusters, halves;
    DeviceBuffer<GpuPairRow> rows;
    DeviceBuffer<PairWord> entries, pruned;
    DeviceBuffer<std::uint8_t> masks; // 32 per masked entry: of lane 4 * i + j, bit c set: i of cluster c interacts with j
    DeviceBuffer<unsigned long long> cost_before; // of all rows before a row, and of all
    DeviceBuffer<PairShare> shares;               // and the end of the last
    DeviceBuffer<PairListDemand> demand;

    int share_count() const { return static_cast<int>(shares.size()) - 1; }
};

// Room for a list of pairs nearer than `cutoff` (nm) at the mean density, with a margin. Call before the first build.
template <class N>
void reserve_pair_list(GpuQueue& queue, const GpuState<N>& state, const Vec3<double>& box, double cutoff, GpuPairList& list);
// After gpu_flag_list_overflow: enlarges the list to what the last build asked for, and a half. Waits.
void enlarge_pair_list(GpuQueue& queue, GpuPairList& list);

// Lists every pair of atoms nearer than `cutoff` (nm) at the present positions, once. Raises gpu_flag_list_overflow if there is
// not room enough, gpu_flag_scratch_overflow if a supercluster has more neighbours or exclusions than a block can hold.
// Preconditions: cutoff <= half the shortest box edge; reorder() has just sorted the state; prune_pair_list() follows before
// forces are computed.
template <class N>
void build_pair_list(GpuQueue& queue, GpuState<N>& state, const GpuExclusions& exclusions, double cutoff, GpuPairList& list);

// Leaves in list.pruned the tiles with a pair nearer than `cutoff` (nm) at the present positions, and divides them into shares.
template <class N>
void prune_pair_list(GpuQueue& queue, const GpuState<N>& state, double cutoff, GpuPairList& list);

} // namespace parhelion
