// SPDX-License-Identifier: Apache-2.0
// Everything the rank of a GPU holds: its atoms, what acts on them, and the state of the coupling. What queue_step() works on.
#pragma once

#include "device/gpu_graph.hpp"
#include "dynamics/update_gpu.hpp"
#include "engine/coupling_gpu.hpp"
#include "engine/snapshot_gpu.hpp"
#include "forces/bonded_gpu.hpp"
#include "forces/nonbonded_gpu.hpp"
#include "pairs/buffer.hpp"
#include "pairs/cluster_order_gpu.hpp"
#include "pairs/pair_list_gpu.hpp"
#include "state/gpu_cell.hpp"
#include "state/gpu_state.hpp"

namespace parhelion {

template <class N>
struct GpuRank
{
    // Fixed for the run.
    GpuQueue& queue;
    GpuQueue& side; // for what may run beside the pair forces
    GpuCell cell;
    ListPlan list_plan;
    GpuExclusions exclusions;
    GpuNonbondedTables<N> nonbonded;
    GpuBonded bonded;
    GpuUpdate update;

    // The state a checkpoint keeps.
    GpuState<N> state;
    GpuCoupling<N> coupling;

    // Between one phase and the next.
    GpuPairList pairs;
    ReorderScratch<N> reorder_scratch;
    GpuEvent forked, joined;
};

} // namespace parhelion
