// SPDX-License-Identifier: Apache-2.0
// Thermostat, barostat and observables on the GPU. Few steps need them. In these steps, one GPU
// thread computes them between two kernels, so a run never waits for a value to reach the host.
//
// The formulas are the CPU's (dynamics/thermostat_body.hpp, barostat_body.hpp). The order of events is that of
// engine/step.hpp. Each observed step writes a record into a ring in pinned host memory. The host reads it when the GPU
// has passed that step. Cost: two to five kernel launches in a step that couples or is observed, none in other steps.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "dynamics/barostat.hpp"
#include "dynamics/gpu/kinetic_gpu.hpp"
#include "dynamics/gpu/update_gpu.hpp"
#include "dynamics/thermostat_body.hpp"
#include "engine/gpu/coupling_state.hpp"
#include "engine/observe_body.hpp"
#include "engine/observer.hpp"
#include "engine/schedule.hpp"
#include "halo/gpu/copies.hpp"
#include "interactions/pair/dispersion.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace parhelion {

// Parameters that are fixed for the run.
struct CouplingPlan
{
    TemperatureCoupling temperature;
    PressureCoupling pressure;
    StochasticDynamics stochastic; // has no groups without stochastic dynamics
    DispersionTail dispersion;
    std::int64_t lincs_constraints = 0; // number of LINCS constraints in the whole system
    double dt = 0, start_time = 0;      // ps; start_time is the time of step 0
    Mobility mobility;                  // indexed by motion group; empty if no atom is frozen
    ComMode com_mode = ComMode::Linear; // the kind of motion that is removed
};

template <class N>
class GpuCoupling
{
public:
    // Keeps the records of at most `records` observed steps.
    GpuCoupling(GpuQueue& queue, const CouplingPlan& plan, const ComGroups& com, std::size_t records);

    // Returns the kick coefficients of the step at this offset, by motion group, in device memory. Call it before the update.
    const GroupKick* couple(GpuQueue& queue, std::int64_t step_offset, const StepTasks& flags, GpuState<N>& state);
    // The following functions serve velocity Verlet (engine/full_step.hpp): the arguments of GpuUpdate's functions for it; the
    // kinetic energies of the present velocities, whose sums must be added up over the ranks before couple(); and after
    // couple() the factors on v(t) of a Nose-Hoover chain that ends its coupling step.
    UpdateArgs<N, CopyTask<N>> go_back_args(std::int64_t step_offset);
    UpdateArgs<N, CopyTask<N>> full_step_args(std::int64_t step_offset);
    void sum_early(GpuQueue& queue, GpuState<N>& state);
    std::span<ScalarSum<N>> early_sums() { return {early_sums_.data(), early_sums_.size()}; }
    // Returns true if couple() needs kinetic energies of v(t), or of v(t - dt/2) at the start of a run.
    bool needs_early_sums(const StepTasks& flags) const { return couples_at_full_step() ? flags.full_step : flags.begins; }
    void scale_to_full_step(GpuQueue& queue, GpuState<N>& state);
    // Returns true if the kinetic energy of a step is that of v(t).
    bool couples_at_full_step() const { return plan_.temperature.at_full_step; }
    // The arguments of GpuUpdate's functions for minimisations. rest_args(): velocities become forces, and the virial is added.
    // move_args(): atoms move by `factor` times their velocities. Neither limits forces.
    UpdateArgs<N, CopyTask<N>> rest_args();
    void stop_atoms(GpuQueue& queue, GpuState<N>& state); // sets all velocities to 0, those of virtual sites included
    UpdateArgs<N, CopyTask<N>> move_args(double factor);
    // Returns the arguments of the step's update.
    UpdateArgs<N, CopyTask<N>> update_args(std::int64_t step_offset, const StepTasks& flags, const GroupKick* kick);
    // Call these functions after the update, in the order of declaration, on every rank. After
    // sum_com_motion(), com_sums() must be added up over the ranks. After sum(), sums() must be added up.
    void sum_com_motion(GpuQueue& queue, const StepTasks& flags, GpuState<N>& state);
    void sum(GpuQueue& queue, const StepTasks& flags, GpuState<N>& state);
    // Removes centre-of-mass motion; computes kinetic energy, observables and box. `copies` sends copies of the final positions.
    void finish(GpuQueue& queue, std::int64_t step_offset, const StepTasks& flags, const GpuUpdate& update,
                const CopyTask<N>& copies, GpuState<N>& state);
    // Returns true if finish() moves atoms: onto constraints, or frozen atoms back. The kernel that constrains also sends
    // copies of positions. It therefore runs also for frozen atoms under Parrinello-Rahman, where the CPU does not constrain.
    bool reconstrains(const StepTasks& flags) const
    {
        return flags.couple_pressure && (plan_.pressure.kind != Barostat::ParrinelloRahman || !plan_.mobility.empty());
    }
    // Returns true if finish() needs sums over all ranks.
    static bool needs_sums(const StepTasks& flags)
    {
        return flags.remove_com || flags.kinetic || flags.couple_pressure || flags.observe;
    }
    std::span<ScalarSum<N>> com_sums();
    std::span<ScalarSum<N>> sums(); // all sums but those of com_sums()
    // Returns true if temperatures change with time; couple() then launches a kernel in every step.
    bool is_annealed() const { return !plan_.temperature.points.empty(); }
    bool collects_heat() const { return !plan_.stochastic.groups.empty(); }
    // Adds the heat of stochastic steps since the last finish(), which is a part of sums(),
    // to the coupling state. Call it before the coupling state is kept in a snapshot.
    void collect_heat(GpuQueue& queue, GpuState<N>& state);
    void forget_step(GpuQueue& queue); // clears sums and failure report of an abandoned step

    GpuCouplingState& state() { return state_; }
    std::size_t group_count() const { return plan_.temperature.groups.size(); }
    const DeviceBuffer<FailureReport>& failure() const { return failure_; }
    // Returns the largest relative deviation of a LINCS bond from its length so
    // far, in units of deviation_unit. It is 0 while no bond exceeds the tolerance.
    const DeviceBuffer<std::int32_t>& largest_deviation() const { return largest_deviation_; }
    // Returns observed step `number`, counted from 0. Its record is valid from when the GPU passes it until `records` more steps.
    Observables observables(std::int64_t number) const;

    // The arguments of the kernels.
    struct Args;

private:
    Args args(std::int64_t step_offset, const StepTasks& flags, GpuState<N>& state);
    std::size_t motion_groups() const { return std::max(plan_.temperature.groups.size(), plan_.mobility.size()); }

    CouplingPlan plan_;
    GpuComGroups com_groups_;
    DeviceBuffer<TemperatureCoupling::Group> temperature_groups_;
    DeviceBuffer<AnnealingPoint> annealing_points_;
    DeviceBuffer<StochasticDynamics::Group> friction_;
    DeviceBuffer<GroupKick> free_kick_, kick_;
    DeviceBuffer<GroupKick> half_kick_, kick_back_; // half a kick, and half a kick back (velocity Verlet)
    DeviceBuffer<GroupKick> to_force_, no_kick_;    // velocities become forces, or stay (minimisations)
    DeviceBuffer<Vec3<double>> zero_;               // factor on velocities
    DeviceBuffer<double> full_step_factor_;         // indexed by temperature group
    DeviceBuffer<ScalarSum<N>> early_sums_;         // kinetic energies, zero before sum_early() and after couple()
    GpuCouplingState state_;
    DeviceBuffer<Mat3<double>> full_step_; // velocity Verlet: kinetic energy of v(t), kJ/mol, by temperature group
    DeviceBuffer<GivenEnergy> given_;      // velocity Verlet: that of v(t); has one element
    DeviceBuffer<FailureReport> failure_;
    DeviceBuffer<std::int32_t> largest_deviation_;
    // Sums of a step, zero between steps: constraint virial 9, deviations of bonds 1, heat 1, kinetic energies, centres of mass.
    DeviceBuffer<ScalarSum<N>> sums_;
    DeviceBuffer<Vec3<double>> velocity_factor_;
    DeviceBuffer<Box<double>> box_before_; // the box before its last scaling
    DeviceBuffer<std::int64_t> observed_;  // number of observed steps so far
    PinnedBuffer<ObservedStep> records_;
    PinnedBuffer<double> record_temperatures_; // [record][group], K
};

} // namespace parhelion
