// SPDX-License-Identifier: Apache-2.0
// One leap-frog step of one rank on a GPU: the whole schedule. It has the same words and order as engine/step.hpp for the
// CPU, and the same state before and after a step. Calls here queue work, or capture work in a graph that is replayed.
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
// In a step that repartitions, the bonded branch does all of B. It also finds the terms and groups of home atoms,
// and on it ranks agree on their halos. Sends are queued first, waits for other ranks last. Thread blocks of the
// branches nonlocal and bonded have priority, unless the GPU has so many atoms that halo forces return in time
// anyway. Blocks of the mesh branch always have priority, as its kernels are short and depend on each other. Ranks
// synchronize by signals alone, which kernels set and await. A lone rank has no halo, and no X, F and G. The mesh
// is computed in stages. Each stage waits until all ranks have finished the stage before. If the mesh takes halo
// atoms, M comes after X, and F after M; the background branch then also checks that each rank has the atoms of
// its part of the mesh. If the update kernel exchanges the halo, U adds returned forces and sends the positions of
// the next step. That step then has no X, and F only sends; U may begin beside F (begins_during_return).
//
// Each rank runs this program. Ranks whose work one thread queues meet at all_are_here (rank_program.hpp):
// all have sent before any waits. A rank without a cell has the same pauses, but only the work M, T, G and O.
//
// Multiple time stepping works as in engine/step.hpp: add_rest(), before U C D, adds the rest of the mesh forces.
//
// Velocity Verlet: in steps that need v(t), all forces return before take_full_step(), which is between F and U.
//
// Virtual sites except those of rigid waters: their forces are spread before the update, which then exchanges
// no halo. The sites are constructed at the end of the step. Without such sites nothing is queued for them.
//
// Minimisations use the same forces: evaluate_at_rest() and move_along_velocities().
//
// Blow-ups: the update checks every force and displacement, and raises a flag if one is too large. The
// host sees the flag when the steps are done. If lists must miss no pair, or in a minimisation, the bonded branch first checks
// how far atoms have moved since the lists were built. It raises a flag if an atom has moved too far.
#pragma once

#include "device/rank_program.hpp"
#include "engine/gpu/exchange_gpu.hpp"
#include "engine/gpu/rank_gpu.hpp"
#include "engine/schedule.hpp"

namespace parhelion {

// Moves atoms to their new owners, and gives every rank the atoms of other ranks that it needs.
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

// Plans which rank sends which atoms to which other rank from now on, and finds the bonded terms of home
// atoms. Pair lists do not need this plan. Also computes B, whose atoms have come with the repartition.
template <class N>
RankProgram plan_exchange(GpuRank<N>& r, Compute compute)
{
    r.halo->request_atoms(r.bonded_branch, r.state);
    co_await all_are_here;
    if (r.has_cell)
    {
        r.bonded.resolve(r.bonded_branch, r.state, r.cell);
        compute_bonded(r.bonded_branch, r.bonded, r.state, compute); // B: bonded forces
        r.update.resolve(r.bonded_branch, r.state);
        r.sites.resolve(r.bonded_branch, r.state);
    }
    r.halo->build_send_lists(r.bonded_branch, r.state);
    co_await release_exchange_buffers(r, r.bonded_branch);
}

// list_age: steps since the lists were built. A list is pruned when it is built, even if the plan has no later prunings.
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

// Returns true if the update may begin while forces are still returning. This requires that the update itself waits
// for forces of other ranks, and that no other work comes between. An event starts the update. The event should pass
// when every block that sends this rank's forces has begun, but may pass earlier (device/gpu/launch_begun.cuh). The
// update must not keep such a block from starting while it waits for ranks that wait for these forces.
template <class N>
bool begins_during_return(GpuRank<N>& r, const StepPattern& flags)
{
    const bool more_follows = flags.full_step || flags.begins || flags.frame || flags.mesh.rest != 0 ||
                              flags.couple_temperature || flags.couple_pressure || r.coupling.is_annealed();
    return !more_follows && r.halo->update_may_begin_early() && r.update.template leaves_free_places<N, CopyTask<N>>(r.queue);
}

// Velocity Verlet, as in engine/full_step.hpp: changes v(t) to v(t - dt/2) at the start of a run. Then computes v(t)
// and its kinetic energies, and couples. The program output(rank) finds v(t) in r.state.v; afterwards this is v(t - dt/2) again.
// Sets `kick` to the coefficients of the step.
template <class N, class Output>
RankProgram take_full_step(GpuRank<N>& r, std::int64_t step_offset, const StepPattern& flags, const Output& output,
                           const GroupKick*& kick)
{
    GpuQueue& queue = r.queue;
    const bool couples_at_full_step = r.coupling.couples_at_full_step();
    if (r.has_cell && flags.begins)
    {
        r.update.go_back(queue, r.coupling.go_back_args(step_offset), r.state);
        if (!couples_at_full_step) { r.coupling.sum_early(queue, r.state); }
    }
    if (r.has_cell && flags.full_step)
    {
        gpu_memory::on_device(queue, r.half_step.data(), r.state.v.data(), r.state.slots * sizeof(VelocityMass<N>));
        r.update.to_full_step(queue, r.coupling.full_step_args(step_offset), r.state);
        if (couples_at_full_step) { r.coupling.sum_early(queue, r.state); }
    }
    if (r.coupling.needs_early_sums(flags)) { co_await add_up(r, r.coupling.early_sums()); }
    co_await all_are_here;
    kick = r.coupling.couple(queue, step_offset, flags, r.state); // T: thermostat
    if (flags.frame)
    {
        if (r.has_cell && flags.finish_coupling) { r.coupling.scale_to_full_step(queue, r.state); }
        if (r.has_cell && flags.full_step) { r.sites.construct(queue, r.state); } // sets their velocities
        co_await output(r);
    }
    if (r.has_cell && flags.full_step)
    {
        gpu_memory::on_device(queue, r.state.v.data(), r.half_step.data(), r.state.slots * sizeof(VelocityMass<N>));
    }
}

// Adds the sums over a rank's atoms up over all ranks, and computes from them observables and the box of the next step.
template <class N>
RankProgram finish_step(GpuRank<N>& r, std::int64_t step_offset, const StepTasks& flags)
{
    r.coupling.sum_com_motion(r.queue, flags, r.state); // K: motion of centres of mass
    if (flags.remove_com) { co_await add_up(r, r.coupling.com_sums()); }
    r.coupling.sum(r.queue, flags, r.state);
    if (GpuCoupling<N>::needs_sums(flags)) { co_await add_up(r, r.coupling.sums()); } // G: sums over ranks
    if (flags.observe) { co_await add_up(r, energy_sums(r.state)); }
    co_await all_are_here;
    r.coupling.finish(r.queue, step_offset, flags, r.update, r.halo->update_task(false, r.coupling.reconstrains(flags)),
                      r.state); // O T: observables, barostat
}

// Computes the forces of a step, after a repartition if one is due (S X L B M). Forces on halo atoms are not returned yet.
// Forces of home atoms are complete on r.queue, those of the halo on r.nonlocal behind r.bonded_branch.
template <class N>
RankProgram compute_forces(GpuRank<N>& r, std::int64_t step_offset, std::int64_t list_age, const StepTasks& flags)
{
    GpuBranch &queue = r.queue, &nonlocal = r.nonlocal, &bonded_branch = r.bonded_branch, &background = r.background,
              &mesh_branch = r.mesh_branch;
    const Compute compute = flags.compute();
    const bool has_mesh = r.mesh && flags.mesh.first != 0;
    const bool with_halo_atoms = has_mesh && r.mesh->takes_halo_atoms();
    const bool has_bonded = r.has_cell && !flags.repartition; // if false, plan_exchange() computes the bonded forces

    if (flags.repartition) { co_await repartition(r); } // S: repartition
    const Done atoms = queue.done();
    nonlocal.after(atoms), bonded_branch.after(atoms);
    if (r.has_cell && r.checks_lists)
    {
        flags.repartition ? r.listed.keep(bonded_branch, r.state) : r.listed.check(bonded_branch, r.state);
    }
    // Of branches that begin together, the one queued first begins 1.6 us before the others, and its blocks take the free
    // places. The mesh is a chain of short kernels, which lasts longest if there are few atoms, so it comes first. Forces for
    // which other ranks wait come before forces among home atoms. The pairs of home atoms fill the GPU, and their bonded
    // forces fill the rest.
    if (flags.repartition) { co_await plan_exchange(r, compute); } // S B; halo positions came with the atoms
    else { co_await exchange_coordinates(r); }                     // X: halo positions
    const Done halo_x = nonlocal.done();
    if (has_mesh)
    {
        mesh_branch.after(with_halo_atoms ? halo_x : atoms);
        co_await compute_mesh(r, compute, flags.mesh); // M: mesh forces
    }
    if (r.cell.zones() > 1) { compute_nonbonded(nonlocal, r, PairPart::Nonlocal, list_age, compute); }               // L: halo
    if (has_bonded) { compute_bonded(bonded_branch.after(halo_x), r.bonded, PairPart::Nonlocal, r.state, compute); } // B: halo
    if (r.has_cell)
    {
        compute_nonbonded(queue, r, PairPart::Local, list_age, compute); // L: pairs of home atoms
        add_electric_field(queue, r.field, step_offset, r.state);
        add_acceleration(queue, r.acceleration, r.state);
    }
    if (has_bonded || with_halo_atoms)
    {
        background.after(atoms);
        if (has_bonded) { compute_bonded(background, r.bonded, PairPart::Local, r.state, compute); } // B: terms of home atoms
        if (with_halo_atoms) { r.mesh->check(background, r.state); }
        queue.after(background.done());
    }
    if (has_mesh)
    {
        const Done mesh = mesh_branch.done();
        queue.after(mesh);
        if (with_halo_atoms) { nonlocal.after(mesh); }
    }
}

// Queues the step whose number is that in the rank's scalars plus step_offset. If a frame is due, the program output(rank)
// is queued between forces and update. After the last of a series of steps, r.queue must wait for r.nonlocal.
template <class N, class Output>
RankProgram step(GpuRank<N>& r, std::int64_t step_offset, std::int64_t list_age, const StepPattern& flags, const Output& output)
{
    GpuBranch &queue = r.queue, &nonlocal = r.nonlocal;
    const bool has_rest = r.mesh && flags.mesh.first != 0 && flags.mesh.rest != 0;
    co_await compute_forces(r, step_offset, list_age, flags); // S X L B M
    const Done forces = nonlocal.after(r.bonded_branch.done()).done();
    const bool update_begins_early = begins_during_return(r, flags);
    const bool has_verlet = flags.full_step || flags.begins, needs_forces = flags.frame_forces || has_rest || has_verlet;
    co_await return_forces(r, update_begins_early, needs_forces); // F: forces on halo atoms
    const GroupKick* kick = nullptr;
    if (!has_verlet) { kick = r.coupling.couple(nonlocal, step_offset, flags, r.state); } // T: thermostat, drag of the box
    if (update_begins_early) { queue.after(forces).after(r.returning); }
    else { queue.after(nonlocal.done()); }
    if (r.has_cell) { r.sites.spread_forces(queue, flags.observe ? Virial::Compute : Virial::Skip, r.state); }
    if (has_verlet) { co_await take_full_step(r, step_offset, flags, output, kick); } // T K G
    else if (flags.frame) { co_await output(r); }

    UpdateArgs<N, CopyTask<N>> update = r.coupling.update_args(step_offset, flags, kick);
    if (has_rest && r.has_cell) // M: the rest of the mesh forces
    {
        if (flags.observe) { r.update.try_step(queue, update, r.state); }
        update.virial = nullptr; // the virial is that of the plain forces
        r.mesh->add_rest(queue, flags.mesh, r.state);
        r.sites.spread_forces(queue, Virial::Skip, r.state);
    }
    update.copies = r.halo->update_task(!needs_forces, !r.coupling.reconstrains(flags));
    co_await all_are_here;
    // The update sends and then waits, so nothing may be queued between the updates of several ranks.
    if (r.has_cell) { r.update.step(queue, update, r.state); } // U C D: kick, constraints, drift
    co_await all_are_here;
    co_await finish_step(r, step_offset, flags); // K G O T: sums, observables, barostat
    if (r.has_cell) { r.sites.construct(queue, r.state); }
    co_await all_are_here;
    r.halo->await_update(queue, r.state); // waits for X of the next step
}

// Minimisations: computes energy, virial and forces of atoms at rest, after a repartition or with the lists that there are.
// Velocities become the forces that constraints leave free.
template <class N>
RankProgram evaluate_at_rest(GpuRank<N>& r, bool repartitions)
{
    StepTasks tasks;
    tasks.repartition = repartitions;
    tasks.observe = true;
    tasks.mesh = {1, 0};
    co_await compute_forces(r, 0, repartitions ? 0 : 1, tasks); // S X L B M
    r.nonlocal.after(r.bonded_branch.done());
    co_await return_forces(r, false, true); // F
    r.queue.after(r.nonlocal.done());
    if (r.has_cell)
    {
        r.sites.spread_forces(r.queue, Virial::Compute, r.state);
        if (!r.sites.is_empty()) { r.coupling.stop_atoms(r.queue, r.state); } // the update does not change these sites
        r.update.to_rest(r.queue, r.coupling.rest_args(), r.state);
    }
    co_await all_are_here;
    co_await finish_step(r, 0, tasks); // G O
}

// Minimisations: moves atoms by `factor` times their velocities, onto the constraints. is_new_order: put_back() came just before.
template <class N>
RankProgram move_along_velocities(GpuRank<N>& r, double factor, bool is_new_order)
{
    if (r.has_cell)
    {
        if (is_new_order)
        {
            r.update.resolve(r.queue, r.state);
            r.sites.resolve(r.queue, r.state);
        }
        r.update.step(r.queue, r.coupling.move_args(factor), r.state);
        r.sites.construct(r.queue, r.state);
    }
    co_return;
}

} // namespace parhelion
