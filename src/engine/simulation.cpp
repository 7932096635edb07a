// SPDX-License-Identifier: Apache-2.0
#include "engine/simulation.hpp"

#include "base/error.hpp"
#include "engine/engine.hpp"

namespace parhelion {

namespace {

std::unique_ptr<Simulation::Implementation> make_engine(System&& system, RunParameters&& parameters,
                                                        const SimulationOptions& options, const SavedState* saved)
{
    const bool mixed = options.precision == Precision::Mixed, fast = options.summation == Summation::Fast;
    const auto make = [&](auto policy) -> std::unique_ptr<Simulation::Implementation> {
        return std::make_unique<Engine<decltype(policy)>>(std::move(system), std::move(parameters), options, saved);
    };
    if (mixed) { return fast ? make(Mixed{}) : make(MixedReproducible{}); }
    return fast ? make(Double{}) : make(DoubleReproducible{});
}

} // namespace

Simulation::Simulation(System system, RunParameters parameters, const SimulationOptions& options, const SavedState* saved)
    : implementation_(make_engine(std::move(system), std::move(parameters), options, saved))
{
}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;

const PlanSummary& Simulation::plan() const { return implementation_->plan(); }
SinglePoint Simulation::evaluate() { return implementation_->evaluate(); }
RunSummary Simulation::run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    return implementation_->run(steps, observer, stop);
}
Frame Simulation::frame() { return implementation_->frame(); }
Frame Simulation::last_good_frame() { return implementation_->last_good_frame(); }
SavedState Simulation::saved_state() { return implementation_->saved_state(); }

} // namespace parhelion
