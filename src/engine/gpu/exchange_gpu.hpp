// SPDX-License-Identifier: Apache-2.0
// The exchanges of a rank on a GPU with other ranks: sums, atoms, halos, the mesh. Each is a program (rank_program.hpp) with a
// pause between its sends and its waits.
#pragma once

#include "engine/gpu/flags_gpu.hpp"
#include "engine/gpu/rank_gpu.hpp"
#include "engine/rank_program.hpp"

#include <cstddef>
#include <span>

namespace parhelion {

// values: of device memory, added up over all ranks of the run.
template <class N, class T>
RankProgram add_up(GpuRank<N>& r, std::span<T> values)
{
    const int n = static_cast<int>(values.size());
    if (co_await is_alone)
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

// Afterwards every rank has the flags of all ranks; bonded terms that no rank computes are a flag, too. It is also a barrier:
// what ranks stored into each other's memory before is visible.
template <class N>
RankProgram agree_on_flags(GpuRank<N>& r)
{
    static_assert(offsetof(DeviceScalars, missing_terms) == offsetof(DeviceScalars, flags) + offsetof(FlagsAndBalance, balance));
    static_assert(gpu_flag_missing_terms == FlagsAndBalance::unbalanced);
    return add_up(r, std::span(reinterpret_cast<FlagsAndBalance*>(&r.state.scalars.data()->flags), 1));
}

// Every exchange buffer holds afterwards what its rank needs, unless a flag is up. Then comes release_exchange_buffers().
template <class N>
RankProgram publish(GpuRank<N>& r)
{
    if (r.has_cell && r.cell.is_everything()) { collect_atoms(r.queue, r.state, r.exchange_buffers); }
    else if (r.has_cell) { publish_atoms(r.queue, r.state, r.atoms, r.exchange_buffers); }
    if (r.travellers) { r.travellers->send(r.queue, r.state, r.atoms, GpuTravellers<N>::To::WhoNeedsThem); }
    co_await agree_on_flags(r);
    if (r.travellers) { r.travellers->receive(r.queue, r.exchange_buffer); }
}
// Those of the collectors hold all atoms; likewise.
template <class N>
RankProgram collect(GpuRank<N>& r)
{
    if (r.has_cell) { collect_atoms(r.queue, r.state, r.collectors); }
    if (r.travellers) { r.travellers->send(r.queue, r.state, r.atoms, GpuTravellers<N>::To::Collectors); }
    co_await agree_on_flags(r);
    if (r.travellers) { r.travellers->receive(r.queue, r.exchange_buffer); }
}
// Exchange buffers may be written again: what was queued before on the same queue has read them, on all ranks.
template <class N>
RankProgram release_exchange_buffers(GpuRank<N>& r, GpuQueue& queue)
{
    barrier_arrive(queue, *r.buffers_read, r.rank);
    co_await all_are_here;
    barrier_wait(queue, *r.buffers_read, r.rank);
}

// M, of a run with PME, on its branch, which comes after what the mesh needs.
template <class N>
RankProgram compute_mesh(GpuRank<N>& r, Compute compute, MeshWeights weights)
{
    for (int stage = 0; stage < r.mesh->stages(); ++stage)
    {
        if (stage > 0) { co_await all_are_here; }
        r.mesh->compute(r.mesh_branch, stage, r.state, compute, weights);
    }
}

// Unless the update has done it.
template <class N>
RankProgram exchange_coordinates(GpuRank<N>& r)
{
    const int rounds = r.halo->update_exchanges() ? 0 : r.halo->rounds();
    for (int round = 0; round < rounds; ++round)
    {
        co_await all_are_here;
        r.halo->send_x(r.nonlocal, round, r.state);
        co_await all_are_here;
        r.halo->receive_x(r.nonlocal, round, r.state);
    }
}

// What is not the update's work: if it exchanges, it receives, unless forces are wanted before it. If it begins early, it comes
// after r.returning.
template <class N>
RankProgram return_forces(GpuRank<N>& r, bool update_begins_early, bool wanted_before)
{
    const bool receives = !r.halo->update_exchanges() || wanted_before;
    for (int round = 0; round < r.halo->rounds(); ++round)
    {
        co_await all_are_here;
        if (update_begins_early) { r.halo->send_f_beside_update(r.nonlocal, r.state, r.returning); }
        else { r.halo->send_f(r.nonlocal, round, r.state); }
        co_await all_are_here;
        if (receives) { r.halo->receive_f(r.nonlocal, round, r.state); }
    }
}

} // namespace parhelion
