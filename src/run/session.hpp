// SPDX-License-Identifier: Apache-2.0
// A simulation without files, which its caller advances and inspects. The Python module is built
// on it. A whole run with files is in run.hpp. A session and a run take steps by
// Simulation::run(). So they yield the same bits, and each can read the checkpoints of the other.
//
//     Diagnostics diagnostics;
//     Session session(read_input(input, Purpose::Run, diagnostics, tell), {}, {});
//     session.run(1000, {}, [](Look&&) {}, stop);
//     const Look now = session.look();
//
// Calls must come one at a time, from any thread. A call costs as much as the work
// that it names: steps, a copy of the configuration, an evaluation of forces.
#pragma once

#include "engine/external_force.hpp"
#include "engine/options.hpp"
#include "engine/simulation.hpp"
#include "io/input/load.hpp"
#include "io/input/named_list.hpp"
#include "run/energy_table.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

// A configuration and its energies, in the order and the units of Session::energy_names().
struct Look
{
    Frame frame; // the configuration; it has forces only if they were asked for
    std::vector<double> energies;
    Mat3<double> virial{};              // virial of the forces alone, kJ/mol
    std::vector<std::string> remarks{}; // remarks on the validity of the values
};

class Session
{
public:
    // Throws the errors of Simulation's constructor, and InputError E152 if the box is too small, E155 for atoms at one place.
    Session(LoadedInput input, const RunNumerics& numerics, const RunPlacement& placement);

    const LoadedInput& input() const { return input_; }
    const PlanSummary& plan() const { return simulation_->plan(); }
    const std::vector<std::string>& energy_names() const { return table_.names(); } // GROMACS' names
    std::int64_t step() const { return step_; }                                     // the present step

    // Adds a force, which acts from now on and has an energy of the name "External". It throws the errors
    // of Simulation::add_force(), and has the same precondition. Checkpoints do not contain such forces.
    void add_force(std::shared_ptr<ExternalForce> force);

    // Takes `steps` steps or, if that is empty, the number in the parameters. Calls `told` at the intervals of `every`
    // and at the last step, from the first rank's thread; `told` must not throw. Calls `said` with messages. May end
    // early, as Simulation::run() does. If this function throws, only last_good_frame() may be called afterwards.
    struct Interests
    {
        OutputIntervals every;
        std::function<void(Look&&)> told;
        std::function<void(const std::string&)> said;
    };
    RunSummary run(std::optional<std::int64_t> steps, const Interests& interests, const std::atomic<bool>& stop);

    // Returns the present configuration, without forces.
    Look look();
    // Returns the present configuration with forces. Throws PhysicsError if a number is not finite or an
    // external force fails. The overload for another configuration also throws the errors of the constructor.
    Look evaluate();
    // Evaluates another configuration of these atoms, at rest. Constraints are not applied first (except in a minimisation),
    // but virtual sites are placed. The session does not change. Preconditions: one finite position per atom; a positive box.
    Look evaluate(std::vector<Vec3<double>> x, const Box<double>& box) const;
    Frame last_good_frame() { return simulation_->last_good_frame(); }

    // Writes PREFIX.cpt. Renames the previous checkpoint to PREFIX.prev.cpt. Throws SystemError.
    void save(const std::string& prefix);
    // Restores the state of a checkpoint that a session or a run wrote. Returns a remark, if any. Throws the InputErrors
    // of CheckpointFiles::read(), E110 if there is no checkpoint, E191 if it has other input or another precision.
    std::string restore(const std::string& prefix);

private:
    Look point_of(Simulation& simulation) const;
    // Returns a new simulation of this input with the same external forces.
    Simulation make(System system, RunParameters parameters, const SavedState* saved) const;

    const LoadedInput input_;
    const SimulationOptions options_;
    std::vector<std::shared_ptr<ExternalForce>> forces_;
    EnergyTable table_;
    const NamedList<std::string> identity_;
    std::optional<Simulation> simulation_;
    std::int64_t step_;
    std::optional<Observables> observed_; // observables of the latest step
};

} // namespace parhelion
