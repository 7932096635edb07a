// SPDX-License-Identifier: Apache-2.0
// Everything a rank on a GPU holds, which is what step() works on; and the ranks that share a GPU and its queues.
#pragma once

#include "comm/gpu_collectives.hpp"
#include "device/block_trace.hpp"
#include "device/gpu_branch.hpp"
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
#include <span>
#include <vector>

namespace parhelion {

template <class N>
struct GpuRank
{
    // Fixed for the run.
    int rank;
    GpuBranch queue;
    GpuBranch nonlocal;                  // what waits for other ranks
    GpuBranch beside;                    // what may run beside both
    GpuBranch background;                // what nobody waits for but the update
    const GpuCollective* sums = nullptr; // of all ranks
    const GpuCollective* taken = nullptr;
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
    GpuEvent returning; // the kernel that sends forces has begun, where the update begins beside it
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
    // The priority is of nonlocal and beside.
    GpuTeam(int device, GpuQueue::Priority priority)
        : queue(device), nonlocal(device, priority), beside(device, priority), background(device), tracer(queue)
    {
        for (GpuQueue* traced : {&queue, &nonlocal, &beside, &background}) { traced->set_tracer(&tracer); }
    }

    GpuQueue queue, nonlocal, beside, background; // the branches of its ranks
    BlockTracer tracer;                           // of all four
    std::vector<GpuRank<N>> ranks;
    std::array<GpuEvent, 2> earlier_steps; // the ends of the latest that were queued kernel by kernel
    std::size_t queued_steps = 0;          // so
    std::map<IntervalPattern, GpuGraph> graphs;
};

// The GPUs that work is queued on together.
template <class N>
using GpuTeams = std::span<GpuTeam<N>* const>;

template <class N, class Body>
void for_each_rank(GpuTeams<N> teams, Body&& body) // body(team, rank)
{
    for (GpuTeam<N>* const team : teams)
    {
        for (GpuRank<N>& rank : team->ranks) { body(*team, rank); }
    }
}

} // namespace parhelion
