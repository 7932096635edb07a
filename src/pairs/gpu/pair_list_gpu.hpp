// SPDX-License-Identifier: Apache-2.0
// The pair list on the GPU: all pairs of atoms that may come within the cut-off until the list is built again.
//
// The idea: a *row* is a supercluster, the i side. Its *entries* are clusters of eight j atoms, with a bit
// for each i cluster. Each bit is a *tile* of 8 x 8 pairs, two pairs a lane. Every pair of atoms is in
// exactly one tile (a half list): of two home superclusters a < b, a is i if a + b is even, else b. With
// halo atoms i is always b. The few entries with excluded pairs, or with pairs within one supercluster,
// come first in their row. They have a mask for each lane, which says which of the lane's pairs interact.
//
// With several ranks a rank has two lists. The *local* list has the pairs among its
// home atoms, which wait for no other rank. The *nonlocal* list has all its other pairs
// (state/gpu/cell.hpp). In divided dimensions distances are those of the unrolled box.
//
// A list is built from bounding boxes of clusters, which is quick but lists too many tiles. It is *pruned* to tiles with a
// pair in range, at once and when the plan says so. Forces use the pruned list, divided into *shares*, one for each warp.
//
// Cost on an H200: measured in bench/gpu/lists. Nothing is copied to the host: lists that exceed their capacity raise a flag.
#pragma once

#include "base/box.hpp"
#include "model/topology.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

inline constexpr int masks_per_entry = 32; // one for each lane

// A bounding box of some atoms, with edges parallel to those of the periodic box. x, y, z is its middle, as leading bits of
// positions. half_x, half_y, half_z is half its size along the edges, over the diagonal, nm; negative if it has no atoms.
struct alignas(16) AtomBounds
{
    std::uint32_t x, y, z;
    float half_x, half_y, half_z;
};

// An entry of a row: the j cluster in the upper 24 bits, and a bit for each i cluster in the lower 8 bits.
using PairWord = std::uint32_t;

// The row of one supercluster: entries[begin .. begin + count). The first `masked` of them have masks, from
// row `masks` of the mask array on. pruned[begin .. begin + pruned) are the entries that pruning has kept.
struct alignas(16) GpuPairRow
{
    std::int32_t begin, masked, masks, count;
    std::int32_t pruned;
    std::int32_t exact; // 1: a j atom may be half a box away from an i atom, so differences are computed pair by pair
    std::int32_t supercluster;
};

// Number of shares of a pruned list per multiprocessor: twice the force-computing
// warps that one holds. Some warps finish early and then take another share.
inline constexpr int shares_per_multiprocessor = 40; // half as many for halo pairs, which leaves multiprocessors to other kernels
// Says how a list is divided. Shares are shorter if kernels of the mesh occupy multiprocessors, so that warps that begin late end
// sooner. Systems of very many or very few atoms gain nothing by shorter shares (bench/gpu/pairs/log.md).
struct PairSharing
{
    int of_multiprocessor = shares_per_multiprocessor;
    bool is_beside_mesh = false;
};
constexpr PairSharing sharing_beside_mesh(std::size_t atoms)
{
    return {atoms > 30'000 && atoms <= 100'000 ? 60 : shares_per_multiprocessor, true};
}

// A place in a pruned list: a row, as an index in GpuPairList::busy_rows, and an entry of that row.
struct PairPlace
{
    std::int32_t row, entry;
};
// The work of one warp, up to the begin of the next share. A copy of its first row saves the warp a dependent load.
struct alignas(16) PairShare
{
    GpuPairRow first;
    PairPlace begin;
};

// The capacity that the last build needed. If it exceeds the reserved capacity, the list is incomplete. The largest
// need of all builds is kept as well, since after a failure the host may read the need of lists with fewer atoms.
struct PairListDemand
{
    std::uint32_t entries, masks;
    std::uint32_t most_entries, most_masks;
};

// The excluded partners of every atom, found by its global number.
struct GpuExclusions
{
    DeviceBuffer<std::int32_t> start, excluded;     // by atom of a molecule type: begin in `excluded`; partners in the molecule
    DeviceBuffer<std::int32_t> row, molecule_first; // for each global atom: index in `start`; first atom of its molecule
};
GpuExclusions make_gpu_exclusions(GpuQueue& queue, const Topology& topology);

// Selects the pairs of a list: pairs among home atoms, or all other pairs of a rank.
enum class PairPart : std::uint8_t
{
    Local,
    Nonlocal
};

struct GpuPairList
{
    PairPart part = PairPart::Local;                  // the part that the last build listed
    bool is_all = true;                               // true if the list has every pair of the system
    bool is_beside_mesh = false;                      // true if kernels of a mesh run concurrently with the list's (PairSharing)
    DeviceBuffer<AtomBounds> superclusters, clusters; // bounding boxes at the last build of the list
    DeviceBuffer<GpuPairRow> rows;
    DeviceBuffer<PairWord> entries, pruned;
    // The masks of lane 4 * i + j. Bit c: atom i of i cluster c interacts with atom j; bit 8 + c: it interacts with atom j + 4.
    DeviceBuffer<std::uint16_t> masks; // masks_per_entry for each masked entry
    // The next two belong to the pruned list: the cost of each row, a pair of clusters (8 x 8 atoms) counting 20, and
    // copies of the rows that have entries, without gaps. In a list of halo pairs few rows have entries.
    DeviceBuffer<std::uint32_t> row_costs;
    DeviceBuffer<GpuPairRow> busy_rows;
    DeviceBuffer<PairShare> shares; // all shares, and one for the end of the last share
    DeviceBuffer<PairListDemand> demand;

    int share_count() const { return static_cast<int>(shares.size()) - 1; }
};

// Reserves memory for a list of pairs nearer than `cutoff` (nm) at the mean density, with
// a margin. Sets the number of shares per multiprocessor. Call it before the first build.
template <class N>
void reserve_pair_list(GpuQueue& queue, const GpuState<N>& state, const Box<double>& box, double cutoff, PairPart part,
                       GpuPairList& list, const PairSharing& sharing = {});
template <class N>
void reserve_pair_list(GpuQueue& queue, const GpuState<N>& state, const Box<double>& box, double cutoff, GpuPairList& list)
{
    reserve_pair_list(queue, state, box, cutoff, PairPart::Local, list);
}
// Enlarges the list to 1.5 times the largest need of any build, after gpu_flag_list_overflow. Waits for the GPU.
void enlarge_pair_list(GpuQueue& queue, GpuPairList& list);

// Lists, once each, all pairs of `part` that belong to this rank and are nearer than `cutoff` (nm) at the present
// positions. Raises gpu_flag_list_overflow if the list exceeds its capacity, gpu_flag_scratch_overflow if a supercluster
// has more neighbours or exclusions than a thread block can hold, gpu_flag_ambiguous if a listed pair may come within
// the cutoff in another direction around the box. Preconditions: cutoff <= half the least height of the box, and <=
// cell.reach with several ranks; take_atoms() has just filled the state. Call prune_pair_list() before computing forces.
template <class N>
void build_pair_list(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell, const GpuExclusions& exclusions, double cutoff,
                     PairPart part, GpuPairList& list);
// Lists all pairs of the system, on a lone rank.
template <class N>
void build_pair_list(GpuQueue& queue, GpuState<N>& state, const GpuExclusions& exclusions, double cutoff, GpuPairList& list)
{
    build_pair_list(queue, state, GpuCell{}, exclusions, cutoff, PairPart::Local, list);
}

// Computes the bounding boxes of clusters and superclusters at the present positions, and sets the
// demand to zero. build_pair_list() calls it first. Pruning and forces measure distances from the
// middles of superclusters, which fit the unrolled box. The middles therefore stay until the next list.
template <class N>
void find_bounds(GpuQueue& queue, const GpuState<N>& state, const GpuCell& cell, GpuPairList& list);

// Writes the tiles with a pair nearer than `cutoff` (nm) at the present positions to
// list.pruned, and some tiles with a pair slightly farther apart. Divides the tiles into shares.
template <class N>
void prune_pair_list(GpuQueue& queue, const GpuState<N>& state, double cutoff, GpuPairList& list);

} // namespace parhelion
