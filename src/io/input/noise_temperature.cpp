// SPDX-License-Identifier: Apache-2.0
#include "io/input/noise_temperature.hpp"

#include "base/error.hpp"
#include "io/input/annealing_values.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>

namespace parhelion {

namespace {

std::string why_none(const RunParameters& p)
{
    if (p.ensemble_temperature_setting == EnsembleTemperature::NotAvailable) { return "ensemble-temperature-setting says so"; }
    if (p.ensemble_temperature_setting == EnsembleTemperature::Constant) { return "ensemble-temperature is not given"; }
    for (const TemperatureGroup& group : p.temperature_groups)
    {
        if (group.tau <= 0) { return fmt::format("the group {} is not coupled", group.name); }
    }
    return "the groups differ in ref-t";
}

// Returns whether the temperature is outside the range of reference temperatures. False if any group is annealed or uncoupled.
bool is_outside_references(const RunParameters& p, double temperature)
{
    const auto& groups = p.temperature_groups;
    const auto is_coupled = [](const TemperatureGroup& group) { return group.tau > 0; };
    if (is_annealed(p) || !std::ranges::all_of(groups, is_coupled)) { return false; }
    const auto [least, greatest] = std::ranges::minmax_element(groups, {}, &TemperatureGroup::reference);
    return temperature < least->reference || temperature > greatest->reference;
}

} // namespace

void check_noise_temperature(const MdpInput& input)
{
    const RunParameters& p = input.parameters;
    const auto fail = [&](const char* key, const std::string& message) { throw InputError("E107", input.where(key), message); };
    if (p.temperature_groups.empty()) { return; }
    const bool may_vary = p.ensemble_temperature_setting == EnsembleTemperature::Variable ||
                          (p.ensemble_temperature_setting == EnsembleTemperature::Auto && p.given_ensemble_temperature < 0);
    if (may_vary && (is_annealed(p) || p.ensemble_temperature_setting == EnsembleTemperature::Variable))
    {
        return check_annealed_noise(input);
    }
    RunParameters of_groups = p;
    of_groups.ensemble_temperature_setting = EnsembleTemperature::Auto;
    of_groups.given_ensemble_temperature = -1;
    const std::optional<double> common = ensemble_temperature(of_groups), used = ensemble_temperature(p);
    if (!used)
    {
        fail("pcoupl",
             fmt::format("C-rescale needs one temperature for its noise, and there is none: {}. {}", why_none(p),
                         common ? "Use ensemble-temperature-setting = auto."
                                : "Set ensemble-temperature-setting = constant and ensemble-temperature to that of the volume's "
                                  "fluctuation, in K."));
    }
    if (common && *common != *used)
    {
        fail("ensemble-temperature",
             fmt::format(
                 "ensemble-temperature ({} K) is not the temperature that all groups are coupled to ({} K), and a system has "
                 "one. Remove it or correct ref-t.",
                 number_text(*used), number_text(*common)));
    }
    if (is_outside_references(p, *used))
    {
        fail("ensemble-temperature",
             fmt::format(
                 "ensemble-temperature ({} K) is not between the temperatures that groups are coupled to, and it makes the "
                 "volume fluctuate. Correct it or ref-t.",
                 number_text(*used)));
    }
}

} // namespace parhelion
