// SPDX-License-Identifier: Apache-2.0
// A simulation in one numeric policy: sets up a rank, then plans the flags of each step, takes it, and tells the observers.
#pragma once

#include "engine/rank.hpp"
#include "engine/simulation.hpp"

#include <chrono>

namespace parhelion {

class Simulation::Implementation
{
public:
    virtual ~Implementation() = default;
    virtual const PlanSummary& plan() const = 0;
    virtual SinglePoint evaluate() = 0;
    virtual RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) = 0;
    virtual Frame frame() = 0;
    virtual Frame last_good_frame() = 0;
};

template <class N>
class Engine final : public Simulation::Implementation
{
public:
    Engine(System&& system, RunParameters&& parameters, int threads);

    const PlanSummary& plan() const override { return plan_; }
    SinglePoint evaluate() override;
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;

private:
    // What a step changes and a run keeps, so that a step can be taken and taken back.
    struct Snapshot
    {
        std::int64_t step;
        ParticleState<N> state;
        ThermostatState thermostat;
        BarostatState barostat;
        double bath_heat;
        KineticEnergies half_step;
    };
    Snapshot snapshot() const;
    void restore(Snapshot&& saved);

    Rank<N> make_rank();
    void start();
    Frame gather(const OutputDue& due, const ParticleState<N>& state);
    // One step, its frames and its energies to the observers.
    void advance(const StepFlags& flags, Observer& observer);
    RunSummary integrate(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    RunSummary minimize(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    void evaluate_static(Observer& observer, const StepFlags& flags);
    void summarise(RunSummary& summary, std::int64_t timed_steps, double timed_s) const;

    System system_;
    RunParameters parameters_;
    CpuQueue queue_;
    Rank<N> rank_;
    ParticleState<N> last_good_; // at the last repartition; empty before the first
    std::int64_t last_good_step_ = 0;
    std::vector<std::pair<double, double>> conserved_; // (ps, kJ/mol) of the observed steps
    PlanSummary plan_;
};

} // namespace parhelion
