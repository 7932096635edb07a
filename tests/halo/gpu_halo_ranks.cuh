// SPDX-License-Identifier: Apache-2.0
// GpuHalo alone, on made-up atoms whose zones have any number of them: kernels check every position and force.
//
// Ranks on the same GPU share a queue, as those of the engine do, or have one each, as if they had a GPU each: then their kernels
// run beside each other and have to wait for one another.
//
// The zones' atoms come from all ranks: every rank owns atoms in an order of its own, of which a zone holds as many as wished,
// from the first. Staged exchanges bring a zone from the neighbour's copy of it, so no zone has more than that.
#pragma once

#include "comm/gpu/collectives.hpp"
#include "comm/launch/run_ranks.hpp"
#include "device/gpu/graph.hpp"
#include "device/gpu/launch.cuh"
#include "halo/gpu/halo_gpu.hpp"
#include "halo/gpu/no_halo.hpp"
#include "halo/gpu_halo_checks.cuh"
#include "support/number_in.hpp"
#include "support/stall.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <ostream>
#include <random>
#include <string>

namespace parhelion::test {

enum class Queues : std::uint8_t
{
    OfGpus, // shared by the ranks of a GPU
    OfRanks
};

struct HaloLayout
{
    std::array<int, 3> grid, pulses;
    int gpus;
    Queues queues;
    int nodes = 1; // virtual ones

    int ranks() const { return grid[0] * grid[1] * grid[2]; }
    std::vector<int> devices() const
    {
        std::vector<int> of_rank;
        for (int r = 0; r < ranks(); ++r) { of_rank.push_back(r * gpus / ranks()); }
        return of_rank;
    }
};

inline std::string name_of(const HaloLayout& layout)
{
    std::string name;
    for (const int cells : layout.grid) { name += std::to_string(cells) + "_"; }
    name += "on_" + std::to_string(layout.gpus) + (layout.queues == Queues::OfRanks ? "_side_by_side" : "");
    return layout.nodes > 1 ? name + "_" + std::to_string(layout.nodes) + "_nodes" : name;
}
inline void PrintTo(const HaloLayout& layout, std::ostream* os) { *os << name_of(layout); }

inline GpuCell cell_of(const HaloLayout& layout, int rank)
{
    GpuCell cell;
    for (int d = 2; d >= 0; --d)
    {
        const auto at = static_cast<std::size_t>(d);
        cell.cells[d] = layout.grid[at], cell.pulses[d] = layout.pulses[at];
        cell.cell[d] = rank % layout.grid[at];
        rank /= layout.grid[at];
    }
    return cell;
}

// The rank `steps` cells ahead.
inline int rank_ahead(const GpuCell& cell, const std::array<int, 3>& steps)
{
    int rank = 0;
    for (int d = 0; d < 3; ++d)
    {
        rank = rank * cell.cells[d] + (cell.cell[d] + steps[static_cast<std::size_t>(d)]) % cell.cells[d];
    }
    return rank;
}

// How many atoms each zone of each rank shall have; [0]: home, of which there will be more.
using ZoneSizes = std::vector<std::vector<int>>;

// wish(rank, zone), as far as neighbours have as many.
template <class Wish>
ZoneSizes zone_sizes(const HaloLayout& layout, Wish&& wish)
{
    ZoneSizes sizes;
    for (int rank = 0; rank < layout.ranks(); ++rank)
    {
        std::vector<int>& of_rank = sizes.emplace_back();
        for (int zone = 0; zone < cell_of(layout, rank).zones(); ++zone) { of_rank.push_back(zone == 0 ? 0 : wish(rank, zone)); }
    }
    // Who a zone comes from has it nearer by one cell, hence in a zone with a lower number.
    for (int zone = 1; zone < cell_of(layout, 0).zones(); ++zone)
    {
        for (int rank = 0; rank < layout.ranks(); ++rank)
        {
            const GpuCell cell = cell_of(layout, rank);
            std::array<int, 3> offset{cell.offset_of(zone, 0), cell.offset_of(zone, 1), cell.offset_of(zone, 2)}, step{};
            const std::size_t d = offset[0] != 0 ? 0 : offset[1] != 0 ? 1 : 2;
            step[d] = 1, --offset[d];
            const int nearer = cell.zone_at(offset[0], offset[1], offset[2]);
            auto& here = sizes[static_cast<std::size_t>(rank)][static_cast<std::size_t>(zone)];
            auto& there = sizes[static_cast<std::size_t>(rank_ahead(cell, step))];
            if (nearer == 0) { there[0] = std::max(there[0], here); }
            else { here = std::min(here, there[static_cast<std::size_t>(nearer)]); }
        }
    }
    for (auto& of_rank : sizes) { of_rank[0] += 37; }
    return sizes;
}

struct HaloErrors
{
    unsigned long long positions = 0, forces = 0, not_cleared = 0;
    friend bool operator==(const HaloErrors&, const HaloErrors&) = default;
};
inline void PrintTo(const HaloErrors& e, std::ostream* os)
{
    *os << e.positions << " wrong positions, " << e.forces << " wrong forces, " << e.not_cleared << " forces left behind";
}

// A search among mutants of the protocol wants to know of a deadlock soon.
inline GpuWorldOptions usual_options()
{
    GpuWorldOptions options;
    options.deadline = std::chrono::seconds(number_in("PARHELION_TEST_DEADLINE", 20));
    options.tag_name = "step";
    return options;
}

template <class N>
class GpuHaloRanks
{
public:
    GpuHaloRanks(const HaloLayout& layout, HaloMethod method, const std::vector<ZoneSizes>& partitions,
                 GpuWorldOptions options = usual_options())
        : layout_(layout), partitions_(partitions.size())
    {
        std::vector<GpuCell> cells;
        for (int rank = 0; rank < layout.ranks(); ++rank) { cells.push_back(cell_of(layout, rank)); }
        std::vector<Partition> dealt;
        std::size_t capacity = supercluster_size;
        for (const ZoneSizes& sizes : partitions)
        {
            dealt.push_back(deal_out(sizes, dealt.size()));
            for (const Zones& z : dealt.back().of_rank) { capacity = std::max(capacity, z.global_of_slot.size()); }
        }
        options.payload_bytes = (std::size_t{1} << 20) + gpu_halo_bytes<N>(method, cells[0], capacity);
        if (layout.nodes > 1) // what is relayed is at the source, too
        {
            NicEmulation nodes;
            nodes.nodes = layout.nodes, nodes.ranks_per_node = layout.ranks() / layout.nodes;
            options.nodes = nodes;
            options.payload_bytes *= 2;
        }
        world_ = std::make_unique<GpuWorld>(layout.devices(), options);
        repartitioned_ = std::make_unique<GpuCollective>(*world_, "repartition", 0);
        const bool shares_gpus = layout.queues == Queues::OfGpus && world_->ranks_share_gpus();
        memory_ = make_gpu_halo_memory<N>(*world_, method, cells, capacity, shares_gpus);
        make_lanes();
        for (int rank = 0; rank < layout.ranks(); ++rank) { add_rank(rank, cells[static_cast<std::size_t>(rank)], dealt); }
        for (const auto& lane : lanes_) { tell_checks(*lane, partitions.size()); }
    }

    // As often: so many steps after each of as many repartitions as were given. A step is two exchanges: positions there, forces
    // back; but the first after a repartition, with which positions come, is one. Waits.
    void run(int steps, int times)
    {
        for (const auto& lane : lanes_)
        {
            if (!is_captured_) { break; }
            lane->queue.make_current();
            lane->graph = std::make_unique<GpuGraph>(lane->queue, [&] {
                for (std::size_t p = 0; p < partitions_; ++p) { queue_steps(Lanes(&lane, 1), p, steps); }
            });
        }
        for (int k = 0; k < times; ++k)
        {
            for (const auto& lane : lanes_)
            {
                if (occupied_ns_ > 0) { occupy(*lane, k); }
                if (is_captured_) { lane->graph->replay(lane->queue); }
            }
            for (std::size_t p = 0; !is_captured_ && p < partitions_; ++p) { queue_by_the_host(p, steps); }
            is_loaded_ = true;
        }
        for (const auto& lane : lanes_) { lane->queue.synchronize(); }
    }
    // Kernels that leave no room for others run beside the exchange, each block for up to so long.
    void occupy_gpus_for(std::chrono::nanoseconds longest) { occupied_ns_ = longest.count(); }
    // From here on `rank` no longer sends: positions, or forces.
    enum class Silence : std::uint8_t
    {
        None,
        Positions,
        Forces
    };
    void silence(int rank, Silence silence) { silent_ = rank, silence_ = silence; }
    // Direct: from here on a kernel that moves atoms takes part in the exchange (GpuHalo::update_task).
    void let_moves_exchange() { moves_exchange_ = true; }
    // And it begins before the forces have been sent. Of ranks that have a queue each.
    void let_moves_begin_early() { moves_exchange_ = moves_begin_early_ = true; }
    // What is queued for `rank` from here on begins after so long.
    void stall(int rank, std::chrono::nanoseconds time)
    {
        test::stall(lane_of_rank_[static_cast<std::size_t>(rank)]->queue, time);
    }

    bool is_captured() const { return is_captured_; } // else the host takes part
    // Waits.
    HaloErrors errors()
    {
        HaloErrors sum;
        for (const auto& lane : lanes_)
        {
            const std::vector<unsigned long long> e = lane->errors.to_vector(lane->queue);
            sum.positions += e[0], sum.forces += e[1], sum.not_cleared += e[2];
        }
        return sum;
    }
    GpuWorld& world() { return *world_; }

private:
    // The slots of a rank after a repartition.
    struct Zones
    {
        std::vector<std::int32_t> global_of_slot, first_supercluster;
        std::size_t home_slots = 0;
    };
    struct Partition
    {
        std::vector<Zones> of_rank;
        std::vector<std::uint32_t> holders;
    };
    struct OfPartition
    {
        GpuState<N> state;
        DeviceBuffer<std::uint32_t> holders;
        std::int32_t home_slots;
    };
    struct Rank
    {
        int rank = 0;
        std::unique_ptr<GpuHalo<N>> halo;
        DeviceBuffer<std::int64_t> step;
        unsigned long long* errors = nullptr; // of its lane
        std::vector<OfPartition> partitions;
    };
    // Holds what shares a queue.
    struct Lane
    {
        explicit Lane(int device) : queue(device), filler(device), side(device, GpuQueue::Priority::First) {}

        std::vector<Rank> ranks;
        DeviceBuffer<unsigned long long> errors;
        std::vector<DeviceBuffer<CheckedRank<N>>> checked; // by partition
        std::unique_ptr<GpuGraph> graph;
        GpuQueue queue, filler, side; // end before the memory they use goes
        GpuEvent forked, returning{EventFor::Queues}, sent;
    };
    using Lanes = std::span<const std::unique_ptr<Lane>>;

    // Atoms, in a random order, and fillers among them.
    static void append_zone(const std::vector<std::int32_t>& atoms, std::mt19937& engine, Zones& zones)
    {
        zones.first_supercluster.push_back(static_cast<std::int32_t>(zones.global_of_slot.size() / supercluster_size));
        std::vector<std::int32_t> slots = atoms;
        const std::size_t most = atoms.size() + atoms.size() / 8 + engine() % 2; // now and then a zone of fillers
        slots.resize((most + supercluster_size - 1) / supercluster_size * supercluster_size, -1);
        std::shuffle(slots.begin(), slots.end(), engine);
        zones.global_of_slot.insert(zones.global_of_slot.end(), slots.begin(), slots.end());
    }

    Partition deal_out(const ZoneSizes& sizes, std::size_t seed) const
    {
        std::mt19937 engine(static_cast<unsigned>(seed));
        std::vector<std::vector<std::int32_t>> atoms_of_rank;
        Partition partition;
        for (const std::vector<int>& of_rank : sizes)
        {
            std::vector<std::int32_t>& atoms = atoms_of_rank.emplace_back(static_cast<std::size_t>(of_rank[0]));
            std::iota(atoms.begin(), atoms.end(), static_cast<std::int32_t>(partition.holders.size()));
            std::shuffle(atoms.begin(), atoms.end(), engine);
            partition.holders.resize(partition.holders.size() + atoms.size());
        }
        for (int rank = 0; rank < layout_.ranks(); ++rank)
        {
            const GpuCell cell = cell_of(layout_, rank);
            Zones& zones = partition.of_rank.emplace_back();
            for (int zone = 0; zone < cell.zones(); ++zone)
            {
                const int owner = rank_ahead(cell, {cell.offset_of(zone, 0), cell.offset_of(zone, 1), cell.offset_of(zone, 2)});
                const std::vector<std::int32_t>& all = atoms_of_rank[static_cast<std::size_t>(owner)];
                const int count = sizes[static_cast<std::size_t>(rank)][static_cast<std::size_t>(zone)];
                const std::vector<std::int32_t> atoms(all.begin(), all.begin() + count);
                append_zone(atoms, engine, zones);
                if (zone == 0) { zones.home_slots = zones.global_of_slot.size(); }
                else
                {
                    for (const std::int32_t atom : atoms) { partition.holders[static_cast<std::size_t>(atom)] |= 1u << rank; }
                }
            }
            zones.first_supercluster.push_back(static_cast<std::int32_t>(zones.global_of_slot.size() / supercluster_size));
        }
        return partition;
    }

    static GpuColumns one_column_a_zone(const GpuCell& cell)
    {
        GpuColumns columns;
        columns.count = cell.zones();
        for (int d = 0; d < 2; ++d)
        {
            std::iota(columns.strips[d].first, columns.strips[d].first + GpuStrips::most_offsets + 1, 0);
        }
        return columns;
    }

    static GpuState<N> make_state(GpuQueue& queue, const GpuCell& cell, const Zones& zones, std::size_t globals)
    {
        GpuState<N> state;
        const std::size_t n = zones.global_of_slot.size();
        std::vector<std::int32_t> slot_of_global(globals, -1);
        for (std::size_t slot = 0; slot < n; ++slot)
        {
            const std::int32_t atom = zones.global_of_slot[slot];
            if (atom >= 0) { slot_of_global[static_cast<std::size_t>(atom)] = static_cast<std::int32_t>(slot); }
        }
        state.atoms = state.slots = n;
        state.columns = one_column_a_zone(cell);
        state.xq.resize(n), state.f.resize(n), state.scalars.resize(1);
        state.f.clear(queue), state.scalars.clear(queue);
        state.global_of_slot.upload(queue, zones.global_of_slot);
        state.slot_of_global.upload(queue, slot_of_global);
        state.first_supercluster.upload(queue, zones.first_supercluster);
        launch(queue, Phase::Output, fill_kernel<PositionCharge<N>>, one_thread_each(n, check_threads), state.xq.data(),
               static_cast<std::int32_t>(n), no_position_on_host());
        queue.synchronize();
        return state;
    }
    static PositionCharge<N> no_position_on_host()
    {
        using Fixed = typename N::Fixed;
        return {static_cast<Fixed>(~Fixed{0}), static_cast<Fixed>(~Fixed{0}), static_cast<Fixed>(~Fixed{0}),
                typename N::Real{-1}};
    }

    void make_lanes()
    {
        const std::vector<int> devices = layout_.devices();
        for (int rank = 0; rank < layout_.ranks(); ++rank)
        {
            const int device = devices[static_cast<std::size_t>(rank)];
            const bool has_lane = !lanes_.empty() && lanes_.back()->queue.device() == device && layout_.queues == Queues::OfGpus;
            if (!has_lane) { lanes_.push_back(std::make_unique<Lane>(device)); }
            lane_of_rank_.push_back(lanes_.back().get());
        }
    }

    void add_rank(int rank, const GpuCell& cell, const std::vector<Partition>& partitions)
    {
        Lane& lane = *lane_of_rank_[static_cast<std::size_t>(rank)];
        lane.queue.make_current();
        Rank& r = lane.ranks.emplace_back();
        r.rank = rank;
        r.halo = make_gpu_halo<N>(lane.queue, memory_, rank);
        is_captured_ = r.halo->may_be_captured();
        lane.queue.make_current();
        r.step.resize(1);
        r.step.clear(lane.queue);
        for (const Partition& p : partitions)
        {
            const Zones& zones = p.of_rank[static_cast<std::size_t>(rank)];
            OfPartition& of = r.partitions.emplace_back();
            of.state = make_state(lane.queue, cell, zones, p.holders.size());
            of.holders.upload(lane.queue, p.holders);
            of.home_slots = static_cast<std::int32_t>(zones.home_slots);
        }
        lane.queue.synchronize();
    }

    static CheckedRank<N> checked(Rank& r, std::size_t partition)
    {
        OfPartition& of = r.partitions[partition];
        return {of.state.xq.data(),
                of.state.f.data(),
                of.state.global_of_slot.data(),
                of.holders.data(),
                static_cast<std::int32_t>(of.state.slots),
                of.home_slots,
                r.rank,
                r.step.data(),
                r.errors};
    }

    void tell_checks(Lane& lane, std::size_t partitions)
    {
        lane.queue.make_current();
        lane.errors.resize(3);
        lane.errors.clear(lane.queue);
        for (Rank& r : lane.ranks) { r.errors = lane.errors.data(); }
        for (std::size_t p = 0; p < partitions; ++p)
        {
            std::vector<CheckedRank<N>> of_lane;
            for (Rank& r : lane.ranks) { of_lane.push_back(checked(r, p)); }
            lane.checked.emplace_back().upload(lane.queue, of_lane);
            lane.queue.synchronize();
        }
    }

    template <class Body>
    static void for_each_rank(Lanes lanes, Body&& body) // body(queue, rank)
    {
        for (const auto& lane : lanes)
        {
            for (Rank& r : lane->ranks) { body(lane->queue, r); }
        }
    }
    template <class Kernel, class... More>
    static void launch_for_ranks(Lanes lanes, std::size_t partition, Kernel kernel, const More&... more)
    {
        for (const auto& lane : lanes)
        {
            LaunchShape shape{check_blocks, check_threads};
            shape.blocks_y = static_cast<int>(lane->ranks.size());
            launch(lane->queue, Phase::Output, kernel, shape, lane->checked[partition].data(), more...);
        }
    }
    // Longer where the host takes part, which is slow itself.
    void pause(Lanes lanes, std::size_t partition, int place, bool is_new_step)
    {
        for (const auto& lane : lanes)
        {
            launch(lane->queue, Phase::Output, pause_kernel<N>, {static_cast<int>(lane->ranks.size()), 1},
                   lane->checked[partition].data(), place, is_new_step, is_captured_ ? 1 : 50);
        }
    }
    bool is_silent(const Rank& r, Silence about) const { return r.rank == silent_ && silence_ == about; }

    // Once all kernels are loaded, for which the host may have to wait, by a thread for each lane; threads meet before a
    // repartition.
    void queue_by_the_host(std::size_t p, int steps)
    {
        if (!is_loaded_)
        {
            queue_steps(lanes_, p, steps);
            return;
        }
        run_ranks(
            RankRange{0, static_cast<int>(lanes_.size())},
            [&](int lane) { queue_steps(Lanes(lanes_).subspan(static_cast<std::size_t>(lane), 1), p, steps); },
            [&](int) { world_->give_up(); });
    }
    void queue_steps(Lanes lanes, std::size_t p, int steps)
    {
        pause(lanes, p, 3, false);
        for_each_rank(lanes, [&](GpuQueue& q, Rank& r) { barrier_arrive(q, *repartitioned_, r.rank); });
        for_each_rank(lanes, [&](GpuQueue& q, Rank& r) { barrier_wait(q, *repartitioned_, r.rank); });
        for_each_rank(lanes, [&](GpuQueue& q, Rank& r) { r.halo->request_atoms(q, r.partitions[p].state); });
        for_each_rank(lanes, [&](GpuQueue& q, Rank& r) { r.halo->build_send_lists(q, r.partitions[p].state); });
        for (int step = 0; step < steps; ++step) { queue_step(lanes, p, step == 0, step == steps - 1); }
    }
    void queue_step(Lanes lanes, std::size_t p, bool is_first, bool is_last)
    {
        pause(lanes, p, 0, true);
        if (is_first || !moves_exchange_) { launch_for_ranks(lanes, p, set_atoms_kernel<N>, is_first); }
        pause(lanes, p, 1, false);
        if (!is_first && moves_exchange_)
        {
            for_each_rank(lanes, [&](GpuQueue& q, Rank& r) { r.halo->await_update(q, r.partitions[p].state); });
        }
        else if (!is_first)
        {
            exchange(lanes, Silence::Positions,
                     [&](GpuQueue& q, Rank& r, GpuHalo<N>& halo) { return halo.exchange_x(q, r.partitions[p].state); });
        }
        launch_for_ranks(lanes, p, check_halo_kernel<N>);
        pause(lanes, p, 2, false);
        if (moves_begin_early_) { send_f_on_the_side(lanes, p); }
        else if (moves_exchange_)
        {
            for_each_rank(lanes, [&](GpuQueue& q, Rank& r) {
                if (!is_silent(r, Silence::Forces)) { r.halo->send_f_to_update(q, r.partitions[p].state, nullptr); }
            });
        }
        else
        {
            exchange(lanes, Silence::Forces,
                     [&](GpuQueue& q, Rank& r, GpuHalo<N>& halo) { return halo.return_f(q, r.partitions[p].state); });
        }
        if (!moves_exchange_) { launch_for_ranks(lanes, p, check_forces_kernel<N>); }
        else
        {
            for_each_rank(lanes, [&](GpuQueue& q, Rank& r) {
                launch(q, Phase::Output, move_kernel<N>, {move_blocks, check_threads}, checked(r, p),
                       r.halo->update_task(true, !is_last));
            });
            for (const auto& lane : lanes)
            {
                if (!moves_begin_early_) { break; }
                lane->sent.record(lane->side);
                wait_for(lane->queue, lane->sent);
            }
            launch_for_ranks(lanes, p, check_cleared_kernel<N>);
        }
    }
    // program(queue, rank, halo) of all ranks in turns. A rank that is silent about this takes no part in it.
    template <class Program>
    void exchange(Lanes lanes, Silence about, Program&& program)
    {
        NoHalo<N> silent(lanes[0]->ranks[0].halo.get());
        std::vector<RankProgram> programs;
        for_each_rank(lanes, [&](GpuQueue& q, Rank& r) {
            programs.push_back(program(q, r, is_silent(r, about) ? static_cast<GpuHalo<N>&>(silent) : *r.halo));
        });
        run_together(programs);
    }
    void send_f_on_the_side(Lanes lanes, std::size_t p)
    {
        for (const auto& lane : lanes)
        {
            PARHELION_EXPECTS(lane->ranks.size() == 1);
            Rank& r = lane->ranks[0];
            lane->forked.record(lane->queue);
            wait_for(lane->side, lane->forked);
            if (is_silent(r, Silence::Forces)) { continue; }
            r.halo->send_f_to_update(lane->side, r.partitions[p].state, &lane->returning);
            wait_for(lane->queue, lane->returning);
        }
    }

    // Kernels with a block for each multiprocessor, which takes all its shared memory.
    void occupy(Lane& lane, int seed)
    {
        lane.filler.make_current();
        int bytes = 0;
        gpu_check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, lane.queue.device()), "attribute");
        gpu_check(cudaFuncSetAttribute(occupy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "attribute");
        LaunchShape shape{lane.queue.multiprocessors(), 1024};
        shape.shared_bytes = static_cast<std::size_t>(bytes);
        for (int k = 0; k < 16; ++k)
        {
            launch(lane.filler, Phase::Output, occupy_kernel, shape, occupied_ns_, static_cast<std::uint64_t>(16 * seed + k));
        }
    }

    const HaloLayout layout_;
    bool is_captured_ = true;
    bool is_loaded_ = false; // every kernel
    const std::size_t partitions_;
    std::unique_ptr<GpuWorld> world_;
    std::unique_ptr<GpuCollective> repartitioned_;
    GpuHaloMemory memory_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<Lane*> lane_of_rank_;
    std::int64_t occupied_ns_ = 0;
    bool moves_exchange_ = false, moves_begin_early_ = false;
    int silent_ = -1;
    Silence silence_ = Silence::None;
};

} // namespace parhelion::test
