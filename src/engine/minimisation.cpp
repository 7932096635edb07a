// SPDX-License-Identifier: Apache-2.0
#include "engine/minimisation.hpp"

#include "dynamics/minimise/minimiser.hpp"
#include "engine/run_length.hpp"
#include "engine/schedule.hpp"
#include "model/minimisers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace parhelion {

namespace {

class Reporter final : public MinimiserListener
{
public:
    Reporter(MinimisedSystem& system, const RunSetup& setup, std::int64_t first, std::int64_t steps, Observer& observer,
             const std::atomic<bool>& stop)
        : system_(system), schedule_(setup.parameters, 1, first, first + steps), first_(first), last_(first + steps),
          step_(first), time_step_(setup.parameters.dt), start_time_(setup.parameters.start_time), observer_(observer),
          stop_(stop)
    {
    }

    // Output intervals count accepted points, since a rejected one is not reported.
    void accepted(const SurfacePoint& base) override
    {
        base_ = base;
        due_ = schedule_.flags(first_ + accepted_++).due;
        observables_ = system_.observables();
        observables_.step = step_, observables_.time = time(), observables_.largest_force = base.largest_force;
        if (due_.any_frame()) { tell_frame(due_); }
        observer_.energies(due_, observables_);
        if (accepted_ > 1) { return; }
        const std::string remark = system_.range_remark();
        if (!remark.empty()) { observer_.message(fmt::format("note: step {}: {}", step_, remark)); }
    }

    bool goes_on() override
    {
        if (step_ == last_ || stop_.load(std::memory_order_relaxed)) { return false; }
        observer_.progress(step_ - first_, steps_in_all(first_, last_), std::numeric_limits<double>::quiet_NaN());
        ++step_;
        return true;
    }

    // The .trr, the energy file and the log end with the base, also if its step is none of their intervals. The surface must be
    // at the base.
    void end()
    {
        const OutputDue last = schedule_.flags_at_end(first_ + accepted_ - 1).due;
        OutputDue missing;
        missing.unaveraged = true;
        missing.x = last.x && !due_.x, missing.v = last.v && !due_.v, missing.f = last.f && !due_.f;
        missing.energies = last.energies && !due_.energies, missing.log = !due_.log;
        if (missing.f) { missing.f = system_.evaluate().has_value(); } // the latest forces may be those of another point
        if (missing.any_frame()) { tell_frame(missing); }
        if (missing.energies || missing.log) { observer_.energies(missing, observables_); }
    }

    std::int64_t steps() const { return step_ - first_; }
    bool has_all_steps() const { return step_ == last_; }
    bool has_base() const { return accepted_ > 0; }
    const SurfacePoint& base() const { return base_; }

private:
    void tell_frame(const OutputDue& due)
    {
        Frame frame = system_.frame(due);
        frame.step = observables_.step, frame.time = observables_.time;
        observer_.frame(due, std::move(frame));
    }
    double time() const { return start_time_ + static_cast<double>(step_) * time_step_; }

    MinimisedSystem& system_;
    Schedule schedule_;
    const std::int64_t first_, last_;
    std::int64_t step_, accepted_ = 0;
    const double time_step_, start_time_; // ps
    Observer& observer_;
    const std::atomic<bool>& stop_;
    SurfacePoint base_;
    Observables observables_; // of the base
    OutputDue due_;           // what was written of the base
};

const char* reason_of(MinimisationEnd end, bool is_stopped)
{
    switch (end)
    {
    case MinimisationEnd::Converged:
        return "converged";
    case MinimisationEnd::MachinePrecision:
        return "step below machine precision";
    case MinimisationEnd::NoLowerEnergy:
        return "no lower energy along the forces, to machine precision";
    case MinimisationEnd::Stopped:
        break;
    }
    return is_stopped ? "stopped, not converged" : "all steps done, not converged";
}

} // namespace

RunSummary minimise(MinimisedSystem& system, const RunSetup& setup, std::int64_t first, std::int64_t steps, Observer& observer,
                    const std::atomic<bool>& stop)
{
    const Stopwatch whole;
    const RunParameters& p = setup.parameters;
    Reporter reporter(system, setup, first, steps, observer, stop);
    const auto run_minimiser = p.integrator == Integrator::ConjugateGradients ? conjugate_gradients
                               : p.integrator == Integrator::LBfgs            ? l_bfgs
                                                                              : steepest_descent;
    const MinimisationEnd end =
        run_minimiser(system, {p.em_step, p.em_tolerance, system.energy_rounding(), p.cg_restart, p.lbfgs_corrections}, reporter);
    RunSummary summary;
    summary.drift = summary.drift_error = std::numeric_limits<double>::quiet_NaN();
    if (!reporter.has_base()) // the first evaluation failed
    {
        summary.end = RunEnd::Stopped;
        return summary;
    }
    const bool is_stopped = end == MinimisationEnd::Stopped && !reporter.has_all_steps();
    summary.end = is_stopped ? RunEnd::Stopped : RunEnd::Done;
    summary.steps = reporter.steps();
    summary.wall_s = whole.wall_s();
    summary.lists_built = system.lists_built();
    summary.converged = end == MinimisationEnd::Converged;
    summary.largest_force = reporter.base().largest_force;
    set_rates(summary, p.dt, std::max<std::int64_t>(1, summary.steps), whole);
    reporter.end();
    const SurfacePoint& best = reporter.base();
    observer.message(fmt::format("{}: {} after {} steps; potential {:.8g} kJ/mol, largest force {:.4g} kJ/mol/nm on {}",
                                 minimiser(p.integrator).name, reason_of(end, is_stopped), summary.steps, best.potential,
                                 best.largest_force, setup.system.topology.describe(best.largest_force_atom)));
    return summary;
}

} // namespace parhelion
