// SPDX-License-Identifier: Apache-2.0
// Decides before each step which tasks the step has besides moving atoms. The decision
// follows from the intervals in the parameters alone, so all ranks get the same result.
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
    bool repartition = false; // a new atom order and a new pair list before the forces
    bool observe = false;     // the step has Observables, and therefore energies and virial
    bool kinetic =
        false; // the half-step kinetic energy after this step is needed, by the mean of this or the next step or by coupling
    bool full_step = false; // velocity Verlet: v(t) is needed, by the observables, output or coupling
    bool begins = false;    // velocity Verlet: the velocities before the step are v(t), not v(t - dt/2)
    bool couple_temperature = false;
    bool finish_coupling = false; // velocity Verlet: a Nose-Hoover chain ends the coupling step that it began in the step before
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

// The data that decide which kernels a step queues. A step on GPUs gets no other input, so equal patterns queue the same work.
struct StepPattern : StepTasks
{
    bool frame = false, frame_forces = false; // frame: some part of a frame is due; frame_forces: its forces are due

    explicit StepPattern(const StepFlags& flags)
        : StepTasks(flags), frame(flags.due.any_frame()), frame_forces(flags.due.wants_f())
    {
    }
    auto operator<=>(const StepPattern&) const = default;
};

class Schedule
{
public:
    // Intervals in `parameters` are resolved (> 0) where their feature is on. `parameters` must outlive this object.
    // `first` and `last` are the first and the last step of the run. Both steps are observed; the last is written.
    Schedule(const RunParameters& parameters, int list_interval, std::int64_t first, std::int64_t last)
        : p_(parameters), list_interval_(list_interval), first_(first), last_(last)
    {
    }

    int list_interval() const { return list_interval_; }
    // Sets the list interval. It counts from the next step that begins a list.
    void set_list_interval(int interval) { list_interval_ = interval; }

    // Sets the interval of steps at which an observer alone gets a frame and energies, from step 0 on; 0: never.
    void set_stream_interval(int interval) { stream_interval_ = interval; }

    // Returns the flags of the step that ends a run, which may be before the planned last step.
    StepFlags flags_at_end(std::int64_t step) const
    {
        Schedule ending = *this;
        ending.last_ = step;
        StepFlags f = ending.flags(step);
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
        f.due.f = written(step, p_.f_out);
        f.due.compressed_x = every(step, p_.compressed_out);
        f.due.energies = written(step, p_.energy_out);
        f.due.log = step == first_ || step == last_ || every(step, p_.log_out);
        f.due.stream = every(step, stream_interval_);
        f.due.unaveraged = f.due.stream && !observed_for_files(step);
        f.mesh = mesh_weights(step, f.observe || f.due.f);
        set_full_step(p_, step, f);
        return f;
    }

    // Sets what the step needs of velocity Verlet. Everything else in `flags` must be set.
    static void set_full_step(const RunParameters& p, std::int64_t step, StepFlags& flags)
    {
        if (!is_velocity_verlet(p.integrator)) { return; }
        flags.begins = step == p.first_step && !p.continuation;
        const bool at_full_step = p.integrator == Integrator::VelocityVerlet;
        flags.finish_coupling = at_full_step && p.thermostat == Thermostat::NoseHoover && step > p.first_step &&
                                couples(step, p.temperature_interval);
        const bool is_needed = flags.observe || flags.couple_temperature || flags.finish_coupling;
        flags.full_step = (at_full_step && is_needed) || flags.due.wants_v();
    }

private:
    static constexpr int watch_interval = 100; // maximum number of steps between two temperature checks (engine/list_watch.hpp)

    static bool every(std::int64_t step, int interval) { return interval > 0 && step % interval == 0; }
    bool written(std::int64_t step, int interval) const { return every(step, interval) || (interval > 0 && step == last_); }
    // Returns the weights of mesh forces. wants_plain: the step needs unweighted forces, whether or not the mesh acts in it.
    MeshWeights mesh_weights(std::int64_t step, bool wants_plain) const
    {
        const int interval = mesh_interval(p_), weight = every(step, interval) ? interval : 0;
        return wants_plain ? MeshWeights{1, weight - 1} : MeshWeights{weight, 0};
    }
    bool couples_temperature(std::int64_t step) const
    {
        if (p_.thermostat == Thermostat::None) { return false; }
        if (p_.integrator == Integrator::VelocityVerlet) { return every(step, p_.temperature_interval); }
        return couples(step, p_.temperature_interval);
    }
    bool observed(std::int64_t step) const { return observed_for_files(step) || every(step, stream_interval_); }
    bool observed_for_files(std::int64_t step) const
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
            return couples(step + 1, p_.pressure_interval); // this step uses the previous step's pressure
        default:
            return couples(step, p_.pressure_interval) || couples(step - 1, p_.pressure_interval); // completes the work
        }
    }

    const RunParameters& p_;
    int list_interval_, stream_interval_ = 0;
    std::int64_t first_, last_;
};

} // namespace parhelion
