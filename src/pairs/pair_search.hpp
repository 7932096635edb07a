// SPDX-License-Identifier: Apache-2.0
// The part of build_pair_list() and prune_pair_list() that does not depend on the numeric policy. Positions are
// the leading 32 bits of the fixed-point fractions, and distances are float. The errors of both are covered by
// cut-offs larger by 1e-5. The force kernels decide by their own arithmetic which pairs are in range.
#pragma once

#include "pairs/column_grid.hpp"
#include "pairs/pair_list.hpp"

#include <cstdint>
#include <vector>

namespace parhelion::pair_search {

// The bounding boxes of clusters, ordered by column, then by z of their centres. The arrays are padded to whole vectors.
struct ClusterGrid
{
    ColumnGrid columns;
    std::vector<std::int32_t> begin;     // index of each column's first cluster; then the number of clusters
    AlignedVector<std::int32_t> cluster; // clusters in this order; the index in this array is the "rank"
    std::vector<std::int32_t> rank_of_cluster;
    std::vector<std::int32_t> column_of_cluster;
    AlignedVector<std::uint32_t> centre[3];
    AlignedVector<float> half[3];         // half extents, nm
    std::vector<Vec3<float>> column_half; // largest half extents of each column, nm
    Vec3<float> largest_half;             // largest half extents of all clusters, nm
};

// The exclusions of each slot: excluded[start[row[slot]] .. start[row[slot]
// + 1]). They are atoms, counted from the first atom of the molecule.
struct Exclusions
{
    std::vector<std::int32_t> start, excluded;
    std::vector<std::int32_t> row, molecule_first; // indexed by slot; row is -1 for a filler
};

// The positions and parameters from which distances are computed.
struct Distances
{
    const std::uint32_t* x = nullptr; // the memory layout is that of ClusterArray
    Vec3<float> nm_per_unit, shear;   // nm along the box diagonal per unit; Box::shear() turns this into space
    Vec3<float> edge;                 // the box diagonal, nm
    bool is_tilted = false;
    bool is_low = false;  // true if the box is lower than twice the cut-off, so that nearest images must be searched
    float cutoff = 0;     // nm, with the margin for rounding
    bool centred = false; // every partner is within half the box of all atoms of a block: see Difference in interactions/pair
};

struct Input : Distances
{
    std::int32_t clusters = 0;
    Vec3<float> heights; // heights of the box, nm
    const ClusterGrid* grid = nullptr;
    const Exclusions* exclusions = nullptr;
    const std::int32_t* slot_of_global = nullptr;
    const Territory* territory = nullptr;
    std::int32_t home_clusters = 0;
};

// Memory that a thread uses again for each part of the list.
struct Scratch
{
    struct Masks
    {
        std::int32_t cluster;
        std::uint32_t interacts[2]; // one for each half of cluster i
    };
    std::vector<Masks> masks;             // masks of the clusters that share exclusions with cluster i
    std::vector<std::int32_t> mask_index; // for each cluster: index into masks, or -1
    std::vector<std::int32_t> first; // for each column: where the previous cluster's range began, near which the next one begins
    std::vector<float> gap2[2];      // in x and y: squared distances of the columns within reach, nm^2
    AlignedVector<std::int32_t> candidates;
    AlignedVector<PairEntry> masked[2], plain[2];
    struct Partial
    {
        PairEntry entry;
        std::uint32_t exists;
    };
    std::vector<Partial> partial[2]; // for each half of cluster i: clusters of which only some pairs belong to this rank
    std::size_t plain_count[2] = {};
};

struct PruneScratch
{
    AlignedVector<PairEntry> entries[2]; // entries that have in range only the first, or only the second, pair of i atoms
};
// Writes to `part` the entries of `whole` that have a pair in range, as prune_pair_list() describes.
void prune(const Distances& input, const PairListPart& whole, PruneScratch& scratch, PairListPart& part);

// Writes the rows of clusters begin .. end, with their partners, to `part`.
void search(const Input& input, std::int32_t begin, std::int32_t end, Scratch& scratch, PairListPart& part);

} // namespace parhelion::pair_search
