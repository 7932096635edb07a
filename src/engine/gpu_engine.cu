// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu_engine.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "dynamics/degrees_of_freedom.hpp"
#include "engine/coupling_values.hpp"
#include "engine/frame.hpp"
#include "engine/slope.hpp"
#include "engine/step_gpu.hpp"
#include "pairs/cluster_order.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace parhelion {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<std::string> group_names(const RunParameters& parameters)
{
    std::vector<std::string> names;
    for (const TemperatureGroup& group : parameters.temperature_groups) { names.push_back(group.name); }
    return names;
}

// The part of a saved state that is not per atom, as the names of coupling_values.hpp want it.
struct HostCoupling
{
    ThermostatState thermostat;
    BarostatState barostat;
    double bath_heat = 0;
    KineticEnergies half_step;
};

HostCoupling read_host_coupling(const SavedState& saved, std::size_t groups)
{
    HostCoupling coupling;
    for (auto* list : {&coupling.thermostat.xi, &coupling.thermostat.xi_integral, &coupling.thermostat.heat})
    {
        list->resize(groups);
    }
    coupling.half_step.group.resize(groups);
    read_coupling(saved, coupling);
    return coupling;
}

// One word per step for everything that changes which kernels are queued.
std::uint32_t pattern_of(const StepFlags& flags)
{
    std::uint32_t word = 0;
    for (const bool bit : {flags.repartition, flags.observe, flags.kinetic, flags.couple_temperature, flags.couple_pressure,
                           flags.remove_com, flags.due.any_frame(), flags.due.f})
    {
        word = 2 * word + (bit ? 1 : 0);
    }
    return word;
}

constexpr std::size_t most_graphs = 64; // kept; a run with fewer patterns of intervals captures each of them once
constexpr int most_attempts = 8;        // to make room for a list

} // namespace

template <class N>
GpuEngine<N>::GpuEngine(System&& system, RunParameters&& parameters, int threads, const SavedState* saved)
    : system_(std::move(system)), parameters_(std::move(parameters)), threads_(threads),
      host_queue_(std::make_unique<CpuQueue>(threads)), first_step_(parameters_.first_step), 
      start_(std::make_unique<Start>(*this, saved)), rank_(make_rank()), molecules_(all_molecules(system_.topology)),
      status_(segments_under_way + 1)
{
}

} // namespace parhelion
