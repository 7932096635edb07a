// SPDX-License-Identifier: Apache-2.0
// One leap-frog step of the ranks of a GPU: the whole schedule, as engine/step.hpp is the CPU's; the same words, the same order
// of events, the same step(t) before and after. Nothing here runs when it is called: it is queued, or captured to be replayed.
//
//   S repartition    X halo positions    L pair forces    B bonded forces    F halo forces    T couple
//   U C D kick, constrain, drift: one kernel    K kinetic energy, centre of mass    G sums over ranks    O observables
//
//   queue   S ┬ L of home atoms ──────────────────────────┬ U C D ─ K G O
//   fill      └ B of home atoms ──────────────────────────┤
//   side        X ─┬ L with halo atoms ─┬ F ─ T ──────────┘
//   third          └ B with halo atoms ─┘
//
// In a step that repartitions, the third has all of B, lists terms and groups at home, and ranks agree there on their halos:
// what others wait for first, what waits for others last. Side and third go first where blocks wait for room, unless a GPU has
// so many atoms that their forces are back in time anyway. Ranks meet through signals alone, raised and awaited by kernels; a
// lone rank has no X, F, G and no halo. If the update exchanges, U itself adds the forces that come back and exchanges the
// positions of the next step: no X, and F only sends, which U may begin beside (begins_during_return). What is queued
// together, for ranks that share a GPU and its queues or for several GPUs, is in phases: all send before any waits. Blow-ups:
// the update looks at every force and displacement and raises a flag, which the host sees when the steps are done. Where lists
// must miss nothing, the third queue begins with a look at how far atoms have moved since the lists were built; that raises
// one, too.
#pragma once

#include "engine/gpu_rank.hpp"
#include "engine/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace parhelion {

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

// values(rank): what is added up over all ranks of the run.
template <class N, class Values>
void add_up(GpuTeams<N> teams, Values&& values)
{
    const bool at_once = teams.size() == 1 && teams[0]->ranks.size() == 1; // nobody else's send is queued behind
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) {
        const auto v = values(r);
        const int n = static_cast<int>(v.size());
        if (at_once) { all_reduce(t.queue, *t.sums, r.rank, v.data(), n); }
        else { all_reduce_send(t.queue, *t.sums, r.rank, v.data(), n); }
    });
    if (at_once) { return; }
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) {
        const auto v = values(r);
        all_reduce_receive(t.queue, *t.sums, r.rank, v.data(), static_cast<int>(v.size()));
    });
}

// The flags of every rank become those of all, missing terms a flag; and what ranks have stored into each other's memory before
// is there.
template <class N>
void agree_on_flags(GpuTeams<N> teams)
{
    static_assert(offsetof(DeviceScalars, missing_terms) == offsetof(DeviceScalars, flags) + offsetof(FlagsAndBalance, balance));
    static_assert(gpu_flag_missing_terms == FlagsAndBalance::unbalanced);
    add_up<N>(teams,
              [](GpuRank<N>& r) { return std::span(reinterpret_cast<FlagsAndBalance*>(&r.state.scalars.data()->flags), 1); });
}

// Every board holds afterwards what its rank needs, or rank 0's all atoms, unless a flag is up. Then comes queue_release().
template <class N>
void queue_publication(GpuTeams<N> teams)
{
    for_each_rank<N>(teams, [](GpuTeam<N>& t, GpuRank<N>& r) { publish_atoms(t.queue, r.state, r.atoms, r.boards); });
    agree_on_flags(teams);
}
template <class N>
void queue_collection(GpuTeams<N> teams)
{
    for_each_rank<N>(teams, [](GpuTeam<N>& t, GpuRank<N>& r) { collect_atoms(t.queue, r.state, r.boards); });
    agree_on_flags(teams);
}
// Boards may be written again: what was queued before on the same queue has read them, on all ranks.
template <class N>
void queue_release(GpuTeams<N> teams, GpuQueue GpuTeam<N>::*queue)
{
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { barrier_arrive(t.*queue, *t.taken, r.rank); });
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { barrier_wait(t.*queue, *t.taken, r.rank); });
}

// Atoms to their owners, and what every rank needs of the others'.
template <class N>
void queue_repartition(GpuTeams<N> teams)
{
    for (GpuTeam<N>* const t : teams)
    {
        t->forked.record(t->queue);
        wait_for(t->third, t->forked);
        for (GpuRank<N>& r : t->ranks)
        {
            r.bonded.forget(t->third);
            r.update.forget(t->third, r.state.slots, r.cell);
            take_atoms(t->queue, r.board, r.atoms, r.scratch, r.state);
            resolve_nonbonded(t->queue, r.state, r.nonbonded);
        }
    }
}
// Who sends whom which atoms from now on, and what is at home, on the third queue: lists of pairs need none of it. B, too, as its
// atoms are here.
template <class N>
void queue_plans(GpuTeams<N> teams, Compute compute)
{
    for_each_rank<N>(teams, [](GpuTeam<N>& t, GpuRank<N>& r) { r.halo->announce(t.third, r.state); });
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) {
        r.bonded.resolve(t.third, r.state, r.cell);
        compute_bonded(t.third, r.bonded, r.state, compute); // B
        r.update.resolve(t.third, r.state);
    });
    for_each_rank<N>(teams, [](GpuTeam<N>& t, GpuRank<N>& r) { r.halo->learn(t.third, r.state); });
    queue_release(teams, &GpuTeam<N>::third);
}

// list_age: steps since the lists were built. The first pruning comes with the build, whether more follow or not.
template <class N>
void queue_lists_if_due(GpuQueue& queue, GpuRank<N>& r, PairPart part, std::int64_t list_age)
{
    const ListPlan& plan = r.list_plan;
    GpuPairList& list = r.pairs[static_cast<std::size_t>(part)];
    const bool is_pruned = plan.prune_interval > 0;
    const bool is_new = list_age == 0, is_due = is_pruned && list_age % plan.prune_interval == 0;
    if (is_new) { build_pair_list(queue, r.state, r.cell, r.exclusions, plan.cutoff, part, list); }
    if (is_new || is_due) { prune_pair_list(queue, r.state, is_pruned ? plan.pruned_cutoff : plan.cutoff, list); }
}

// May the update begin while forces are still on their way? It may if it waits for others' itself. It is let go by an event
// that should pass when every block that sends this rank's forces has begun, but may pass before (launch_begun.cuh). So not where
// it might keep such a block from finding room, and wait for ranks that wait for these forces; not where more comes between.
template <class N>
bool begins_during_return(GpuTeams<N> teams, const StepPattern& flags)
{
    const bool more_follows = flags.frame || flags.couple_temperature || flags.couple_pressure;
    return !more_follows && std::ranges::all_of(teams, [](const GpuTeam<N>* t) {
        const GpuRank<N>& r = t->ranks[0];
        return r.halo->update_may_begin_early() && r.update.template leaves_room<N>(t->queue);
    });
}

// Unless they are here already: from the update, or the boards.
template <class N>
void queue_halo_positions(GpuTeams<N> teams, const StepPattern& flags)
{
    GpuHalo<N>& any = *teams[0]->ranks[0].halo;
    const int rounds = any.update_exchanges() || flags.repartition ? 0 : any.rounds();
    for (int round = 0; round < rounds; ++round)
    {
        for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { r.halo->send_x(t.side, round, r.state); });
        for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { r.halo->receive_x(t.side, round, r.state); });
    }
}

template <class N>
void queue_pairs(GpuQueue& queue, GpuRank<N>& r, PairPart part, std::int64_t list_age, Compute compute)
{
    queue_lists_if_due(queue, r, part, list_age);
    compute_nonbonded(queue, r.nonbonded, r.pairs[static_cast<std::size_t>(part)], r.state, compute);
}

// What is not the update's work: if it exchanges, it receives.
template <class N>
void queue_halo_forces(GpuTeams<N> teams, const StepPattern& flags, bool update_begins_early)
{
    GpuHalo<N>& any = *teams[0]->ranks[0].halo;
    if (update_begins_early)
    {
        for_each_rank<N>(teams, [](GpuTeam<N>& t, GpuRank<N>& r) { r.halo->send_f_beside_update(t.side, r.state, t.returning); });
        return;
    }
    for (int round = 0; round < any.rounds(); ++round)
    {
        for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { r.halo->send_f(t.side, round, r.state); });
        if (any.update_exchanges() && !flags.frame_forces) { continue; }
        for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { r.halo->receive_f(t.side, round, r.state); });
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
void queue_sums(GpuTeams<N> teams, std::int64_t step_offset, const StepTasks& flags)
{
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { r.coupling.sum_com_motion(t.queue, flags, r.state); }); // K
    if (flags.remove_com)
    {
        add_up<N>(teams, [](GpuRank<N>& r) { return r.coupling.com_sums(); });
    }
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { r.coupling.sum(t.queue, flags, r.state); });
    if (GpuCoupling<N>::needs_sums(flags))
    {
        add_up<N>(teams, [](GpuRank<N>& r) { return r.coupling.sums(); });
    } // G
    if (flags.observe)
    {
        add_up<N>(teams, [](GpuRank<N>& r) { return energy_sums(r.state); });
    }
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { // O T
        r.coupling.finish(t.queue, step_offset, flags, r.update, r.halo->update_task(false, r.coupling.mends(flags)), r.state);
    });
}

// The step is that of the ranks' scalars plus step_offset. Before a step that repartitions, the boards have been published.
// Behind the last of some steps comes queue_end(). `output` is queued between forces and update: output().
template <class N, class Output>
void queue_step(GpuTeams<N> teams, std::int64_t step_offset, std::int64_t list_age, const StepPattern& flags, Output&& output)
{
    if (flags.repartition) { queue_repartition(teams); } // S
    for (GpuTeam<N>* const t : teams)
    {
        t->forked.record(t->queue);
        wait_for(t->side, t->forked);
        wait_for(t->third, t->forked);
        if constexpr (lists_miss_nothing<N>)
        {
            for (GpuRank<N>& r : t->ranks)
            {
                flags.repartition ? r.listed.keep(t->third, r.state) : r.listed.check(t->third, r.state);
            }
        }
    }
    if (flags.repartition) { queue_plans(teams, flags.compute()); } // S B
    // Of branches that begin together the one that is queued first begins 1.6 us before the others, and its blocks find room
    // first. So forces that others wait for come before those of home atoms, whose pairs fill the GPU, and whose bonded forces
    // fill what pairs leave.
    queue_halo_positions(teams, flags); // X
    for (GpuTeam<N>* const t : teams) { t->received.record(t->side); }
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) {
        if (r.cell.zones() > 1) { queue_pairs(t.side, r, PairPart::Nonlocal, list_age, flags.compute()); } // L
    });
    for (GpuTeam<N>* const t : teams)
    {
        if (flags.repartition) { continue; } // then they are behind their lists
        wait_for(t->third, t->received);
        for (GpuRank<N>& r : t->ranks) { compute_bonded(t->third, r.bonded, PairPart::Nonlocal, r.state, flags.compute()); } // B
    }
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) {
        queue_pairs(t.queue, r, PairPart::Local, list_age, flags.compute()); // L
    });
    for (GpuTeam<N>* const t : teams)
    {
        if (!flags.repartition)
        {
            wait_for(t->fill, t->forked);
            for (GpuRank<N>& r : t->ranks) { compute_bonded(t->fill, r.bonded, PairPart::Local, r.state, flags.compute()); } // B
            t->filled.record(t->fill);
            wait_for(t->queue, t->filled);
        }
        t->bonded.record(t->third);
        wait_for(t->side, t->bonded);
        t->joined.record(t->side);
    }
    const bool update_begins_early = begins_during_return(teams, flags);
    queue_halo_forces(teams, flags, update_begins_early); // F
    std::vector<const GroupKick*> kicks;
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { // T
        kicks.push_back(r.coupling.couple(t.side, step_offset, flags, r.state));
    });
    for (GpuTeam<N>* const t : teams)
    {
        if (!update_begins_early) { t->joined.record(t->side); }
        wait_for(t->queue, t->joined);
        if (update_begins_early) { wait_for(t->queue, t->returning); }
    }
    output();

    auto kick = kicks.begin();
    for_each_rank<N>(teams, [&](GpuTeam<N>& t, GpuRank<N>& r) { // U C D
        UpdateArgs<N> args = r.coupling.update_args(step_offset, flags, *kick++);
        args.copies = r.halo->update_task(!flags.frame_forces, !r.coupling.mends(flags));
        r.update.step(t.queue, args, r.state);
    });
    queue_sums(teams, step_offset, flags);                                                                 // K G O T
    for_each_rank<N>(teams, [](GpuTeam<N>& t, GpuRank<N>& r) { r.halo->await_update(t.queue, r.state); }); // X of the next
}

// What is queued next follows everything that is queued.
template <class N>
void queue_end(GpuTeams<N> teams)
{
    for (GpuTeam<N>* const t : teams)
    {
        t->joined.record(t->side);
        wait_for(t->queue, t->joined);
    }
}

} // namespace parhelion
