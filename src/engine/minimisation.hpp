// SPDX-License-Identifier: Apache-2.0
// A minimisation as a run: steps, output and summary, the same on CPUs and GPUs. The minimisers are in dynamics/minimise.
#pragma once

#include "dynamics/minimise/surface.hpp"
#include "engine/run_setup.hpp"
#include "engine/simulation.hpp"

#include <atomic>
#include <cstdint>
#include <string>

namespace parhelion {

// A system that is minimised, with what its run reports. The functions are about the point that was evaluated last.
class MinimisedSystem : public EnergySurface
{
public:
    virtual Observables observables() = 0; // time and largest_force are not set
    // Returns a frame with what is due. Call it before the next move.
    virtual Frame frame(const OutputDue& due) = 0;
    // Returns a remark on energies and forces that are at the limits of reproducible sums; empty: none.
    virtual std::string range_remark() = 0;
    // Returns the relative error of energies by rounding.
    virtual double energy_rounding() const = 0;
    virtual std::int64_t lists_built() const = 0; // pair lists, so far
};

// The relative error of energies in a numeric policy. In mixed precision it is that of float, in which pairs are computed.
template <class N>
constexpr double rounding_of_energies = sizeof(typename N::Real) == sizeof(float) ? 1e-6 : 1e-13;

// Minimises the energy by the minimiser that the parameters name, in at most `steps` evaluations after the first, from step
// `first` on. The system is at the best point afterwards. Phases are not in the summary.
RunSummary minimise(MinimisedSystem& system, const RunSetup& setup, std::int64_t first, std::int64_t steps, Observer& observer,
                    const std::atomic<bool>& stop);

} // namespace parhelion
