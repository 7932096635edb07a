// SPDX-License-Identifier: Apache-2.0
// One leap-frog step of the rank of a GPU: the whole schedule, as engine/step.hpp is the CPU's; the same words, the same order of
// events, the same step(t) before and after. Nothing here runs when it is called: it is queued, or captured to be replayed.
//
//   S repartition    L pair forces    B bonded forces, beside S and L    T couple    U C D kick, constrain, drift: one kernel
//   K kinetic energy, centre of mass    O observables
//
// A step that neither couples nor is observed is three kernels, one of them beside another. Blow-ups: the update looks at every
// force and displacement and raises a flag, which the host sees at the end of the list interval.
#pragma once

#include "engine/gpu_rank.hpp"
#include "engine/schedule.hpp"

namespace parhelion {

// list_age: steps since the list was built. The first pruning comes with the build, whether more follow or not.
template <class N>
void queue_pruning_if_due(GpuRank<N>& r, std::int64_t list_age)
{
    const ListPlan& plan = r.list_plan;
    const bool is_pruned = plan.prune_interval > 0;
    if (list_age == 0 || (is_pruned && list_age % plan.prune_interval == 0))
    {
        prune_pair_list(r.queue, r.state, is_pruned ? plan.pruned_cutoff : plan.cutoff, r.pairs);
    }
}

// The step is that of r.state.scalars plus step_offset. `output` is queued between forces and update: output().
template <class N, class Output>
void queue_step(GpuRank<N>& r, std::int64_t step_offset, std::int64_t list_age, const StepFlags& flags, Output&& output)
{
    if (flags.repartition) { reorder(r.queue, r.state, r.reorder_scratch); } // S
    r.forked.record(r.queue);
    wait_for(r.side, r.forked);

    if (flags.repartition) // S
    {
        build_pair_list(r.queue, r.state, r.exclusions, r.list_plan.cutoff, r.pairs);
        resolve_nonbonded(r.queue, r.state, r.nonbonded);
        r.bonded.resolve(r.side, r.state, r.cell);
        r.update.resolve(r.side, r.state);
    }
    queue_pruning_if_due(r, list_age);
    compute_nonbonded(r.queue, r.nonbonded, r.pairs, r.state, flags.compute);             // L
    compute_bonded(r.side, r.bonded, r.state, flags.compute);                             // B
    const GroupKick* const kick = r.coupling.couple(r.side, step_offset, flags, r.state); // T
    r.joined.record(r.side);
    wait_for(r.queue, r.joined);
    output();

    r.update.step(r.queue, r.coupling.update_args(step_offset, flags, kick), r.state); // U C D
    r.coupling.finish(r.queue, step_offset, flags, r.update, r.state);                 // K O T
}

} // namespace parhelion
