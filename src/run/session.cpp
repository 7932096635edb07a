// SPDX-License-Identifier: Apache-2.0
#include "run/session.hpp"

#include "base/error.hpp"
#include "io/input/check.hpp"
#include "io/input/checkpoint.hpp"
#include "io/input/one_place.hpp"
#include "io/input/run_identity.hpp"
#include "run/single_point.hpp"

#include <fmt/format.h>
#include <utility>

namespace parhelion {

namespace {

// Checks the input once more, because a caller may have changed it.
void expect_usable(System& system, const RunParameters& parameters)
{
    check_box(system.box, parameters, [](const char*) { return SourceLocation{}; });
    Diagnostics none;
    check_places({}, AtomsInOnePlace::Refuse, system, none);
}

LoadedInput checked(LoadedInput input)
{
    expect_usable(input.system, input.parameters);
    return input;
}

// Joins two events that the engine reports for one step: the configuration, then its energies.
class Joining final : public Observer
{
public:
    Joining(const EnergyTable& table, const Session::Interests& interests) : table_(table), interests_(interests) {}

    void frame(const OutputDue& due, Frame&& frame) override
    {
        if (!due.repeats_energies()) { frame_ = std::move(frame); } // else it is for files, and not all arrays are there
    }
    void energies(const OutputDue&, const Observables& observables) override
    {
        latest = observables;
        if (!frame_ || frame_->step != observables.step) { return; }
        if (interests_.told) { interests_.told({std::move(*frame_), table_.values(observables), observables.forces.virial}); }
        frame_.reset();
    }
    void message(const std::string& text) override
    {
        if (interests_.said) { interests_.said(text); }
    }

    std::optional<Observables> latest;

private:
    const EnergyTable& table_;
    const Session::Interests& interests_;
    std::optional<Frame> frame_;
};

} // namespace

Session::Session(LoadedInput input, const RunNumerics& numerics, const RunPlacement& placement)
    : input_(checked(std::move(input))), options_(numerics, placement, {}),
      table_(input_.system.topology, input_.parameters, input_.system.box),
      identity_(identify_run(input_.system, input_.parameters, numerics.text(), state_of(input_.hand_over))),
      simulation_(std::in_place, input_.system, input_.parameters, options_, state_of(input_.hand_over)),
      step_(input_.parameters.first_step)
{
}

void Session::add_force(std::shared_ptr<ExternalForce> force)
{
    simulation_->add_force(force);
    forces_.push_back(std::move(force));
    table_ = EnergyTable(input_.system.topology, input_.parameters, input_.system.box, ExternalForcesAct::Yes);
    observed_.reset();
}

Simulation Session::make(System system, RunParameters parameters, const SavedState* saved) const
{
    Simulation made(std::move(system), std::move(parameters), options_, saved);
    for (const std::shared_ptr<ExternalForce>& force : forces_) { made.add_force(force); }
    return made;
}

RunSummary Session::run(std::optional<std::int64_t> steps, const Interests& interests, const std::atomic<bool>& stop)
{
    PARHELION_EXPECTS(!steps || *steps >= 0);
    simulation_->set_output(interests.every);
    Joining observer(table_, interests);
    RunSummary summary = simulation_->run(steps.value_or(-1), observer, stop);
    step_ += summary.steps;
    observed_ = std::move(observer.latest);
    return summary;
}

Look Session::look()
{
    Frame frame = simulation_->frame();
    if (!observed_ || observed_->step != frame.step) { observed_ = simulation_->evaluate().observables; }
    return {std::move(frame), table_.values(*observed_), observed_->forces.virial};
}

Look Session::point_of(Simulation& simulation) const
{
    SinglePoint point = simulation.evaluate();
    expect_finite(simulation, point, input_.system.topology);
    Look look{simulation.frame(), table_.values(point.observables), point.observables.forces.virial};
    look.frame.f = std::move(point.forces);
    for (std::string* const remark : {&point.trouble, &point.remark})
    {
        if (!remark->empty()) { look.remarks.push_back(std::move(*remark)); }
    }
    return look;
}

Look Session::evaluate() { return point_of(*simulation_); }

Look Session::evaluate(std::vector<Vec3<double>> x, const Box<double>& box) const
{
    PARHELION_EXPECTS(x.size() == input_.system.x.size());
    System system = input_.system;
    if (system.restraint_reference.empty())
    {
        system.restraint_reference = std::move(system.x);
        system.restraint_reference_box = system.box;
    }
    system.x = std::move(x);
    system.box = box;
    expect_usable(system, input_.parameters);
    RunParameters parameters = input_.parameters;
    parameters.continuation = true;
    parameters.generate_velocities = false;
    Simulation there = make(std::move(system), std::move(parameters), nullptr);
    return point_of(there);
}

void Session::save(const std::string& prefix)
{
    SavedState state = simulation_->saved_state();
    OutputPosition nothing_written;
    nothing_written.next_energy_step = state.step;
    const std::size_t terms = table_.names().size();
    nothing_written.since_frame = nothing_written.whole_run = TermAverages(terms);
    nothing_written.blocks = BlockAverages(terms);
    CheckpointFiles(prefix).write({identity_, step_, nothing_written, std::move(state)});
}

std::string Session::restore(const std::string& prefix)
{
    CheckpointFiles files(prefix);
    std::string remark;
    const std::optional<Checkpoint> found = files.read(remark);
    if (!found) { throw InputError("E110", {files.newest(), 0}, "cannot be read: there is no such file."); }
    const std::string changed = difference(found->run, identity_);
    if (!changed.empty())
    {
        throw InputError("E191", {files.newest(), 0},
                         fmt::format("is of another run: {}. Load the input that it was made with.", changed));
    }
    simulation_.emplace(make(input_.system, input_.parameters, &found->state));
    step_ = found->state.step;
    observed_.reset();
    // A checkpoint has the state at the latest rebuild of the pair list. The steps since then are repeated.
    if (found->reached > step_) { run(found->reached - step_, {}, std::atomic<bool>{false}); }
    return remark;
}

} // namespace parhelion
