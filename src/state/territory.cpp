// SPDX-License-Identifier: Apache-2.0
#include "state/territory.hpp"

#include "state/cluster_array.hpp"

#include <algorithm>
#include <utility>

namespace parhelion {

Territory::Territory(std::vector<Zone> zones, const int (&cells)[3], const int (&pulses)[3])
    : zones_(std::move(zones)), claims_(zones_.size() * zones_.size())
{
    for (std::size_t a = 0; a < zones_.size(); ++a)
    {
        for (std::size_t b = 0; b < zones_.size(); ++b)
        {
            Claim& claim = claims_[a * zones_.size() + b];
            for (int d = 0; d < 3; ++d)
            {
                const int behind = std::min(zones_[a].offset[d], zones_[b].offset[d]);
                const int ahead = std::max(zones_[a].offset[d], zones_[b].offset[d]);
                claim.none |= behind != 0;
                // The distance in the other direction around the box may be as short.
                if (ahead != behind && cells[d] - ahead <= pulses[d]) { claim.ask |= static_cast<std::uint8_t>(1u << d); }
            }
        }
    }
}

void Territory::append(std::uint16_t zone, std::size_t clusters)
{
    zone_of_halo_cluster_.insert(zone_of_halo_cluster_.end(), clusters, zone);
}

namespace {
struct Interval
{
    std::int64_t low, high;
};
// Returns the range of positions of `count` atoms, relative to the middle of their owner's cell.
Interval extent(const Zone& zone, int d, const std::uint32_t* x, int count)
{
    std::int32_t low = zone.from_centre(d, x[0]), high = low;
    for (int i = 1; i < count; ++i)
    {
        const std::int32_t at = zone.from_centre(d, x[i]);
        low = std::min(low, at), high = std::max(high, at);
    }
    return {low, high};
}
} // namespace

std::uint32_t Territory::claimed(std::uint16_t a, std::uint16_t b, std::uint8_t ask, const std::uint32_t* xi,
                                 const std::uint32_t* xj) const
{
    std::uint32_t pairs = ~0u;
    for (int d = 0; d < 3; ++d)
    {
        if ((ask >> d & 1) == 0) { continue; }
        const bool j_is_ahead = zones_[b].offset[d] > zones_[a].offset[d];
        // The extents of whole clusters nearly always decide, without tests of atoms.
        const Interval i_extent = extent(zones_[a], d, xi + d * cluster_size, cluster_size / 2);
        const Interval j_extent = extent(zones_[b], d, xj + d * cluster_size, cluster_size);
        const Interval &back = j_is_ahead ? i_extent : j_extent, &front = j_is_ahead ? j_extent : i_extent;
        const std::uint32_t between = zones_[j_is_ahead ? b : a].centre[d] - zones_[j_is_ahead ? a : b].centre[d];
        constexpr std::int64_t half_box = 0x80000000;
        if (between + front.high - back.low < half_box) { continue; }
        if (between + front.low - back.high >= half_box && between + front.high - back.low < 2 * half_box) { return 0; }
        std::uint32_t j_in_cell[cluster_size];
        for (int j = 0; j < cluster_size; ++j) { j_in_cell[j] = zones_[b].in_cell(d, xj[d * cluster_size + j]); }
        for (int i = 0; i < cluster_size / 2; ++i)
        {
            const std::uint32_t xi_in_cell = zones_[a].in_cell(d, xi[d * cluster_size + i]);
            for (int j = 0; j < cluster_size; ++j)
            {
                const std::uint32_t ahead = j_is_ahead ? j_in_cell[j] - xi_in_cell : xi_in_cell - j_in_cell[j];
                if (ahead >= 0x80000000u) { pairs &= ~(1u << (cluster_size * i + j)); }
            }
        }
    }
    return pairs;
}

bool Territory::is_corner_home(const Place* places, int count) const
{
    if (is_everything()) { return true; }
    for (int d = 0; d < 3; ++d)
    {
        if (zones_[0].half[d] == 0) { continue; } // the grid has a single cell in this dimension
        const std::uint32_t origin = zones_[places[0].zone].in_cell(d, places[0].x[d]);
        std::int32_t lowest = 0;
        int offset_of_lowest = zones_[places[0].zone].offset[d];
        for (int i = 1; i < count; ++i)
        {
            const Zone& zone = zones_[places[i].zone];
            const auto from_first = static_cast<std::int32_t>(zone.in_cell(d, places[i].x[d]) - origin);
            if (from_first < lowest) { lowest = from_first, offset_of_lowest = zone.offset[d]; }
        }
        if (offset_of_lowest != 0) { return false; }
    }
    return true;
}

} // namespace parhelion
