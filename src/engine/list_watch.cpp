// SPDX-License-Identifier: Apache-2.0
#include "engine/list_watch.hpp"

#include "engine/coupling_values.hpp"
#include "pairs/crowding.hpp"

#include <fmt/format.h>

namespace parhelion {

namespace {

constexpr const char* saved_name = "list-conditions";

} // namespace

ListPlan ListWatch::plan(const ListConditions& conditions) const
{
    if (conditions == start_) { return plan_; }
    return miss_ == ListsMiss::Nothing ? shorten_complete_list(system_, run_, conditions, plan_)
                                       : shorten_pair_list(system_, run_, conditions, plan_, costs_);
}

ListConditions ListWatch::conditions_anew(double sure, const Box<double>& box, std::span<const Vec3<std::uint32_t>> x) const
{
    const double cutoff = std::max(run_.lj_cutoff, run_.coulomb_cutoff);
    ListConditions now = risen(start_, sure);
    now.crowding = risen_crowding(start_.crowding, measure_crowding(system_.topology, box, cutoff, system_.box.volume(), x));
    return now;
}

double ListWatch::error(const ListConditions& conditions, const ListPlan& plan) const
{
    return miss_ == ListsMiss::Nothing ? 0 : missing_pair_error(system_, run_, conditions, plan);
}

std::string note_on_lists(std::int64_t step, const ListConditions& before, const ListConditions& now, const ListPlan& plan)
{
    const std::string hotter =
        now.temperature > before.temperature
            ? fmt::format("up to {:.0f} K (pair lists were planned for {:.0f} K)", now.temperature, before.temperature)
            : "";
    const std::string denser =
        most_crowded(now) > most_crowded(before) ? "drawn together more than pair lists were planned for" : "";
    return fmt::format("note: step {}: atoms are {}{}{}. Lists are built every {} step{} from here on.", step, hotter,
                       hotter.empty() || denser.empty() ? "" : ", and ", denser, plan.interval, plan.interval == 1 ? "" : "s");
}

void write_conditions(const ListConditions& conditions, SavedState& saved)
{
    std::vector<double>& values = saved.coupling[saved_name];
    values = {conditions.temperature};
    values.insert(values.end(), conditions.crowding.begin(), conditions.crowding.end());
}

void read_conditions(const SavedState& saved, ListConditions& conditions)
{
    const auto found = saved.coupling.find(saved_name);
    if (saved.of_another_run || found == saved.coupling.end()) { return; }
    const std::vector<double>& values = found->second;
    if (values.size() != 1 + conditions.crowding.size()) { state_does_not_fit("its pair lists are of another system"); }
    const auto raise = [](double& to, double value) { to = std::max(to, value); };
    raise(conditions.temperature, values[0]);
    for (std::size_t i = 1; i < values.size(); ++i) { raise(conditions.crowding[i - 1], values[i]); }
}

} // namespace parhelion
