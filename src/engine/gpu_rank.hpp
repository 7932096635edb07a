// SPDX-License-Identifier: Apache-2.0
// Everything a rank on a GPU holds, and the ranks that share a GPU and its queues: what queue_step() works on.
#pragma once

#include "comm/gpu_collectives.hpp"
#include "device/block_trace.hpp"
#include "device/gpu_graph.hpp"
#include "dynamics/update_gpu.hpp"
#include "engine/coupling_gpu.hpp"
#include "engine/schedule.hpp"
#include "engine/snapshot_gpu.hpp"
#include "forces/bonded_gpu.hpp"
#include "forces/nonbonded_gpu.hpp"
#include "halo/gpu_halo.hpp"
#include "pairs/buffer.hpp"
#include "pairs/cluster_order_gpu.hpp"
#include "pairs/listed_positions_gpu.hpp"
#include "pairs/pair_list_gpu.hpp"
#include "state/gpu_board.hpp"
#include "state/gpu_cell.hpp"
#include "state/gpu_state.hpp"

#include <array>
#include <map>
#include <memory>
#include <vector>

namespace parhelion {

template <class N>
struct GpuRank
{
    // Fixed for the run.
    int rank;
    GpuCell cell;
    const ListPlan& list_plan;
    GpuExclusions exclusions;
    GpuAtomTable atoms;
    GpuNonbondedTables<N> nonbonded;
    GpuBonded bonded;
    GpuUpdate update;
    GpuBoard<N> board;                // of this rank
    DeviceBuffer<GpuBoard<N>> boards; // of all

    // The state a checkpoint keeps.
    GpuState<N> state;
    GpuCoupling<N> coupling;

    // Between one phase and the next.
    std::unique_ptr<GpuHalo<N>> halo;
    std::array<GpuPairList, 2> pairs; // by PairPart
    GpuListedPositions<N> listed;     // when they were built; kept only where lists must miss nothing
    TakeScratch scratch;
};

// All that decides which kernels a list interval, or a part of one, queues.
struct IntervalPattern
{
    std::int64_t list_age = 0; // at the first step
    bool is_traced = false;
    std::vector<StepPattern> steps;

    auto operator<=>(const IntervalPattern&) const = default;
};

// The ranks of one GPU: usually one. More share its queues.
template <class N>
struct GpuTeam
{
    // The priority is of side and third.
    GpuTeam(int device, GpuQueue::Priority priority)
        : queue(device), side(device, priority), third(device, priority), fill(device), tracer(queue)
    {
        for (GpuQueue* traced : {&queue, &side, &third, &fill}) { traced->set_tracer(&tracer); }
    }

    GpuQueue queue;
    GpuQueue side;                       // what waits for other ranks
    GpuQueue third;                      // what may run beside both
    GpuQueue fill;                       // what nobody waits for but the update
    BlockTracer tracer;                  // of all four
    const GpuCollective* sums = nullptr; // of all ranks
    const GpuCollective* taken = nullptr;
    std::vector<GpuRank<N>> ranks;
    GpuEvent forked, received, bonded, filled, joined, returning{EventFor::Queues};
    std::array<GpuEvent, 2> earlier_steps; // the ends of the latest that were queued kernel by kernel
    std::size_t queued_steps = 0;          // so
    std::map<IntervalPattern, GpuGraph> graphs;
};

} // namespace parhelion
