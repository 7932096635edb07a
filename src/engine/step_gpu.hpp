// SPDX-License-Identifier: Apache-2.0
// One leap-frog step of the ranks of a GPU: the whole schedule, as engine/step.hpp is the CPU's; the same words, the same order
// of events, the same step(t) before and after. Nothing here runs when it is called: it is queued, or captured to be replayed.
//
//   S repartition    X halo positions    L pair forces    B bonded forces    F halo forces
//   T couple    U C D kick, constrain, drift: one kernel    K kinetic energy, centre of mass    G sums over ranks    O
//   observables
//
//   queue   S ─ L of home atoms ──────────────────────────┬ U C D ─ K G O
//   side        X ─┬ L with halo atoms ─┬ F ─ T ──────────┘
//   third          └ B ─────────────────┘
//
// Ranks meet through signals alone, raised and awaited by kernels; a lone rank has no X, F, G and no halo. Ranks that share a GPU
// share its queues: what follows is in phases that all of them enter before any of them waits in the next. Blow-ups: the update
// looks at every force and displacement and raises a flag, which the host sees when the steps are done.
#pragma once

#include "engine/gpu_rank.hpp"
#include "engine/schedule.hpp"

namespace parhelion {

// values(rank): pointer and number of what is added up over all ranks of the run.
template <class N, class Values>
void add_up(GpuTeam<N>& t, Values&& values)
{
    if (t.ranks.size() == 1)
    {
        const auto v = values(t.ranks[0]);
        all_reduce(t.queue, *t.sums, t.ranks[0].rank, v.data(), static_cast<int>(v.size()));
        return;
    }
    for (GpuRank<N>& r : t.ranks)
    {
        const auto v = values(r);
        all_reduce_send(t.queue, *t.sums, r.rank, v.data(), static_cast<int>(v.size()));
    }
    for (GpuRank<N>& r : t.ranks)
    {
        const auto v = values(r);
        all_reduce_receive(t.queue, *t.sums, r.rank, v.data(), static_cast<int>(v.size()));
    }
}

// The flags of every rank become those of all; and what ranks have stored into each other's memory before is there.
template <class N>
void agree_on_flags(GpuTeam<N>& t)
{
    add_up(t, [](GpuRank<N>& r) { return std::span(&r.state.scalars.data()->flags, 1); });
}

// Every board holds all atoms afterwards, unless a flag is up, and until all ranks have released theirs.
template <class N>
void queue_publication(GpuTeam<N>& t)
{
    for (GpuRank<N>& r : t.ranks) { barrier_wait(t.queue, *t.taken, r.rank); }
    for (GpuRank<N>& r : t.ranks) { publish_atoms(t.queue, r.state, r.boards); }
    agree_on_flags(t);
}
template <class N>
void queue_release(GpuTeam<N>& t)
{
    for (GpuRank<N>& r : t.ranks) { barrier_arrive(t.queue, *t.taken, r.rank); }
}

// Atoms to their owners, and what every rank needs of the others'.
template <class N>
void queue_repartition(GpuTeam<N>& t)
{
    for (GpuRank<N>& r : t.ranks) { take_atoms(t.queue, r.cell, r.board, r.atoms, r.scratch, r.state); }
    queue_release(t);
    for (GpuRank<N>& r : t.ranks) { r.halo->announce(t.queue, r.state); }
    for (GpuRank<N>& r : t.ranks)
    {
        r.halo->learn(t.queue, r.state);
        resolve_nonbonded(t.queue, r.state, r.nonbonded);
    }
}

// list_age: steps since the lists were built. The first pruning comes with the build, whether more follow or not.
template <class N>
void queue_lists_if_due(GpuQueue& queue, GpuRank<N>& r, PairPart part, std::int64_t list_age)
{
    const ListPlan& plan = r.list_plan;
    GpuPairList& list = r.pairs[static_cast<std::size_t>(part)];
    const bool is_pruned = plan.prune_interval > 0;
    if (list_age == 0) { build_pair_list(queue, r.state, r.cell, r.exclusions, plan.cutoff, part, list); }
    if (list_age == 0 || (is_pruned && list_age % plan.prune_interval == 0))
    {
        prune_pair_list(queue, r.state, is_pruned ? plan.pruned_cutoff : plan.cutoff, list);
    }
}

// What waits for other ranks, and what needs their atoms, on the side.
template <class N>
void queue_halo_forces(GpuTeam<N>& t, std::int64_t list_age, const StepFlags& flags)
{
    const int x_rounds = flags.repartition ? 0 : t.ranks[0].halo->x_rounds(); // a repartition brings positions
    for (int round = 0; round < x_rounds; ++round)                            // X
    {
        for (GpuRank<N>& r : t.ranks) { r.halo->send_x(t.side, round, r.state); }
        for (GpuRank<N>& r : t.ranks) { r.halo->receive_x(t.side, round, r.state); }
    }
    t.received.record(t.side);
    wait_for(t.third, t.received);
    for (GpuRank<N>& r : t.ranks) { compute_bonded(t.third, r.bonded, r.state, flags.compute); } // B
    t.bonded.record(t.third);
    for (GpuRank<N>& r : t.ranks) // L
    {
        if (r.cell.zones() == 1) { continue; }
        queue_lists_if_due(t.side, r, PairPart::Nonlocal, list_age);
        compute_nonbonded(t.side, r.nonbonded, r.pairs[1], r.state, flags.compute);
    }
    wait_for(t.side, t.bonded);
    for (int round = 0; round < t.ranks[0].halo->f_rounds(); ++round) // F
    {
        for (GpuRank<N>& r : t.ranks) { r.halo->send_f(t.side, round, r.state); }
        for (GpuRank<N>& r : t.ranks) { r.halo->receive_f(t.side, round, r.state); }
    }
}

template <class N>
std::span<ScalarSum<N>> energy_sums(GpuState<N>& state)
{
    static_assert(sizeof(EnergySums<N>) % sizeof(ScalarSum<N>) == 0);
    return {reinterpret_cast<ScalarSum<N>*>(state.energies.data()), sizeof(EnergySums<N>) / sizeof(ScalarSum<N>)};
}

// Sums over atoms become sums over all of them, and those the observables and the box of the next step.
template <class N>
void queue_sums(GpuTeam<N>& t, std::int64_t step_offset, const StepFlags& flags)
{
    for (GpuRank<N>& r : t.ranks) { r.coupling.sum_com_motion(t.queue, flags, r.state); } // K
    if (flags.remove_com)
    {
        add_up(t, [](GpuRank<N>& r) { return r.coupling.com_sums(); });
    }
    for (GpuRank<N>& r : t.ranks) { r.coupling.sum(t.queue, flags, r.update, r.state); }
    if (GpuCoupling<N>::needs_sums(flags))
    {
        add_up(t, [](GpuRank<N>& r) { return r.coupling.sums(); });
    } // G
    if (flags.observe)
    {
        add_up(t, [](GpuRank<N>& r) { return energy_sums(r.state); });
    }
    for (GpuRank<N>& r : t.ranks) { r.coupling.finish(t.queue, step_offset, flags, r.update, r.state); } // O T
}

// The step is that of the ranks' scalars plus step_offset. Before a step that repartitions, the boards have been published.
// `output` is queued between forces and update: output().
template <class N, class Output>
void queue_step(GpuTeam<N>& t, std::int64_t step_offset, std::int64_t list_age, const StepFlags& flags, Output&& output)
{
    if (flags.repartition) { queue_repartition(t); } // S
    t.forked.record(t.queue);
    wait_for(t.side, t.forked);
    wait_for(t.third, t.forked);
    for (GpuRank<N>& r : t.ranks)
    {
        if (flags.repartition) // S
        {
            r.bonded.resolve(t.third, r.state, r.cell);
            r.update.resolve(t.third, r.state);
        }
        queue_lists_if_due(t.queue, r, PairPart::Local, list_age);
        compute_nonbonded(t.queue, r.nonbonded, r.pairs[0], r.state, flags.compute); // L
    }
    queue_halo_forces(t, list_age, flags); // X L B F
    std::vector<const GroupKick*> kicks;
    for (GpuRank<N>& r : t.ranks) { kicks.push_back(r.coupling.couple(t.side, step_offset, flags, r.state)); } // T
    t.joined.record(t.side);
    wait_for(t.queue, t.joined);
    output();

    for (std::size_t i = 0; i < t.ranks.size(); ++i)
    {
        GpuRank<N>& r = t.ranks[i];
        r.update.step(t.queue, r.coupling.update_args(step_offset, flags, kicks[i]), r.state); // U C D
    }
    queue_sums(t, step_offset, flags); // K G O T
}

} // namespace parhelion
