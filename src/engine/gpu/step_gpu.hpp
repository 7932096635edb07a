// SPDX-License-Identifier: Apache-2.0
// One leap-frog step of one rank on a GPU: the whole schedule, as engine/step.hpp is the CPU's, in the same words and order, with
// the same state before and after. Calls here queue work, or capture it to be replayed.
//
//   S repartition    X halo positions    L pair forces    B bonded forces    M mesh forces    F halo forces    T couple
//   U C D kick, constrain, drift: one kernel    K kinetic energy, centre of mass    G sums over ranks    O observables
//
//   queue        S ┬ L of home atoms ──────────────────────────┬ U C D ─ K G O
//   mesh           ├ M ────────────────────────────────────────┤
//   background     └ B of home atoms ──────────────────────────┤
//   nonlocal         X ─┬ L with halo atoms ─┬ F ─ T ──────────┘
//   bonded              └ B with halo atoms ─┘
//
// In a step that repartitions, the bonded branch does all of B. It also lists the terms and groups at home, and ranks agree on
// their halos there: what other ranks wait for comes first, what waits for them last. Blocks of the branches nonlocal and bonded
// have priority on the GPU, unless it has so many atoms that their forces are back in time anyway; those of the mesh always have,
// as its kernels are short and wait for each other. Ranks meet through signals
// alone, raised and awaited by kernels. A lone rank has no X, F and G, and no halo. The mesh is shared in stages, each of which
// waits for the one before on all ranks; where it takes halo atoms, M comes after X, and F after M. Where the update
// exchanges the halo, U adds the forces that come back and sends the positions of the next step: there is no X, and F only sends;
// U may begin beside it (begins_during_return).
//
// Each rank runs this program. Ranks whose work one thread queues meet at all_are_here (rank_program.hpp): all have sent before
// any waits. A rank without a cell has the same pauses, and M, T, G and O alone.
//
// Multiple time stepping: as engine/step.hpp has it; a second M, of what the atoms are to get besides, comes before U C D.
//
// Virtual sites other than those of rigid waters: their forces are spread before the update, which then adds and sends no halo,
// and they are constructed at the end of the step. Without them nothing is queued for that.
//
// Blow-ups: the update checks every force and displacement and raises a flag, which the host sees when the steps are done. Where
// lists must miss nothing, the bonded branch begins with a check of how far atoms have moved since the lists were built; it
// raises a flag, too.
#pragma once

#include "engine/gpu/exchange_gpu.hpp"
#include "engine/gpu/rank_gpu.hpp"
#include "engine/rank_program.hpp"
#include "engine/schedule.hpp"

namespace parhelion {

// Atoms to their owners, and what every rank needs of the others'.
template <class N>
RankProgram repartition(GpuRank<N>& r)
{
    co_await publish(r);
    if (!r.has_cell) { co_return; }
    r.bonded_branch.after(r.queue.done());
    r.bonded.forget(r.bonded_branch);
    r.update.forget(r.bonded_branch, r.state.slots, r.cell);
    take_atoms(r.queue, r.exchange_buffer, r.atoms, r.scratch, r.state);
    if (r.mesh) { r.mesh->after_repartition(r.queue, r.state); }
    resolve_nonbonded(r.queue, r.state, r.nonbonded);
}

// Who sends whom which atoms from now on, and what is at home: lists of pairs need none of it. B, too, as its atoms are here.
template <class N>
RankProgram plan_exchange(GpuRank<N>& r, Compute compute)
{
    r.halo->request_atoms(r.bonded_branch, r.state);
    co_await all_are_here;
    if (r.has_cell)
    {
        r.bonded.resolve(r.bonded_branch, r.state, r.cell);
        compute_bonded(r.bonded_branch, r.bonded, r.state, compute); // B
        r.update.resolve(r.bonded_branch, r.state);
        r.sites.resolve(r.bonded_branch, r.state);
    }
    r.halo->build_send_lists(r.bonded_branch, r.state);
    co_await release_exchange_buffers(r, r.bonded_branch);
}

// list_age: steps since the lists were built. The first pruning comes with the build, whether more follow or not.
template <class N>
void build_or_prune_if_due(GpuQueue& queue, GpuRank<N>& r, PairPart part, std::int64_t list_age)
{
    const ListPlan& plan = r.list_plan;
    GpuPairList& list = r.pairs[static_cast<std::size_t>(part)];
    const bool is_pruned = plan.prune_interval > 0;
    const bool is_new = list_age == 0, is_due = is_pruned && list_age % plan.prune_interval == 0;
    if (is_new) { build_pair_list(queue, r.state, r.cell, r.exclusions, plan.cutoff, part, list); }
    if (is_new || is_due) { prune_pair_list(queue, r.state, is_pruned ? plan.pruned_cutoff : plan.cutoff, list); }
}

template <class N>
void compute_nonbonded(GpuQueue& queue, GpuRank<N>& r, PairPart part, std::int64_t list_age, Compute compute)
{
    build_or_prune_if_due(queue, r, part, list_age);
    compute_nonbonded(queue, r.nonbonded, r.pairs[static_cast<std::size_t>(part)], r.state, compute);
}

// May the update begin while forces are still on their way? It may if it waits for others' itself. It is let go by an event
// that should pass when every block that sends this rank's forces has begun, but may pass before (device/gpu/launch_begun.cuh).
// So not where it might keep such a block from finding room, and wait for ranks that wait for these forces; not where more comes
// between.
template <class N>
bool begins_during_return(GpuRank<N>& r, const StepPattern& flags)
{
    const bool more_follows =
        flags.frame || flags.mesh.rest != 0 || flags.couple_temperature || flags.couple_pressure || r.coupling.is_annealed();
    return !more_follows && r.halo->update_may_begin_early() && r.update.template leaves_free_places<N, CopyTask<N>>(r.queue);
}

// Sums over atoms become sums over all of them, and those the observables and the box of the next step.
template <class N>
RankProgram finish_step(GpuRank<N>& r, std::int64_t step_offset, const StepTasks& flags)
{
    r.coupling.sum_com_motion(r.queue, flags, r.state); // K
    if (flags.remove_com) { co_await add_up(r, r.coupling.com_sums()); }
    r.coupling.sum(r.queue, flags, r.state);
    if (GpuCoupling<N>::needs_sums(flags)) { co_await add_up(r, r.coupling.sums()); } // G
    if (flags.observe) { co_await add_up(r, energy_sums(r.state)); }
    co_await all_are_here;
    r.coupling.finish(r.queue, step_offset, flags, r.update, r.halo->update_task(false, r.coupling.reconstrains(flags)),
                      r.state); // O T
}

// The step is that of the rank's scalars plus step_offset. `output` is queued between forces and update, if a frame is due:
// output(rank), a program. After the last of some steps r.queue must come after r.nonlocal.
template <class N, class Output>
RankProgram step(GpuRank<N>& r, std::int64_t step_offset, std::int64_t list_age, const StepPattern& flags, const Output& output)
{
    GpuBranch &queue = r.queue, &nonlocal = r.nonlocal, &bonded_branch = r.bonded_branch, &background = r.background,
              &mesh_branch = r.mesh_branch;
    const Compute compute = flags.compute();
    const bool has_mesh = r.mesh && flags.mesh.first != 0, has_rest = has_mesh && flags.mesh.rest != 0;
    const bool with_halo_atoms = has_mesh && r.mesh->takes_halo_atoms();
    const bool has_bonded = r.has_cell && !flags.repartition; // plan_exchange() does it otherwise

    if (flags.repartition) { co_await repartition(r); } // S
    const Done atoms = queue.done();
    nonlocal.after(atoms), bonded_branch.after(atoms);
    if constexpr (lists_miss_nothing<N>)
    {
        if (r.has_cell) { flags.repartition ? r.listed.keep(bonded_branch, r.state) : r.listed.check(bonded_branch, r.state); }
    }
    // Of branches that begin together the one that is queued first begins 1.6 us before the others, and its blocks find room
    // first. So forces that others wait for come before those of home atoms, whose pairs fill the GPU, and whose bonded forces
    // fill what pairs leave. The mesh is a chain of short kernels: it begins before the pairs.
    if (flags.repartition) { co_await plan_exchange(r, compute); } // S B; halo positions came with the atoms
    else { co_await exchange_coordinates(r); }                     // X
    const Done halo_x = nonlocal.done();
    if (r.cell.zones() > 1) { compute_nonbonded(nonlocal, r, PairPart::Nonlocal, list_age, compute); }               // L
    if (has_bonded) { compute_bonded(bonded_branch.after(halo_x), r.bonded, PairPart::Nonlocal, r.state, compute); } // B
    if (has_mesh)
    {
        mesh_branch.after(with_halo_atoms ? halo_x : atoms);
        co_await compute_mesh(r, compute, flags.mesh); // M
    }
    if (r.has_cell)
    {
        compute_nonbonded(queue, r, PairPart::Local, list_age, compute); // L
        add_electric_field(queue, r.field, step_offset, r.state);
        add_acceleration(queue, r.acceleration, r.state);
    }
    if (has_bonded)
    {
        compute_bonded(background.after(atoms), r.bonded, PairPart::Local, r.state, compute); // B
        queue.after(background.done());
    }
    if (has_mesh)
    {
        const Done mesh = mesh_branch.done();
        queue.after(mesh);
        if (with_halo_atoms) { nonlocal.after(mesh); }
    }
    const Done forces = nonlocal.after(bonded_branch.done()).done();
    const bool update_begins_early = begins_during_return(r, flags);
    co_await return_forces(r, update_begins_early, flags.frame_forces || has_rest);         // F
    const GroupKick* const kick = r.coupling.couple(nonlocal, step_offset, flags, r.state); // T
    if (update_begins_early) { queue.after(forces).after(r.returning); }
    else { queue.after(nonlocal.done()); }
    if (r.has_cell) { r.sites.spread_forces(queue, flags.observe ? Virial::Compute : Virial::Skip, r.state); }
    if (flags.frame) { co_await output(r); }

    UpdateArgs<N, CopyTask<N>> update = r.coupling.update_args(step_offset, flags, kick);
    if (has_rest && r.has_cell) // M
    {
        if (flags.observe) { r.update.try_step(queue, update, r.state); }
        update.virial = nullptr; // it is of the plain forces
        r.mesh->add_rest(queue, flags.mesh, r.state);
        r.sites.spread_forces(queue, Virial::Skip, r.state);
    }
    update.copies = r.halo->update_task(!flags.frame_forces && !has_rest, !r.coupling.reconstrains(flags));
    co_await all_are_here;
    // It sends and waits: nothing is queued between those of several ranks.
    if (r.has_cell) { r.update.step(queue, update, r.state); } // U C D
    co_await all_are_here;
    co_await finish_step(r, step_offset, flags); // K G O T
    if (r.has_cell) { r.sites.construct(queue, r.state); }
    co_await all_are_here;
    r.halo->await_update(queue, r.state); // X of the next
}

} // namespace parhelion
