// SPDX-License-Identifier: Apache-2.0
// The pair list on the GPU: which atoms may come within the cut-off until the list is built again.
//
// The idea: a *row* is a supercluster, the i side; its *entries* are clusters of eight j atoms, each with a bit per i cluster: up
// to eight *tiles* of 8 x 8 pairs, two pairs a lane. Every pair of atoms is in exactly one tile (a half list): of two
// superclusters a < b at home, a is i if a + b is even, else b; with halo atoms it is b. The few entries with excluded pairs, or
// with pairs of a supercluster with itself, come first in their row and have a mask per lane that says which of its pairs
// interact.
//
// A rank of several has two lists: a *local* one of the pairs among its home atoms, for which it waits for nobody, and a
// *nonlocal* one of all other pairs that are its own (state/gpu/cell.hpp). In divided dimensions distances are those of the
// unrolled box.
//
// A list is built from the bounding boxes of clusters, which is quick and generous, and *pruned* to the tiles that have a pair in
// range, at once and whenever the plan says so. Forces use the pruned list, cut into *shares*, one for each warp.
//
// Cost on an H200: bench/gpu/lists. Nothing returns to the host: what does not fit raises a flag.
#pragma once

#include "base/box.hpp"
#include "model/topology.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

inline constexpr int masks_per_entry = 32; // one a lane

// The box around some atoms, with the edges of the periodic one: its middle, as leading bits of positions, and half its size
// along the edges, over the diagonal, in nm; negative size: no atoms.
struct alignas(16) AtomBounds
{
    std::uint32_t x, y, z;
    float half_x, half_y, half_z;
};

// An entry: cluster in the upper 24 bits, a bit per i cluster in the lower 8.
using PairWord = std::uint32_t;

// The entries of one supercluster: entries[begin .. begin + count), of which the first `masked` have masks from row `masks`;
// pruned[begin .. begin + pruned) is what is left of them.
struct alignas(16) GpuPairRow
{
    std::int32_t begin, masked, masks, count;
    std::int32_t pruned;
    std::int32_t exact; // 1: partners may be half a box away, so distances must be taken pair by pair
    std::int32_t supercluster;
};

// Twice as many as a multiprocessor holds of the warps that compute forces: it runs some ahead of others, and who is done early
// takes another share.
inline constexpr int shares_per_multiprocessor = 40; // half as many of halo pairs, which leave room for others
// Where a mesh's kernels take some of their places, warps that begin late end sooner with shorter shares. Of many atoms what a
// share costs weighs more (bench/gpu/pairs/log.md).
constexpr int shares_beside_mesh(std::size_t atoms) { return atoms <= 100'000 ? 60 : shares_per_multiprocessor; }

// A place in a pruned list: an entry of a row of GpuPairList::busy_rows.
struct PairPlace
{
    std::int32_t row, entry;
};
// It ends where the next one begins. With a copy of its first row, so that its warp need not ask twice.
struct alignas(16) PairShare
{
    GpuPairRow first;
    PairPlace begin;
};

// What the last build asked for; more than there was room for means that the list is incomplete. And the most that any before it
// did: when the host reads this, a state with a flag may since have been given lists of fewer atoms.
struct PairListDemand
{
    std::uint32_t entries, masks;
    std::uint32_t most_entries, most_masks;
};

// Excluded partners of every atom, by global number.
struct GpuExclusions
{
    DeviceBuffer<std::int32_t> start, excluded;     // per atom of each molecule type; partners as numbers in the molecule
    DeviceBuffer<std::int32_t> row, molecule_first; // per global atom
};
GpuExclusions make_gpu_exclusions(GpuQueue& queue, const Topology& topology);

// Which of a rank's pairs are in a list: those among home atoms, or the others.
enum class PairPart : std::uint8_t
{
    Local,
    Nonlocal
};

struct GpuPairList
{
    PairPart part = PairPart::Local;                  // as it was built
    bool is_all = true;                               // every pair of the system is in it
    DeviceBuffer<AtomBounds> superclusters, clusters; // when it was built
    DeviceBuffer<GpuPairRow> rows;
    DeviceBuffer<PairWord> entries, pruned;
    // Of lane 4 * i + j: bit c set: atom i of i cluster c interacts with atom j; bit 8 + c: with atom j + 4.
    DeviceBuffer<std::uint16_t> masks; // masks_per_entry per masked entry
    // Of the pruned list: what rows cost, in twentieths of a tile; and those that have entries, without gaps (few have in a list
    // of halo pairs).
    DeviceBuffer<std::uint32_t> row_costs;
    DeviceBuffer<GpuPairRow> busy_rows;
    DeviceBuffer<PairShare> shares; // and the end of the last
    DeviceBuffer<PairListDemand> demand;

    int share_count() const { return static_cast<int>(shares.size()) - 1; }
};

// Room for a list of pairs nearer than `cutoff` (nm) at the mean density, with a margin, and how many shares of a multiprocessor
// it will have. Call before the first build.
template <class N>
void reserve_pair_list(GpuQueue& queue, const GpuState<N>& state, const Box<double>& box, double cutoff, PairPart part,
                       GpuPairList& list, int shares = shares_per_multiprocessor);
template <class N>
void reserve_pair_list(GpuQueue& queue, const GpuState<N>& state, const Box<double>& box, double cutoff, GpuPairList& list)
{
    reserve_pair_list(queue, state, box, cutoff, PairPart::Local, list);
}
// After gpu_flag_list_overflow: enlarges the list to the most that a build asked for, and a half. Waits.
void enlarge_pair_list(GpuQueue& queue, GpuPairList& list);

// Lists every pair of atoms of `part` that is the rank's and nearer than `cutoff` (nm) at the present positions, once. Raises
// gpu_flag_list_overflow if there is not room enough, gpu_flag_scratch_overflow if a supercluster has more neighbours or
// exclusions than a block can hold, gpu_flag_ambiguous if a listed pair may come within the cutoff another way around the box.
// Preconditions: cutoff <= half the least height of the box, and <= cell.reach of a rank of several; take_atoms() has just filled
// the state; prune_pair_list() follows before forces are computed.
template <class N>
void build_pair_list(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell, const GpuExclusions& exclusions, double cutoff,
                     PairPart part, GpuPairList& list);
// A lone rank's: all pairs.
template <class N>
void build_pair_list(GpuQueue& queue, GpuState<N>& state, const GpuExclusions& exclusions, double cutoff, GpuPairList& list)
{
    build_pair_list(queue, state, GpuCell{}, exclusions, cutoff, PairPart::Local, list);
}

// Where clusters and superclusters are at the present positions; the demand becomes nothing. build_pair_list() begins with it.
// Pruning and forces measure from superclusters' middles, which have been found fit for the unrolled box: they stay until the
// next list.
template <class N>
void find_bounds(GpuQueue& queue, const GpuState<N>& state, const GpuCell& cell, GpuPairList& list);

// Leaves in list.pruned the tiles with a pair nearer than `cutoff` (nm) at the present positions, and some that have one a little
// further, and divides them into shares.
template <class N>
void prune_pair_list(GpuQueue& queue, const GpuState<N>& state, double cutoff, GpuPairList& list);

} // namespace parhelion
