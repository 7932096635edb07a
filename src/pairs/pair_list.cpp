// SPDX-License-Identifier: Apache-2.0
#include "pairs/pair_list.hpp"

#include "base/error.hpp"
#include "pairs/pair_search.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace parhelion {

using pair_search::ClusterGrid;
using pair_search::Exclusions;

std::size_t PairList::entries() const
{
    std::size_t n = 0;
    for (const PairListPart& part : active()) { n += part.entries.size(); }
    return n;
}

namespace {

constexpr std::int32_t clusters_per_part = 32;
constexpr double spreading = 0.1;   // nm by which a half cluster may grow until the next list is built
constexpr std::size_t padding = 16; // number of lanes of the widest vector

// The extent of a cluster: offsets from its first atom, in [-L/2, L/2). So a cluster across a face of the box is small, too.
struct Extent
{
    std::int32_t low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
};
Extent extent(const std::uint32_t* x, int first, int count)
{
    Extent e;
    for (int d = 0; d < 3; ++d)
    {
        for (int lane = 1; lane < count; ++lane)
        {
            const auto offset = static_cast<std::int32_t>(x[d * cluster_size + first + lane] - x[d * cluster_size + first]);
            e.low[d] = std::min(e.low[d], offset), e.high[d] = std::max(e.high[d], offset);
        }
    }
    return e;
}
double width(const Extent& e, int d) { return static_cast<double>(e.high[d]) - static_cast<double>(e.low[d]); }

struct Bounds
{
    std::uint32_t centre[3];
    float half[3]; // half sizes, nm
};

// Returns the cluster's bounding box; enlarges largest_half_cluster (nm) by its halves. spread: one unit along all edges, nm.
Bounds bounds(const std::uint32_t* x, const Box<double>& spread, Vec3<double>& largest_half_cluster)
{
    const auto extents = [&](const Extent& e, double share, double more) {
        return spread.to_nm({share * width(e, 0) + more, share * width(e, 1) + more, share * width(e, 2) + more});
    };
    Bounds b;
    const Extent e = extent(x, 0, cluster_size);
    for (int d = 0; d < 3; ++d)
    {
        const auto middle = static_cast<std::int32_t>((static_cast<std::int64_t>(e.low[d]) + e.high[d]) / 2);
        b.centre[d] = x[d * cluster_size] + static_cast<std::uint32_t>(middle);
    }
    const Vec3<double> half = extents(e, 0.5, 1);
    for (int d = 0; d < 3; ++d) { b.half[d] = static_cast<float>(half[d]) * (1 + 1e-6f); }
    for (const int first : {0, half_cluster_size})
    {
        const Vec3<double> of_half = extents(extent(x, first, half_cluster_size), 1, 0);
        for (int d = 0; d < 3; ++d) { largest_half_cluster[d] = std::max(largest_half_cluster[d], of_half[d]); }
    }
    return b;
}

ClusterGrid make_grid(CpuQueue& queue, const std::uint32_t* x, std::size_t clusters, const ColumnGrid& column_grid,
                      const Box<double>& box, Vec3<double>& largest_half_cluster)
{
    const Vec3<double>& tilt = box.tilt();
    const Box<double> spread =
        std::ldexp(1.0, -32) * Box<double>(box.diagonal(), {std::abs(tilt.x), std::abs(tilt.y), std::abs(tilt.z)});
    std::vector<Bounds> all(clusters);
    std::vector<Vec3<double>> largest(static_cast<std::size_t>(queue.threads()));
    queue.for_range(clusters, 1, [&](int thread, std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c)
        {
            all[c] = bounds(x + c * 3 * cluster_size, spread, largest[static_cast<std::size_t>(thread)]);
        }
    });
    for (const Vec3<double>& l : largest)
    {
        for (int d = 0; d < 3; ++d) { largest_half_cluster[d] = std::max(largest_half_cluster[d], l[d]); }
    }
    ClusterGrid grid;
    grid.columns = column_grid;
    const auto columns = static_cast<std::size_t>(grid.columns.columns());
    grid.begin.assign(columns + 1, 0);
    const auto column = [&](std::size_t c) {
        return static_cast<std::size_t>(grid.columns.column(all[c].centre[0], all[c].centre[1]));
    };
    grid.column_of_cluster.resize(clusters);
    for (std::size_t c = 0; c < clusters; ++c)
    {
        grid.column_of_cluster[c] = static_cast<std::int32_t>(column(c));
        ++grid.begin[column(c) + 1];
    }
    for (std::size_t k = 1; k <= columns; ++k) { grid.begin[k] += grid.begin[k - 1]; }
    std::vector<std::int32_t> next(grid.begin.begin(), grid.begin.end() - 1);
    grid.cluster.assign(clusters + padding, 0);
    for (std::size_t c = 0; c < clusters; ++c)
    {
        grid.cluster[static_cast<std::size_t>(next[column(c)]++)] = static_cast<std::int32_t>(c);
    }
    for (int d = 0; d < 3; ++d)
    {
        grid.centre[d].resize(clusters + padding);
        grid.half[d].resize(clusters + padding);
    }
    grid.rank_of_cluster.resize(clusters);
    grid.column_half.resize(columns);
    for (std::size_t k = 0; k < columns; ++k)
    {
        std::sort(grid.cluster.begin() + grid.begin[k], grid.cluster.begin() + grid.begin[k + 1],
                  [&](std::int32_t a, std::int32_t b) {
                      return all[static_cast<std::size_t>(a)].centre[2] < all[static_cast<std::size_t>(b)].centre[2];
                  });
        for (auto rank = static_cast<std::size_t>(grid.begin[k]); rank < static_cast<std::size_t>(grid.begin[k + 1]); ++rank)
        {
            const Bounds& b = all[static_cast<std::size_t>(grid.cluster[rank])];
            grid.rank_of_cluster[static_cast<std::size_t>(grid.cluster[rank])] = static_cast<std::int32_t>(rank);
            for (int d = 0; d < 3; ++d)
            {
                grid.centre[d][rank] = b.centre[d], grid.half[d][rank] = b.half[d];
                grid.column_half[k][d] = std::max(grid.column_half[k][d], b.half[d]);
            }
        }
        for (int d = 0; d < 3; ++d) { grid.largest_half[d] = std::max(grid.largest_half[d], grid.column_half[k][d]); }
    }
    return grid;
}

// The rows of exclusions for one block's atoms. Look-ups that follow each other reuse it, since neighbouring atoms are mostly of
// one block.
struct BlockRows
{
    std::int32_t first_atom, end_atom, molecule_size, first_row;
};

Exclusions make_exclusions(CpuQueue& queue, const Topology& topology, const std::vector<std::int32_t>& global_of_slot)
{
    Exclusions exclusions;
    exclusions.start.push_back(0);
    exclusions.row.assign(global_of_slot.size(), -1);
    exclusions.molecule_first.resize(global_of_slot.size());
    std::vector<std::int32_t> first_row; // indexed by molecule type
    for (const MoleculeType& molecule : topology.molecule_types)
    {
        first_row.push_back(static_cast<std::int32_t>(exclusions.start.size()) - 1);
        for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
        {
            if (!molecule.exclusion_start.empty())
            {
                exclusions.excluded.insert(exclusions.excluded.end(), molecule.excluded.begin() + molecule.exclusion_start[a],
                                           molecule.excluded.begin() + molecule.exclusion_start[a + 1]);
            }
            exclusions.start.push_back(static_cast<std::int32_t>(exclusions.excluded.size()));
        }
    }
    std::vector<BlockRows> blocks;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto size = static_cast<std::int64_t>(topology.molecule_types[block.type].atoms.size());
        if (block.count * size == 0) { continue; }
        blocks.push_back({static_cast<std::int32_t>(block.first_atom),
                          static_cast<std::int32_t>(block.first_atom + block.count * size), static_cast<std::int32_t>(size),
                          first_row[block.type]});
    }
    queue.for_range(global_of_slot.size(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        auto block = blocks.begin();
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            const std::int32_t atom = global_of_slot[slot];
            if (atom < 0) { continue; }
            if (atom < block->first_atom || atom >= block->end_atom)
            {
                block =
                    std::partition_point(blocks.begin(), blocks.end(), [&](const BlockRows& b) { return b.end_atom <= atom; });
            }
            const std::int32_t in_molecule = (atom - block->first_atom) % block->molecule_size;
            exclusions.row[slot] = block->first_row + in_molecule;
            exclusions.molecule_first[slot] = atom - in_molecule;
        }
    });
    return exclusions;
}

// Returns the leading 32 bits of all positions: from where they are, or copied to `storage`.
template <class N>
const std::uint32_t* leading_positions(CpuQueue& queue, const ParticleState<N>& state, AlignedVector<std::uint32_t>& storage)
{
    if constexpr (sizeof(typename N::Fixed) == sizeof(std::uint32_t)) { return state.x.values().data(); }
    else
    {
        const auto& x = state.x.values();
        storage.resize(x.size());
        queue.for_range(x.size(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) { storage[i] = leading_bits(x[i]); }
        });
        return storage.data();
    }
}

// Returns a cut-off that is larger by more than the error of 32-bit positions in float arithmetic.
float with_margin(double cutoff) { return static_cast<float>(cutoff * (1 + 1e-5)); }

void set_distances(const Box<double>& box, double cutoff, pair_search::Distances& distances)
{
    distances.cutoff = with_margin(cutoff);
    distances.edge = static_cast<Vec3<float>>(box.diagonal());
    distances.is_low = box.is_low(with_margin(cutoff));
    distances.nm_per_unit = static_cast<Vec3<float>>(std::ldexp(1.0, -32) * box.diagonal());
    distances.shear = static_cast<Vec3<float>>(box.shear());
    distances.is_tilted = !box.is_rectangular();
}

std::atomic<std::uint64_t> lists_built{0};

} // namespace

template <class N>
void build_pair_list(CpuQueue& queue, const ParticleState<N>& state, const Topology& topology, double cutoff, PairList& list)
{
    const ScopedPhase span(queue.clock(), Phase::PairList);
    const Box<double>& box = state.box.edges();
    PARHELION_EXPECTS(cutoff > 0 && cutoff <= box.largest_cutoff());
    AlignedVector<std::uint32_t> storage;
    const std::uint32_t* x = leading_positions(queue, state, storage);
    Vec3<double> largest_half_cluster;
    const ClusterGrid grid =
        make_grid(queue, x, state.clusters(), column_grid(box, state.slot_of_global.size()), box, largest_half_cluster);
    const Exclusions exclusions = make_exclusions(queue, topology, state.global_of_slot);

    pair_search::Input input;
    input.x = x;
    input.clusters = static_cast<std::int32_t>(state.clusters());
    set_distances(box, cutoff, input);
    input.heights = static_cast<Vec3<float>>(box.heights());
    input.centred = true;
    for (int d = 0; d < 3; ++d)
    {
        input.centred = input.centred && 2 * (input.cutoff + 2 * grid.largest_half[d]) * 1.001f < input.heights[d];
    }
    input.grid = &grid;
    input.exclusions = &exclusions;
    input.slot_of_global = state.slot_of_global.data();
    input.territory = &state.territory;
    input.home_clusters = static_cast<std::int32_t>(state.home_clusters());

    for (int d = 0; d < 3; ++d) { list.reach[d] = cutoff + largest_half_cluster[d] + spreading; }
    list.serial = ++lists_built;
    list.pruned.clear();
    const std::int32_t parts = (input.clusters + clusters_per_part - 1) / clusters_per_part;
    list.parts.resize(static_cast<std::size_t>(parts));
    std::atomic<std::int32_t> next_part{0};
    queue.run([&](int) {
        pair_search::Scratch scratch;
        scratch.mask_index.assign(state.clusters(), -1);
        scratch.first = grid.begin;
        scratch.candidates.resize(state.clusters() + padding);
        for (auto& entries : scratch.plain) { entries.resize(state.clusters()); }
        for (std::int32_t p = next_part.fetch_add(1, std::memory_order_relaxed); p < parts;
             p = next_part.fetch_add(1, std::memory_order_relaxed))
        {
            const std::int32_t begin = p * clusters_per_part;
            pair_search::search(input, begin, std::min(begin + clusters_per_part, input.clusters), scratch,
                                list.parts[static_cast<std::size_t>(p)]);
        }
    });
}

template <class N>
void prune_pair_list(CpuQueue& queue, const ParticleState<N>& state, double cutoff, PairList& list)
{
    const ScopedPhase span(queue.clock(), Phase::PairList);
    const Box<double>& box = state.box.edges();
    const Vec3<double> heights = box.heights();
    AlignedVector<std::uint32_t> storage;
    pair_search::Distances input;
    input.x = leading_positions(queue, state, storage);
    set_distances(box, cutoff, input);
    input.centred = 2 * list.reach.x < heights.x && 2 * list.reach.y < heights.y && 2 * list.reach.z < heights.z;
    list.pruned.resize(list.parts.size());
    std::atomic<std::size_t> next_part{0};
    queue.run([&](int) {
        pair_search::PruneScratch scratch;
        for (std::size_t p = next_part.fetch_add(1, std::memory_order_relaxed); p < list.parts.size();
             p = next_part.fetch_add(1, std::memory_order_relaxed))
        {
            pair_search::prune(input, list.parts[p], scratch, list.pruned[p]);
        }
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void build_pair_list<N>(CpuQueue&, const ParticleState<N>&, const Topology&, double, PairList&);                    \
    template void prune_pair_list<N>(CpuQueue&, const ParticleState<N>&, double, PairList&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
