// SPDX-License-Identifier: Apache-2.0
// The exchanges of a rank on a GPU with other ranks: sums, atoms, halos, the mesh. Each
// exchange is a program (rank_program.hpp) with a pause between its sends and its waits.
#pragma once

#include "device/rank_program.hpp"
#include "engine/gpu/flags_gpu.hpp"
#include "engine/gpu/rank_gpu.hpp"
#include "engine/gpu/snapshot_gpu.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace parhelion {

// Adds `values`, in device memory, up over all ranks of the run.
template <class N, class T>
RankProgram add_up(GpuRank<N>& r, std::span<T> values)
{
    const int n = static_cast<int>(values.size());
    const bool alone = co_await is_alone; // evaluated outside of the condition: g++ 12 else corrupts the coroutine frame
    if (alone)
    {
        all_reduce(r.queue, *r.sums, r.rank, values.data(), n);
        co_return;
    }
    all_reduce_send(r.queue, *r.sums, r.rank, values.data(), n);
    co_await all_are_here;
    all_reduce_receive(r.queue, *r.sums, r.rank, values.data(), n);
}

template <class N>
std::span<ScalarSum<N>> energy_sums(GpuState<N>& state)
{
    static_assert(sizeof(EnergySums<N>) % sizeof(ScalarSum<N>) == 0);
    return {reinterpret_cast<ScalarSum<N>*>(state.energies.data()), sizeof(EnergySums<N>) / sizeof(ScalarSum<N>)};
}

// Combines the flags of all ranks on every rank. A flag is also raised if no rank computes a bonded term. The
// exchange is a barrier as well: what a rank stores in another rank's memory before it is visible after it.
template <class N>
RankProgram agree_on_flags(GpuRank<N>& r)
{
    static_assert(offsetof(DeviceScalars, missing_terms) == offsetof(DeviceScalars, flags) + offsetof(FlagsAndBalance, balance));
    static_assert(gpu_flag_missing_terms == FlagsAndBalance::unbalanced);
    return add_up(r, std::span(reinterpret_cast<FlagsAndBalance*>(&r.state.scalars.data()->flags), 1));
}

// Fills every exchange buffer with the atoms that its rank needs, unless a flag is raised. Then call release_exchange_buffers().
template <class N>
RankProgram publish(GpuRank<N>& r)
{
    if (r.has_cell && r.cell.is_everything()) { collect_atoms(r.queue, r.state, r.exchange_buffers); }
    else if (r.has_cell) { publish_atoms(r.queue, r.state, r.atoms, r.exchange_buffers); }
    if (r.travellers) { r.travellers->send(r.queue, r.state, r.atoms, GpuTravellers<N>::To::WhoNeedsThem); }
    co_await agree_on_flags(r);
    if (r.travellers) { r.travellers->receive(r.queue, r.exchange_buffer); }
}
// Fills the exchange buffers of the collectors with all atoms, unless a flag is raised. Then call release_exchange_buffers().
template <class N>
RankProgram collect(GpuRank<N>& r)
{
    if (r.has_cell) { collect_atoms(r.queue, r.state, r.collectors); }
    if (r.travellers) { r.travellers->send(r.queue, r.state, r.atoms, GpuTravellers<N>::To::Collectors); }
    co_await agree_on_flags(r);
    if (r.travellers) { r.travellers->receive(r.queue, r.exchange_buffer); }
}
// Allows all ranks to write exchange buffers again, once the work queued before on `queue` has read them on all ranks.
template <class N>
RankProgram release_exchange_buffers(GpuRank<N>& r, GpuQueue& queue)
{
    barrier_arrive(queue, *r.buffers_read, r.rank);
    co_await all_are_here;
    barrier_wait(queue, *r.buffers_read, r.rank);
}

// Computes mesh forces (M) in a run with PME, on the mesh branch. This branch must wait for the positions of the mesh's atoms.
template <class N>
RankProgram compute_mesh(GpuRank<N>& r, Compute compute, MeshWeights weights)
{
    return r.mesh->compute(r.mesh_branch, r.state, compute, weights);
}

// Exchanges halo positions, unless the update kernel has exchanged them.
template <class N>
RankProgram exchange_coordinates(GpuRank<N>& r)
{
    if (!r.halo->update_exchanges()) { co_await r.halo->exchange_x(r.nonlocal, r.state); }
}

// Returns the forces on halo atoms to their owners. If the update kernel exchanges the halo, it also adds the
// returned forces, unless they are wanted before the update. If the update begins early, r.returning starts it.
template <class N>
RankProgram return_forces(GpuRank<N>& r, bool update_begins_early, bool wanted_before)
{
    if (!r.halo->update_exchanges() || wanted_before)
    {
        co_await r.halo->return_f(r.nonlocal, r.state);
        co_return;
    }
    co_await all_are_here;
    r.halo->send_f_to_update(r.nonlocal, r.state, update_begins_early ? &r.returning : nullptr);
}

// Keeps the state of all atoms and of the coupling in `snapshot`, on the first GPU of this process, unless a flag is raised.
template <class N>
RankProgram keep_atoms(GpuRank<N>& r, GpuSnapshot<N>& snapshot)
{
    co_await collect(r);
    if (r.collects) { keep(r.queue, r.exchange_buffer, r.state, r.coupling, snapshot); }
    co_await release_exchange_buffers(r, r.queue);
}

// Keeps a frame in the snapshot. Forces are stored after a barrier of their own, since before it rank
// 0 may still be copying those of the last frame. forces: null if they are stored on another node.
template <class N>
RankProgram keep_frame(GpuRank<N>& r, bool with_forces, GpuSnapshot<N>& snapshot, Vec3<typename N::ForceSum>* forces)
{
    co_await keep_atoms(r, snapshot);
    if (!with_forces) { co_return; }
    if (forces != nullptr) { gather_forces(r.queue, r.state, forces); }
    if (r.travellers) { r.travellers->send_forces(r.queue, r.state); }
    co_await agree_on_flags(r);
    if (!r.travellers) { co_return; }
    r.travellers->receive_forces(r.queue, forces);
    co_await release_exchange_buffers(r, r.queue);
}

// Runs program(gpu rank) of every rank of these GPUs; the programs take turns at their pauses.
template <class N, class Program>
void run_together(GpuSpan<N> gpus, Program&& program)
{
    std::vector<RankProgram> programs;
    for_each_rank<N>(gpus, [&](GpuWithRanks<N>&, GpuRank<N>& r) { programs.push_back(program(r)); });
    run_together(programs);
}

} // namespace parhelion
