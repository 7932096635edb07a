// SPDX-License-Identifier: Apache-2.0
// Everything that a rank on a GPU holds: what step() works on. And the ranks that share a GPU and its queues.
#pragma once

#include "comm/gpu/collectives.hpp"
#include "device/gpu/block_trace.hpp"
#include "device/gpu/branch.hpp"
#include "domain/gpu/travellers_gpu.hpp"
#include "dynamics/gpu/update_gpu.hpp"
#include "dynamics/gpu/virtual_sites_gpu.hpp"
#include "engine/gpu/coupling_gpu.hpp"
#include "engine/gpu/snapshot_gpu.hpp"
#include "engine/schedule.hpp"
#include "halo/gpu/halo_gpu.hpp"
#include "interactions/bonded/gpu/bonded_gpu.hpp"
#include "interactions/field/gpu/acceleration_gpu.hpp"
#include "interactions/field/gpu/electric_field_gpu.hpp"
#include "interactions/pair/gpu/nonbonded_gpu.hpp"
#include "mesh_exchange/gpu/rank_mesh_gpu.hpp"
#include "pairs/buffer.hpp"
#include "pairs/gpu/cluster_order_gpu.hpp"
#include "pairs/gpu/listed_positions_gpu.hpp"
#include "pairs/gpu/pair_list_gpu.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/exchange_buffer.hpp"
#include "state/gpu/particle_state_gpu.hpp"

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
    bool has_cell; // if not, it does the mesh for the others and has no slots: what is of atoms is left out of its step
    GpuBranch queue;
    GpuBranch nonlocal;                  // what waits for other ranks
    GpuBranch bonded_branch;             // what may run beside both
    GpuBranch background;                // what nobody waits for but the update
    GpuBranch mesh_branch;               // a chain of short kernels
    const GpuCollective* sums = nullptr; // of all ranks
    const GpuCollective* buffers_read = nullptr;
    GpuCell cell;
    const ListPlan& list_plan;
    GpuExclusions exclusions;
    GpuAtomTable atoms;
    GpuNonbondedTables<N> nonbonded;
    GpuBonded bonded;
    UniformField field;
    GpuAcceleration acceleration;
    GpuUpdate update;
    GpuVirtualSites sites;                               // that the update does not move
    GpuExchangeBuffer<N> exchange_buffer;                // of this rank
    DeviceBuffer<GpuExchangeBuffer<N>> exchange_buffers; // of all that have a cell, on this node
    std::unique_ptr<GpuTravellers<N>> travellers;        // to and from those on other nodes; null: there are none
    DeviceBuffer<GpuExchangeBuffer<N>> collectors;       // on this node, of the first rank of each process, which keeps the state
    bool collects = false;                               // is this rank one of them?

    // The state a checkpoint keeps.
    GpuState<N> state;
    GpuCoupling<N> coupling;

    // Between one phase and the next.
    std::unique_ptr<GpuHalo<N>> halo;
    std::unique_ptr<GpuRankMesh<N>> mesh; // null: the run has no PME
    std::array<GpuPairList, 2> pairs;     // by PairPart
    GpuListedPositions<N> listed;         // when they were built; kept only where lists must miss nothing
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
struct GpuWithRanks
{
    // The priority is of nonlocal and bonded_branch.
    GpuWithRanks(int device, GpuQueue::Priority priority)
        : queue(device), nonlocal(device, priority), bonded_branch(device, priority), background(device),
          mesh_branch(device, GpuQueue::Priority::First), tracer(queue)
    {
        for (GpuQueue* traced : {&queue, &nonlocal, &bonded_branch, &background, &mesh_branch}) { traced->set_tracer(&tracer); }
    }

    GpuQueue queue, nonlocal, bonded_branch, background, mesh_branch; // the branches of its ranks
    BlockTracer tracer;                                               // of all five
    std::vector<GpuRank<N>> ranks;
    std::array<GpuEvent, 2> earlier_steps; // the ends of the latest that were queued kernel by kernel
    std::size_t queued_steps = 0;          // so
    std::map<IntervalPattern, GpuGraph> graphs;
};

// The GPUs that work is queued on together.
template <class N>
using GpuSpan = std::span<GpuWithRanks<N>* const>;

template <class N, class Body>
void for_each_rank(GpuSpan<N> teams, Body&& body) // body(gpu, rank)
{
    for (GpuWithRanks<N>* const gpu : teams)
    {
        for (GpuRank<N>& rank : gpu->ranks) { body(*gpu, rank); }
    }
}

} // namespace parhelion
