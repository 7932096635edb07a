// SPDX-License-Identifier: Apache-2.0
// A simulation in one numeric policy: sets up a rank, then plans the flags of each step, takes it, and tells the observers.
#pragma once

#include "engine/rank.hpp"
#include "engine/simulation.hpp"
#include "engine/snapshot.hpp"

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
    virtual SavedState saved_state() = 0;
};

template <class N>
class Engine final : public Simulation::Implementation
{
public:
    Engine(System&& system, RunParameters&& parameters, int threads, const SavedState* saved);

    const PlanSummary& plan() const override { return plan_; }
    SinglePoint evaluate() override;
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;
    SavedState saved_state() override;

private:
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
    const std::int64_t first_step_;                    // of the run, which another simulation may have begun
    Snapshot<N> at_repartition_;                       // the last one
    std::vector<std::pair<double, double>> conserved_; // (ps, kJ/mol) of the observed steps
    PlanSummary plan_;
};

} // namespace parhelion
