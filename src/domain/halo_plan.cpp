// SPDX-License-Identifier: Apache-2.0
#include "domain/halo_plan.hpp"

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace parhelion {

namespace {

using Offset = std::array<int, 3>;

// Lower corner of a cluster minus that of its owner's cell, in units of 2^-32 box edges; negative if an atom is below the
// cell. Clusters in the upper half of a very wide cell count as half a box edge away, the largest value: no halo reaches
// farther.
using LowCorner = std::array<std::int32_t, 3>;

// The data of the clusters of a message that ranks exchange when they make the plan.
template <class N>
struct Shipment
{
    std::vector<std::uint16_t> zone; // zones on the receiver
    std::vector<LowCorner> low;
    std::vector<typename N::Fixed> x; // positions in blocks, in the layout of ClusterArray
    std::vector<typename N::Real> charge;
    std::vector<std::int32_t> lj_type, global;
};

template <class N>
class HaloBuilder
{
public:
    HaloBuilder(const CellGrid& grid, HaloPattern pattern, double reach, Communicator& comm, ParticleState<N>& state)
        : grid_(grid), comm_(comm), state_(state), cell_(grid.cell_of(comm.rank()))
    {
        plan_.pattern = pattern;
        plan_.home_clusters = state.home_clusters();
        nm_per_unit_ = std::ldexp(1.0, -32) * state.box.edges().heights();
        is_tilted_ = !state.box.edges().is_rectangular();
        measure(reach);
    }

    // Returns the largest distance of halo atoms from the cell, nm.
    const Vec3<double>& reach() const { return reach_; }

    HaloPlan build()
    {
        if (!grid_.has_cell(comm_.rank())) { return std::move(plan_); }
        make_zones();
        for (std::size_t c = 0; c < plan_.home_clusters; ++c) { low_.push_back(low_corner(c)); }
        if (plan_.pattern == HaloPattern::Staged)
        {
            for (const int d : {2, 1, 0})
            {
                for (int pulse = 1; pulse <= plan_.pulses[static_cast<std::size_t>(d)]; ++pulse)
                {
                    exchange({pulse_message(d, pulse)});
                }
            }
        }
        else
        {
            std::vector<Outgoing> all;
            for (std::size_t z = 1; z < offsets_.size(); ++z) { all.push_back(direct_message(offsets_[z])); }
            exchange(std::move(all));
        }
        return std::move(plan_);
    }

private:
    struct Outgoing
    {
        HaloMessage message;
        Shipment<N> shipment;
    };

    // Measures how far the atoms of all ranks have moved out of their cells. Sets the reach and the number of pulses.
    void measure(double list_reach)
    {
        std::int64_t overhang[6] = {}; // distances below and above the cell, by dimension, in units of 2^-32 box edges
        for (std::size_t slot = 0; slot < state_.home_slots(); ++slot)
        {
            const auto x = state_.x.get(slot);
            for (int d = 0; d < 3; ++d)
            {
                if (grid_.cells[static_cast<std::size_t>(d)] == 1) { continue; }
                const std::int64_t from_lower = beyond_lower(d, leading_bits(x[d]));
                overhang[d] = std::max(overhang[d], -from_lower);
                overhang[3 + d] = std::max(overhang[3 + d], from_lower - width(d, 0));
            }
        }
        comm_.max(overhang);
        for (int d = 0; d < 3; ++d)
        {
            overhang_ahead_[d] = static_cast<double>(overhang[3 + d]) * nm_per_unit_[d];
            // The margin allows for float distances in the pair search, and for rounded corners here.
            list_reach_ = list_reach * (1 + 1e-5);
            reach_[d] = list_reach_ + overhang_ahead_[d] + static_cast<double>(overhang[d]) * nm_per_unit_[d];
        }
        plan_.pulses = pulses_for(grid_, state_.box.edges(), reach_);
    }

    // Returns the distance of x from the lower border of this rank's cell, wrapped around the cell's middle.
    std::int64_t beyond_lower(int d, std::uint32_t x) const
    {
        const int c = cell_[static_cast<std::size_t>(d)];
        const std::int64_t half = width(d, 0) / 2;
        const auto middle = static_cast<std::uint32_t>(grid_.lower(d, c) + static_cast<std::uint64_t>(half));
        return static_cast<std::int32_t>(x - middle) + half;
    }

    // Returns the width of the cell that is `ahead` cells ahead of this rank's cell in dimension d.
    std::int64_t width(int d, int ahead) const
    {
        const int n = grid_.cells[static_cast<std::size_t>(d)];
        const int c = ((cell_[static_cast<std::size_t>(d)] + ahead) % n + n) % n;
        return static_cast<std::int64_t>(grid_.width(d, c));
    }

    LowCorner low_corner(std::size_t cluster) const
    {
        LowCorner low{};
        for (int d = 0; d < 3; ++d)
        {
            if (grid_.cells[static_cast<std::size_t>(d)] == 1) { continue; }
            std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
            for (std::size_t lane = 0; lane < cluster_size; ++lane)
            {
                lowest = std::min(lowest, beyond_lower(d, leading_bits(state_.x.get(cluster * cluster_size + lane)[d])));
            }
            constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
            low[static_cast<std::size_t>(d)] = static_cast<std::int32_t>(std::min(lowest, most));
        }
        return low;
    }

    std::uint16_t zone_at(const Offset& offset) const
    {
        const auto& p = plan_.pulses;
        return static_cast<std::uint16_t>((offset[0] * (p[1] + 1) + offset[1]) * (p[2] + 1) + offset[2]);
    }

    void make_zones()
    {
        std::vector<Zone> zones;
        for (int x = 0; x <= plan_.pulses[0]; ++x)
        {
            for (int y = 0; y <= plan_.pulses[1]; ++y)
            {
                for (int z = 0; z <= plan_.pulses[2]; ++z)
                {
                    const Offset offset{x, y, z};
                    zones.push_back(grid_.zone(comm_.rank(), offset));
                    offsets_.push_back(offset);
                }
            }
        }
        const int cells[3] = {grid_.cells[0], grid_.cells[1], grid_.cells[2]};
        const int pulses[3] = {plan_.pulses[0], plan_.pulses[1], plan_.pulses[2]};
        state_.territory = Territory(std::move(zones), cells, pulses);
    }

    // Returns true if the rank `behind` cells behind this one needs a cluster at `offset` from this rank.
    bool is_needed(std::size_t cluster, const Offset& offset, const Offset& behind) const
    {
        double distance2 = 0;
        for (int d = 0; d < 3; ++d)
        {
            const auto k = static_cast<std::size_t>(d);
            if (offset[k] + behind[k] == 0) { continue; }
            std::int64_t gap = low_[cluster][k];
            for (int c = 1 - behind[k]; c < offset[k]; ++c) { gap += width(d, c); }
            const double distance = std::max(0.0, static_cast<double>(gap) * nm_per_unit_[d] - overhang_ahead_[d]);
            // In a tilted box, squares of distances from two faces do not add up. Only the larger distance is then a safe bound.
            distance2 = is_tilted_ ? std::max(distance2, distance * distance) : distance2 + distance * distance;
        }
        return distance2 < list_reach_ * list_reach_;
    }

    // Makes the message to the rank `behind` cells behind. It has the clusters that this rank needs and whose offset `accepts`.
    template <class Accepts>
    Outgoing message(const Offset& behind, Accepts&& accepts)
    {
        Outgoing out;
        out.message.send_to = grid_.ahead(comm_.rank(), {-behind[0], -behind[1], -behind[2]});
        out.message.receive_from = grid_.ahead(comm_.rank(), behind);
        for (std::size_t c = 0; c < low_.size(); ++c)
        {
            const Offset& offset = offsets_[state_.territory.zone_of(c, plan_.home_clusters)];
            if (!accepts(offset) || !is_needed(c, offset, behind)) { continue; }
            out.message.clusters.push_back(static_cast<std::int32_t>(c));
            out.message.home += static_cast<std::size_t>(c < plan_.home_clusters);
            ship(c, zone_at({offset[0] + behind[0], offset[1] + behind[1], offset[2] + behind[2]}), out.shipment);
        }
        return out;
    }

    Outgoing direct_message(const Offset& behind)
    {
        return message(behind, [](const Offset& offset) { return offset == Offset{}; });
    }

    // Pulse 1 of dimension d sends the clusters of earlier dimensions. Pulse p sends the clusters that pulse p - 1 brought.
    Outgoing pulse_message(int d, int pulse)
    {
        Offset behind{};
        behind[static_cast<std::size_t>(d)] = 1;
        return message(behind, [&](const Offset& offset) { return offset[static_cast<std::size_t>(d)] == pulse - 1; });
    }

    void ship(std::size_t c, std::uint16_t zone, Shipment<N>& shipment) const
    {
        shipment.zone.push_back(zone);
        shipment.low.push_back(low_[c]);
        const auto* x = state_.x.cluster(c);
        shipment.x.insert(shipment.x.end(), x, x + 3 * cluster_size);
        for (std::size_t slot = c * cluster_size; slot < (c + 1) * cluster_size; ++slot)
        {
            shipment.charge.push_back(state_.charge[slot]);
            shipment.lj_type.push_back(state_.lj_type[slot]);
            shipment.global.push_back(state_.global_of_slot[slot]);
        }
    }

    void exchange(std::vector<Outgoing> outgoing)
    {
        std::vector<SetupMessage> setup_messages;
        std::vector<int> sources;
        for (const Outgoing& out : outgoing)
        {
            ByteWriter writer(setup_messages.emplace_back(SetupMessage{out.message.send_to, {}}).bytes);
            writer.put_all(out.shipment.zone), writer.put_all(out.shipment.low), writer.put_all(out.shipment.x);
            writer.put_all(out.shipment.charge), writer.put_all(out.shipment.lj_type), writer.put_all(out.shipment.global);
            sources.push_back(out.message.receive_from);
        }
        const std::vector<SetupMessage> received = comm_.exchange(setup_messages, sources);
        for (std::size_t m = 0; m < outgoing.size(); ++m)
        {
            ByteReader reader(received[m].bytes);
            Shipment<N> shipment;
            shipment.zone = reader.get_all<std::uint16_t>(), shipment.low = reader.get_all<LowCorner>();
            shipment.x = reader.get_all<typename N::Fixed>(), shipment.charge = reader.get_all<typename N::Real>();
            shipment.lj_type = reader.get_all<std::int32_t>(), shipment.global = reader.get_all<std::int32_t>();
            outgoing[m].message.first = static_cast<std::int32_t>(low_.size());
            outgoing[m].message.count = static_cast<std::int32_t>(shipment.zone.size());
            take_in(shipment);
            plan_.messages.push_back(std::move(outgoing[m].message));
        }
    }

    void take_in(const Shipment<N>& shipment)
    {
        const std::size_t first_slot = low_.size() * cluster_size;
        low_.insert(low_.end(), shipment.low.begin(), shipment.low.end());
        for (const std::uint16_t zone : shipment.zone) { state_.territory.append(zone, 1); }
        state_.x.resize(low_.size() * cluster_size);
        std::copy(shipment.x.begin(), shipment.x.end(), state_.x.values().begin() + static_cast<std::ptrdiff_t>(3 * first_slot));
        state_.charge.insert(state_.charge.end(), shipment.charge.begin(), shipment.charge.end());
        state_.lj_type.insert(state_.lj_type.end(), shipment.lj_type.begin(), shipment.lj_type.end());
        state_.global_of_slot.insert(state_.global_of_slot.end(), shipment.global.begin(), shipment.global.end());
        for (std::size_t i = 0; i < shipment.global.size(); ++i)
        {
            if (shipment.global[i] < 0) { continue; }
            auto& slot = state_.slot_of_global[static_cast<std::size_t>(shipment.global[i])];
            PARHELION_EXPECTS(slot < 0); // no atom is in this rank's slots twice
            slot = static_cast<std::int32_t>(first_slot + i);
        }
    }

    const CellGrid& grid_;
    Communicator& comm_;
    ParticleState<N>& state_;
    const Offset cell_;
    Vec3<double> nm_per_unit_; // nm per 2^-32 box edges, measured between faces of the box
    bool is_tilted_;
    double list_reach_ = 0;       // nm
    Vec3<double> overhang_ahead_; // nm by which atoms may be ahead of their owner's cell
    Vec3<double> reach_;          // nm: list_reach_ plus the distance that atoms may be outside their cell
    std::vector<Offset> offsets_; // indexed by zone
    std::vector<LowCorner> low_;  // indexed by cluster
    HaloPlan plan_;
};

} // namespace

template <class N>
HaloPlan build_halo(CpuQueue& queue, const CellGrid& grid, HaloPattern pattern, double reach, Communicator& comm,
                    std::int64_t step, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Migrate);
    PARHELION_EXPECTS(state.slots() == state.home_slots());
    HaloBuilder<N> builder(grid, pattern, reach, comm, state);
    const Vec3<double> heights = state.box.edges().heights();
    for (int d = 0; d < 3; ++d)
    {
        if (grid.cells[static_cast<std::size_t>(d)] > 1 && !(heights[d] > 2 * builder.reach()[d]))
        {
            throw GridError(step,
                            fmt::format("E505 step {}: the box edge of {:.4f} nm is less than twice the reach of the pair list, "
                                        "{:.4f} nm with what atoms stray from their cells (which of two atoms is ahead would "
                                        "be undecided). Use a grid that does not divide this edge, or fewer ranks.",
                                        step, heights[d], builder.reach()[d]));
        }
    }
    return builder.build();
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template HaloPlan build_halo<N>(CpuQueue&, const CellGrid&, HaloPattern, double, Communicator&, std::int64_t,                \
                                    ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
