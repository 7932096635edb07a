// SPDX-License-Identifier: Apache-2.0
// Thermostat, barostat and observables on the GPU. Few steps need them; one thread computes them between two kernels of a step,
// so that a run never waits for a number to come to the host.
//
// The formulas are the CPU's (dynamics/thermostat_body.hpp, barostat_body.hpp); the order of events is that of engine/step.hpp.
// Each observed step leaves a record in a ring in pinned host memory, which the host reads when the GPU has passed that step.
// Cost: two to five launches in a step that couples or is observed, none in others.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "dynamics/barostat.hpp"
#include "dynamics/gpu/kinetic_gpu.hpp"
#include "dynamics/gpu/update_gpu.hpp"
#include "dynamics/thermostat_body.hpp"
#include "engine/observer.hpp"
#include "engine/schedule.hpp"
#include "halo/gpu/copies.hpp"
#include "interactions/pair/dispersion.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace parhelion {

// Fixed for the run.
struct CouplingPlan
{
    TemperatureCoupling temperature;
    PressureCoupling pressure;
    StochasticDynamics stochastic; // without groups: not stochastic
    DispersionTail dispersion;
    std::int64_t lincs_constraints = 0; // of the system
    double dt = 0, start_time = 0;      // ps; the latter of step 0
    Mobility mobility;                  // of motion groups; empty where no atom is frozen
    ComMode com_mode = ComMode::Linear; // of what is removed
};

// What of the coupling a checkpoint keeps: one, and one per temperature group.
struct CouplingState
{
    BarostatState barostat;
    double bath_heat = 0; // as Coupling::bath_heat
};
struct CouplingGroup
{
    GroupThermostatState thermostat;
    Mat3<double> half_step; // kinetic energy of v as of the last step that asked for it, kJ/mol
};

template <class N>
class GpuCoupling
{
public:
    // At most `records` observed steps are kept.
    GpuCoupling(GpuQueue& queue, const CouplingPlan& plan, const ComGroups& com, std::size_t records);

    // Before the update: what the kick does to velocities in the step at this offset, by motion group, on the device.
    const GroupKick* couple(GpuQueue& queue, std::int64_t step_offset, const StepTasks& flags, GpuState<N>& state);
    // The arguments of the step's update.
    UpdateArgs<N, CopyTask<N>> update_args(std::int64_t step_offset, const StepTasks& flags, const GroupKick* kick);
    // After it. Every rank calls these in turn; between them, what they have put into com_sums(), and then into sums(), is added
    // up over the ranks.
    void sum_com_motion(GpuQueue& queue, const StepTasks& flags, GpuState<N>& state);
    void sum(GpuQueue& queue, const StepTasks& flags, GpuState<N>& state);
    // Centre-of-mass motion, kinetic energy, observables, box. copies: as of the positions afterwards.
    void finish(GpuQueue& queue, std::int64_t step_offset, const StepTasks& flags, const GpuUpdate& update,
                const CopyTask<N>& copies, GpuState<N>& state);
    // Does finish() move atoms, back onto their constraints, or back to where they are frozen? Copies of positions travel with
    // the former, which the CPU does without where Parrinello-Rahman leaves frozen atoms behind.
    bool reconstrains(const StepTasks& flags) const
    {
        return flags.couple_pressure && (plan_.pressure.kind != Barostat::ParrinelloRahman || !plan_.mobility.empty());
    }
    // Does finish() look at the sums?
    static bool needs_sums(const StepTasks& flags) { return flags.remove_com || flags.kinetic || flags.couple_pressure; }
    std::span<ScalarSum<N>> com_sums();
    std::span<ScalarSum<N>> sums(); // all others
    // Do temperatures change with time, by a kernel of couple() in every step?
    bool is_annealed() const { return !plan_.temperature.points.empty(); }
    bool collects_heat() const { return !plan_.stochastic.groups.empty(); }
    // Heat of stochastic steps since a step was finished, as part of sums(), goes to the coupling state. Call before that is
    // kept.
    void collect_heat(GpuQueue& queue, GpuState<N>& state);
    void forget_step(GpuQueue& queue); // what an abandoned one has left: sums, a report

    DeviceBuffer<CouplingState>& state() { return state_; }
    DeviceBuffer<CouplingGroup>& groups() { return groups_; }
    std::size_t group_count() const { return groups_.size(); }
    const DeviceBuffer<FailureReport>& failure() const { return failure_; }
    // Of a bond of LINCS from its length, in units of deviation_unit, so far; 0 while none is above what is promised.
    const DeviceBuffer<std::int32_t>& largest_deviation() const { return largest_deviation_; }
    // Observed steps are numbered from 0 as they happen. Valid once the GPU has passed them, until `records` more.
    Observables observables(std::int64_t number) const;

    // What the kernels read.
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
    DeviceBuffer<CouplingState> state_;
    DeviceBuffer<CouplingGroup> groups_;
    DeviceBuffer<FailureReport> failure_;
    DeviceBuffer<std::int32_t> largest_deviation_;
    // Sums of a step, zero between steps: constraint virial 9, deviations of bonds 1, heat 1, kinetic energies, centres of mass.
    DeviceBuffer<ScalarSum<N>> sums_;
    DeviceBuffer<Vec3<double>> velocity_factor_;
    DeviceBuffer<Box<double>> box_before_; // its last scaling
    DeviceBuffer<std::int64_t> observed_;  // steps so far
    PinnedBuffer<ObservedStep> records_;
    PinnedBuffer<double> record_temperatures_; // [record][group], K
};

} // namespace parhelion
