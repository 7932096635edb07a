// SPDX-License-Identifier: Apache-2.0
// The minimisation of a rank that is alone: RankRun::minimize() (engine/rank_run.hpp).
#include "base/error.hpp"
#include "dynamics/minimize.hpp"
#include "engine/guard.hpp"
#include "engine/overflow.hpp"
#include "engine/rank_run.hpp"
#include "engine/run_length.hpp"
#include "engine/step.hpp"
#include "pairs/cluster_order.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace parhelion {

// Computes forces and energies without velocities. Returns the forces for a minimisation; nothing if an external force failed.
template <class N>
ClusterArray<double> RankRun<N>::evaluate_static()
{
    Rank<N>& r = rank_;
    build_pair_list(queue_, r.state, r.topology, r.list_plan.cutoff, r.pairs);
    compute_forces(r, Compute::ForcesEnergiesVirial);
    if (!add_external_forces(r)) { return {}; }
    spread_site_forces(r, Compute::ForcesEnergiesVirial);
    ForcesAtRest<N> at_rest =
        forces_at_rest(queue_, r.constraints, r.assigned_constraints, r.state, ConstraintMasses::Equal, r.mobility);
    r.constraint_result = at_rest.of_constraints;
    observe(r, r.coupling.half_step);
    balance_energy(r, given_energy(r));
    return std::move(at_rest.free);
}

// Throws an error if a minimisation begins with values that are not finite.
template <class N>
void RankRun<N>::stop_if_overflowing()
{
    OutputDue due;
    due.x = due.f = true;
    const std::string text = overflow_text(rank_.observables, gather_frame(due), setup_.system.topology);
    if (!text.empty()) { throw PhysicsError(rank_.step, text); }
}

template <class N>
RunSummary RankRun<N>::minimize(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    PARHELION_EXPECTS(comm_.ranks() == 1);
    const Stopwatch whole;
    Rank<N>& r = rank_;
    RunSummary summary;
    const std::int64_t first = r.step, last = first + steps;
    const Schedule schedule(setup_.parameters, 1, first, last);
    SteepestDescent<N> descent(r.constraints, setup_.parameters.em_step, setup_.parameters.em_tolerance);
    Minimization verdict = Minimization::Continue;
    std::int64_t accepted = 0;
    queue_.clock().reset();
    for (;;)
    {
        if (descent.accepted()) { reorder(queue_, r.state); }
        r.sites.construct(queue_, r.assigned_sites, r.state);
        const ClusterArray<double> forces = evaluate_static();
        if (r.external.has_failed) { break; }
        if (r.step == first) { stop_if_overflowing(); }
        const bool accepted_now = descent.accepts(r.observables.potential); // a rejected step is not reported
        const OutputDue due = accepted_now ? schedule.flags(first + accepted++).due : OutputDue{}; // counts accepted steps
        if (due.any_frame()) { observer.frame(due, gather_frame(due)); }
        verdict = descent.consider(queue_, r.assigned_constraints, r.observables.potential, forces, r.state);
        if (accepted_now)
        {
            r.observables.largest_force = descent.largest_force();
            observer.energies(due, r.observables);
            if (N::summation == Summation::Reproducible && accepted == 1)
            {
                const std::string remark = range_remark<N>(gather_forces(), r.observables.forces);
                if (!remark.empty()) { observer.message(fmt::format("note: step {}: {}", r.step, remark)); }
            }
        }
        if (verdict != Minimization::Continue || r.step == last || stop.load(std::memory_order_relaxed)) { break; }
        observer.progress(r.step - first, steps_in_all(first, last), std::numeric_limits<double>::quiet_NaN());
        ++r.step;
    }
    if (accepted == 0) // an external force failed in the first step
    {
        summary.end = RunEnd::Stopped;
        return summary;
    }
    const bool is_stopped = verdict == Minimization::Continue && r.step < last;
    if (verdict == Minimization::Continue) { descent.return_to_best(queue_, r.state); } // the last was not evaluated
    summary.end = is_stopped ? RunEnd::Stopped : RunEnd::Done;
    summary.steps = r.step - first;
    summary.wall_s = whole.wall_s();
    summary.converged = verdict == Minimization::Converged;
    summary.largest_force = descent.largest_force();
    set_rates(summary, setup_.parameters.dt, std::max<std::int64_t>(1, summary.steps), whole);
    set_phases(summary);
    summary.drift = summary.drift_error = std::numeric_limits<double>::quiet_NaN();
    const char* why = verdict == Minimization::Converged          ? "converged"
                      : verdict == Minimization::MachinePrecision ? "step below machine precision"
                      : is_stopped                                ? "stopped, not converged"
                                                                  : "all steps done, not converged";
    observer.message(fmt::format(
        "steepest descent: {} after {} steps; potential {:.8g} kJ/mol, largest force {:.4g} kJ/mol/nm on {}", why, summary.steps,
        descent.potential(), descent.largest_force(), setup_.system.topology.describe(descent.largest_force_atom())));
    return summary;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template ClusterArray<double> RankRun<N>::evaluate_static();                                                                 \
    template RunSummary RankRun<N>::minimize(std::int64_t, Observer&, const std::atomic<bool>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
