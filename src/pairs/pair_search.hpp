// SPDX-License-Identifier: Apache-2.0
// The search behind build_pair_list and prune_pair_list: everything that does not depend on the numeric policy. Positions are the
// leading 32 bits of the fixed-point fractions, distances are float: a hundred-thousandth more cut-off covers both, and the force
// kernels decide with their own arithmetic.
#pragma once

#include "pairs/column_grid.hpp"
#include "pairs/pair_list.hpp"

#include <cstdint>
#include <vector>

namespace parhelion::pair_search {

// Bounding boxes of the clusters, by column and by z of their centres in it, padded to whole vectors.
struct ClusterGrid
{
    ColumnGrid columns;
    std::vector<std::int32_t> begin;     // per column, and the end
    AlignedVector<std::int32_t> cluster; // by rank in this order
    std::vector<std::int32_t> rank_of_cluster;
    std::vector<std::int32_t> column_of_cluster;
    AlignedVector<std::uint32_t> centre[3];
    AlignedVector<float> half[3];         // half extents, nm
    std::vector<Vec3<float>> column_half; // largest half extents in a column
    Vec3<float> largest_half;             // and of all
};

// Where a slot finds the atoms it does not interact with: excluded[start[row[slot]] .. start[row[slot] + 1]), counted from the
// molecule's first global atom.
struct Exclusions
{
    std::vector<std::int32_t> start, excluded;
    std::vector<std::int32_t> row, molecule_first; // per slot; row -1: filler
};

// How distances are taken.
struct Distances
{
    const std::uint32_t* x = nullptr; // as ClusterArray
    Vec3<float> nm_per_unit, shear;   // along the diagonal of the box, and what turns that into nm: Box::shear()
    Vec3<float> edge;                 // the diagonal, nm
    bool is_tilted = false;
    bool is_low = false;  // lower than twice the cut-off, so that the nearest images of pairs have to be looked for
    float cutoff = 0;     // nm, with the margin
    bool centred = false; // every partner is nearer to any atom of a block than half the box: see Difference in forces/
};

struct Input : Distances
{
    std::int32_t clusters = 0;
    Vec3<float> heights; // of the box, nm
    const ClusterGrid* grid = nullptr;
    const Exclusions* exclusions = nullptr;
    const std::int32_t* slot_of_global = nullptr;
    const Territory* territory = nullptr;
    std::int32_t home_clusters = 0;
};

// What a thread reuses from part to part.
struct Scratch
{
    struct Masks
    {
        std::int32_t cluster;
        std::uint32_t interacts[2]; // per half of i
    };
    std::vector<Masks> masks;             // of the clusters that share exclusions with i
    std::vector<std::int32_t> mask_index; // per cluster: index into masks, or -1
    std::vector<std::int32_t> first;      // per column: where the previous cluster's range began, near which this one's does
    std::vector<float> gap2[2];           // x, y: squared distances of the columns in reach
    AlignedVector<std::int32_t> candidates;
    AlignedVector<PairEntry> masked[2], plain[2];
    struct Partial
    {
        PairEntry entry;
        std::uint32_t exists;
    };
    std::vector<Partial> partial[2]; // of the clusters whose pairs belong to different ranks
    std::size_t plain_count[2] = {};
};

struct PruneScratch
{
    AlignedVector<PairEntry> entries[3];
};
// The entries of `whole` with a pair in range, as prune_pair_list describes.
void prune(const Distances& input, const PairListPart& whole, PruneScratch& scratch, PairListPart& part);

// Lists the partners of clusters begin .. end into part.
void search(const Input& input, std::int32_t begin, std::int32_t end, Scratch& scratch, PairListPart& part);

} // namespace parhelion::pair_search
