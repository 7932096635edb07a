// SPDX-License-Identifier: Apache-2.0
// The data of a rank on a GPU, on which step() works, and the data that the ranks of one GPU share, such as its queues.
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
    // The following members are fixed for the run.
    int rank;
    bool has_cell; // false: a mesh rank, which has no slots, and whose step leaves out all work on atoms
    GpuBranch queue;
    GpuBranch nonlocal;                  // branch of work that waits for other ranks
    GpuBranch bonded_branch;             // branch of work that may run beside the main and the nonlocal branch
    GpuBranch background;                // branch of work for which only the update waits
    GpuBranch mesh_branch;               // branch of the mesh, a chain of short kernels
    const GpuCollective* sums = nullptr; // sums over all ranks
    const GpuCollective* buffers_read = nullptr;
    GpuCell cell;
    const ListPlan& list_plan;
    bool checks_lists; // whether each evaluation of forces checks that no atom has moved by more than half of the lists' buffer
    GpuExclusions exclusions;
    GpuAtomTable atoms;
    GpuNonbondedTables<N> nonbonded;
    GpuBonded bonded;
    UniformField field;
    GpuAcceleration acceleration;
    GpuUpdate update;
    GpuVirtualSites sites;                               // sites that the update does not move
    GpuExchangeBuffer<N> exchange_buffer;                // the exchange buffer of this rank
    DeviceBuffer<GpuExchangeBuffer<N>> exchange_buffers; // the exchange buffers of all ranks of this node that have a cell
    std::unique_ptr<GpuTravellers<N>> travellers;        // exchange of atoms with other nodes; null: one node
    DeviceBuffer<GpuExchangeBuffer<N>> collectors;       // exchange buffers of ranks of this node that keep a process's state
    bool collects = false;                               // true if this rank keeps its process's state

    // The state that a checkpoint stores.
    GpuState<N> state;
    GpuCoupling<N> coupling;

    // Data that one phase passes to the next.
    std::unique_ptr<GpuHalo<N>> halo;
    std::unique_ptr<GpuRankMesh<N>> mesh; // null: the run has no PME
    std::array<GpuPairList, 2> pairs;     // indexed by PairPart
    GpuListedPositions<N> listed;         // positions when the lists were built; kept only if checks_lists
    TakeScratch scratch;
    DeviceBuffer<VelocityMass<N>> half_step; // velocity Verlet: v(t - dt/2) while state.v has v(t)
    GpuEvent returning; // passes when the kernel that sends forces has begun; unused if the update begins later
};

// The data that decide which kernels a list interval, or a part of one, queues. Equal patterns have the same graph.
struct IntervalPattern
{
    std::int64_t list_age = 0; // steps from the building of the list to the first step
    bool is_traced = false;
    std::vector<StepPattern> steps;

    auto operator<=>(const IntervalPattern&) const = default;
};

// The ranks of one GPU, usually one. Several ranks share its queues.
template <class N>
struct GpuWithRanks
{
    // `priority` is the priority of the branches nonlocal and bonded_branch.
    GpuWithRanks(int device, GpuQueue::Priority priority)
        : queue(device), nonlocal(device, priority), bonded_branch(device, priority), background(device),
          mesh_branch(device, GpuQueue::Priority::First), tracer(queue)
    {
        for (GpuQueue* traced : {&queue, &nonlocal, &bonded_branch, &background, &mesh_branch}) { traced->set_tracer(&tracer); }
    }

    GpuQueue queue, nonlocal, bonded_branch, background, mesh_branch; // the branches of the ranks of this GPU
    BlockTracer tracer;                                               // records the blocks of all five queues
    std::vector<GpuRank<N>> ranks;
    std::array<GpuEvent, 2> earlier_steps; // events at the ends of the two latest steps that were queued without a graph
    std::size_t queued_steps = 0;          // number of steps queued without a graph
    std::map<IntervalPattern, GpuGraph> graphs;
};

// The GPUs on which work is queued together.
template <class N>
using GpuSpan = std::span<GpuWithRanks<N>* const>;

template <class N, class Body>
void for_each_rank(GpuSpan<N> teams, Body&& body) // calls body(gpu, rank)
{
    for (GpuWithRanks<N>* const gpu : teams)
    {
        for (GpuRank<N>& rank : gpu->ranks) { body(*gpu, rank); }
    }
}

} // namespace parhelion
