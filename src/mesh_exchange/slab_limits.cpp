// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/slab_limits.hpp"

#include "interactions/mesh/spline.hpp"

#include <algorithm>
#include <limits>

namespace parhelion {

SlabLimits::SlabLimits(const MeshCut& cut, int rank) : cut_(cut), rank_(rank) {}

template <class N>
void SlabLimits::follow(const ParticleState<N>& state, double reach, std::span<const std::uint32_t> lower)
{
    const auto width = [&](int rank) {
        const auto r = static_cast<std::size_t>(rank);
        return (r + 1 < lower.size() ? std::int64_t{lower[r + 1]} : std::int64_t{1} << 32) - std::int64_t{lower[r]};
    };
    const std::int64_t half = width(rank_) / 2;
    const std::uint32_t middle = lower[static_cast<std::size_t>(rank_)] + static_cast<std::uint32_t>(half);
    const double nm_per_unit = state.box.edges().heights().x * 0x1p-32;
    const double surely = reach * (1 - 1e-6); // reach less a margin for rounding; halos reach slightly farther
    reaches_back_.assign(state.home_clusters(), 0);
    for (std::size_t c = 0; c < state.home_clusters(); ++c)
    {
        // Offsets of atoms from the cell's lower border, wrapped around the cell's middle.
        std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
        for (std::size_t slot = c * cluster_size; slot < (c + 1) * cluster_size; ++slot)
        {
            const std::uint32_t x = leading_bits(state.x.get(slot).x);
            lowest = std::min(lowest, std::int64_t{static_cast<std::int32_t>(x - middle)} + half);
        }
        double gap = static_cast<double>(lowest) * nm_per_unit; // nm, down to the cell that is `behind` cells back
        for (int behind = 0; behind < cut_.ranks(); ++behind)
        {
            const int rank = (rank_ - behind + cut_.ranks()) % cut_.ranks();
            if (behind > 0)
            {
                if (gap >= surely) { break; }
                gap += static_cast<double>(width(rank)) * nm_per_unit;
            }
            reaches_back_[c] += cut_.planes[static_cast<std::size_t>(rank)].count;
        }
    }
}

template <class N>
bool SlabLimits::are_kept(CpuQueue& queue, const ParticleState<N>& state, const MeshCharges<N>& charges) const
{
    const int points = cut_.points[0];
    const mesh::PlaneRange& own = cut_.planes[static_cast<std::size_t>(rank_)];
    const int last = own.first + own.count - 1; // may be larger than the number of planes of the box
    std::vector<char> kept(static_cast<std::size_t>(queue.threads()), 1);
    queue.run([&](int thread) {
        const auto [begin, end] = queue.range(state.home_clusters(), 1, thread);
        bool all = true;
        for (std::size_t slot = begin * cluster_size; slot < end * cluster_size; ++slot)
        {
            const int plane = mesh_place(state.x.get(slot).x, static_cast<std::uint32_t>(points)).point;
            const int back = (last - plane + points) % points;
            all = all && (charges(state, slot) == 0 || (back >= cut_.order - 1 && back < reaches_back_[slot / cluster_size]));
        }
        kept[static_cast<std::size_t>(thread)] = all;
    });
    return std::find(kept.begin(), kept.end(), 0) == kept.end();
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void SlabLimits::follow<N>(const ParticleState<N>&, double, std::span<const std::uint32_t>);                        \
    template bool SlabLimits::are_kept<N>(CpuQueue&, const ParticleState<N>&, const MeshCharges<N>&) const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
