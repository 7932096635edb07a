// SPDX-License-Identifier: Apache-2.0
// Everything a rank on a GPU holds, and the ranks that share a GPU and its queues: what queue_step() works on.
#pragma once

#include "comm/gpu_collectives.hpp"
#include "device/gpu_graph.hpp"
#include "dynamics/update_gpu.hpp"
#include "engine/coupling_gpu.hpp"
#include "engine/snapshot_gpu.hpp"
#include "forces/bonded_gpu.hpp"
#include "forces/nonbonded_gpu.hpp"
#include "halo/gpu_halo.hpp"
#include "pairs/buffer.hpp"
#include "pairs/cluster_order_gpu.hpp"
#include "pairs/pair_list_gpu.hpp"
#include "state/gpu_board.hpp"
#include "state/gpu_cell.hpp"
#include "state/gpu_state.hpp"

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
    GpuBoard<N> board;                 // of this rank
    DeviceBuffer<GpuBoard<N>> boards;  // of all
    std::unique_ptr<GpuHalo<N>> halo;

    // The state a checkpoint keeps.
    GpuState<N> state;
    GpuCoupling<N> coupling;

    // Between one phase and the next.
    GpuPairList home_pairs, halo_pairs;
    TakeScratch<N> scratch;
    GpuSnapshot<N> at_repartition, aside;
};

// The ranks of one GPU. Usually one; more share its queues, in an order in which each send comes before the waits for it.
template <class N>
struct GpuTeam
{
    explicit GpuTeam(int device) : queue(device), side(device), third(device) {}

    GpuQueue queue;
    GpuQueue side;  // what waits for other ranks
    GpuQueue third; // what needs halo positions, beside the pairs that do
    GpuAllReduce* reduction = nullptr; // over all ranks of the run; null: there is one
    std::vector<GpuRank<N>> ranks;
    GpuEvent forked, received, bonded, joined;
    std::map<std::vector<std::uint32_t>, GpuGraph> graphs; // by pattern of flags
};

} // namespace parhelion
