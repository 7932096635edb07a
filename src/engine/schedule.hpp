// SPDX-License-Identifier: Apache-2.0
// What each step must do besides moving atoms, decided from the parameters' intervals alone, before the step: the same on every
// rank.
#pragma once

#include "dynamics/thermostat.hpp"
#include "engine/observer.hpp"
#include "interactions/force_buffers.hpp"
#include "interactions/mesh/mesh_weights.hpp"
#include "model/run_parameters.hpp"

#include <compare>

namespace parhelion {

struct StepTasks
{
    bool repartition = false; // new atom order and pair list before the forces
    bool observe = false;     // Observables of this step are wanted, hence energies and virial
    bool kinetic =
        false; // the half-step kinetic energy after the step is wanted: by this step's or the next one's mean, or by coupling
    bool couple_temperature = false;
    bool couple_pressure = false;
    bool remove_com = false;
    MeshWeights mesh;

    Compute compute() const { return observe ? Compute::ForcesEnergiesVirial : Compute::Forces; }
    auto operator<=>(const StepTasks&) const = default;
};

struct StepFlags : StepTasks
{
    OutputDue due;
};

// All that decides which kernels a step queues. The step on GPUs is told nothing else, so steps of equal patterns queue the same.
struct StepPattern : StepTasks
{
    bool frame = false, frame_forces = false; // some part of a frame is due; forces are

    explicit StepPattern(const StepFlags& flags) : StepTasks(flags), frame(flags.due.any_frame()), frame_forces(flags.due.f) {}
    auto operator<=>(const StepPattern&) const = default;
};

class Schedule
{
public:
    // The intervals in `parameters` are resolved (> 0) where their feature is on; `parameters` must outlive this. `first` and
    // `last` are the first and the last step of the run: both are observed, the last is written.
    Schedule(const RunParameters& parameters, int list_interval, std::int64_t first, std::int64_t last)
        : p_(parameters), list_interval_(list_interval), first_(first), last_(last)
    {
    }

    int list_interval() const { return list_interval_; }
    // From the next step on that begins a list.
    void set_list_interval(int interval) { list_interval_ = interval; }

    // Of the step that observes the configuration with which a run ends, which may be before the last step.
    StepFlags flags_at_end(std::int64_t step) const
    {
        StepFlags f = Schedule(p_, list_interval_, first_, step).flags(step);
        f.repartition = true;
        return f;
    }

    StepFlags flags(std::int64_t step) const
    {
        StepFlags f;
        f.repartition = (step - first_) % list_interval_ == 0;
        f.observe = observed(step);
        f.couple_temperature = couples_temperature(step);
        f.kinetic = f.observe || observed(step + 1) || couples_temperature(step + 1) || every(step + 1, watch_interval);
        f.couple_pressure = p_.barostat != Barostat::None && couples(step, p_.pressure_interval);
        f.remove_com = p_.com_mode != ComMode::None && every(step, p_.com_interval);
        f.due.x = written(step, p_.x_out);
        f.due.v = written(step, p_.v_out);
        f.due.f = every(step, p_.f_out);
        f.due.compressed_x = every(step, p_.compressed_out);
        f.due.energies = written(step, p_.energy_out);
        f.due.log = step == first_ || step == last_ || every(step, p_.log_out);
        f.mesh = mesh_weights(step, f.observe || f.due.f);
        return f;
    }

private:
    static constexpr int watch_interval = 100; // at most, from one look at the temperature to the next (engine/list_watch.hpp)

    static bool every(std::int64_t step, int interval) { return interval > 0 && step % interval == 0; }
    bool written(std::int64_t step, int interval) const { return every(step, interval) || (interval > 0 && step == last_); }
    // wants_plain: the step's plain forces are wanted, whether the mesh moves atoms in it or not.
    MeshWeights mesh_weights(std::int64_t step, bool wants_plain) const
    {
        const int interval = mesh_interval(p_), weight = every(step, interval) ? interval : 0;
        return wants_plain ? MeshWeights{1, weight - 1} : MeshWeights{weight, 0};
    }
    bool couples_temperature(std::int64_t step) const
    {
        return p_.thermostat != Thermostat::None && couples(step, p_.temperature_interval);
    }
    bool observed(std::int64_t step) const
    {
        if (step == first_ || step == last_ || every(step, p_.energy_calc) || every(step, p_.energy_out) ||
            every(step, p_.log_out))
        {
            return true;
        }
        switch (p_.barostat)
        {
        case Barostat::None:
            return false;
        case Barostat::ParrinelloRahman:
            return couples(step + 1, p_.pressure_interval); // acts on the previous step's pressure
        default:
            return couples(step, p_.pressure_interval) || couples(step - 1, p_.pressure_interval); // and its work
        }
    }

    const RunParameters& p_;
    int list_interval_;
    std::int64_t first_, last_;
};

} // namespace parhelion
