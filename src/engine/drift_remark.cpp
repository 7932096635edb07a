// SPDX-License-Identifier: Apache-2.0
#include "engine/drift_remark.hpp"

#include "dynamics/lincs.hpp"
#include "pairs/list_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace parhelion {

namespace {

bool has_drift(const RunSummary& summary, const RunParameters& run)
{
    constexpr double shortest = 1, noticeable = 0.001; // shortest run, ps; least change of energy, kT/atom
    constexpr std::int64_t fewest_energies = 10;
    const double length = static_cast<double>(summary.steps) * run.dt, rate = std::abs(summary.drift);
    if (length < shortest || summary.steps < fewest_energies * std::max(1, run.energy_calc)) { return false; }
    return rate > sound_drift + 5 * summary.drift_error && rate * length * 1e-3 > noticeable; // false for NaN
}

// Returns true if the coupling interval exceeds 1/20 of the shortest relaxation time, which samples the oscillation badly (W112).
bool couples_too_seldom(const RunParameters& run)
{
    constexpr double most = 1.0 / 20;
    double longest = 0;
    for (const TemperatureGroup& group : run.temperature_groups)
    {
        if (run.thermostat != Thermostat::NoseHoover || group.tau <= 0) { continue; }
        longest = std::max(longest, run.temperature_interval * run.dt / group.tau);
    }
    if (run.barostat == Barostat::ParrinelloRahman) { longest = std::max(longest, run.pressure_interval * run.dt / run.tau_p); }
    return longest > most;
}

bool energies_jump_at_cutoff(const RunParameters& run)
{
    return run.lj_modifier == LjModifier::None || (run.coulomb == CoulombKind::CutOff && !run.coulomb_potential_shift);
}

// Returns the likeliest cause: first causes that the run itself shows, then causes that its settings make likely.
std::string likely_cause(const RunSummary& summary, const RunParameters& run)
{
    constexpr double large_part = 1.0 / 3; // least fraction of the drift if lists are the cause; the estimate is an upper bound
    const double hottest = run.generate_velocities ? std::max(free_temperature, run.generation_temperature) : free_temperature;
    if (summary.list_drift > large_part * std::abs(summary.drift))
    {
        return fmt::format(
            "Pairs come within the cut-off that the pair list lacks: with rlist and nstlist as given that makes up to "
            "{:.2g} kT/ns/atom at {:.0f} K. Give verlet-buffer-tolerance instead, or a longer rlist.",
            summary.list_drift, summary.list_temperature);
    }
    if (summary.constraint_deviation > LincsSettings::tolerance)
    {
        return fmt::format(
            "Constraints were off their lengths by up to {:.1g} (W150). Try a shorter dt, or a larger lincs-order.",
            summary.constraint_deviation);
    }
    if (energies_jump_at_cutoff(run)) { return "Energies jump where pairs cross the cut-off. Use potential-shift as modifier."; }
    if (couples_too_seldom(run))
    {
        return "The thermostat or barostat acts too seldom for its time constant. Use a lower nsttcouple or nstpcouple, or a "
               "longer "
               "tau-t or tau-p.";
    }
    constexpr double large_change = 0.01; // fraction of the volume, larger than its fluctuations
    const bool scales = run.barostat == Barostat::CRescale || run.barostat == Barostat::Berendsen;
    if (scales && std::abs(summary.volume_change) > large_change)
    {
        return fmt::format(
            "The volume has changed by {:+.1f} %: the box is not in equilibrium yet, and of the work of its "
            "scaling on constrained molecules only the mean is known. Judge a run that begins where this one ends.",
            100 * summary.volume_change);
    }
    const auto& groups = run.temperature_groups;
    const double asked = std::accumulate(groups.begin(), groups.end(), hottest, [](double t, const TemperatureGroup& group) {
        return std::max(t, highest_reference(group));
    });
    if (summary.list_temperature > 1.3 * asked)
    {
        return fmt::format(
            "Atoms became as hot as some {:.0f} K: the start was far from rest. Minimise and equilibrate it first, and use "
            "a shorter time step until then.",
            summary.list_temperature);
    }
    if (run.barostat != Barostat::None || run.thermostat == Thermostat::NoseHoover)
    {
        return fmt::format("Pair lists and cut-offs do not explain it, which leaves the coupling, whose steps conserve energy to "
                           "first order only, the time step ({:g} ps) and the accuracy of constraints. A run without pressure "
                           "coupling and with v-rescale shows the last two alone.",
                           run.dt);
    }
    return fmt::format("Pair lists and cut-offs do not explain it, which leaves the time step ({:g} ps) and the accuracy of "
                       "constraints. Try a shorter dt.",
                       run.dt);
}

} // namespace

std::string drift_remark(const RunSummary& summary, const RunParameters& run)
{
    if (!has_drift(summary, run)) { return ""; }
    return fmt::format("warning: {} the conserved quantity drifts by {:+.3f} +- {:.3f} kT/ns/atom (a sound run stays below "
                       "{:g}). {}",
                       "W140", summary.drift, summary.drift_error, sound_drift, likely_cause(summary, run));
}

} // namespace parhelion
