// SPDX-License-Identifier: Apache-2.0
#include "engine/assign.hpp"

#include "base/error.hpp"
#include "domain/ownership.hpp"
#include "trace/phases.hpp"

#include <fmt/format.h>

namespace parhelion {

PhysicsError missing_terms(std::int64_t step, const std::string& terms, double reach, const std::string& detail)
{
    return PhysicsError(step, fmt::format("E506 step {}: {} were computed by no rank (their atoms are farther apart than halos "
                                          "reach, {:.3f} nm).{} Use fewer ranks, or look for a molecule that is blowing up.",
                                          step, terms, reach, detail));
}

template <class N>
void assign_work(Rank<N>& r)
{
    if (r.comm.ranks() == 1)
    {
        r.assigned_terms = all_terms(r.tables.bonded, r.topology);
        r.assigned_constraints = r.tables.constraints.assign_all(r.topology);
        r.assigned_sites = r.tables.sites.assign_all(r.topology);
        return;
    }
    const ScopedPhase span(r.queue.clock(), Phase::Migrate);
    const MoleculeList molecules = molecules_here(r.topology, r.state);
    r.assigned_terms = assign_terms(r.tables.bonded, molecules,
                                    [&](const std::int32_t* atoms, int count) { return is_mine(r.state, atoms, count); });
    const auto is_home = [&](std::int32_t global) {
        return r.state.is_home(r.state.slot_of_global[static_cast<std::size_t>(global)]);
    };
    r.assigned_constraints = r.tables.constraints.assign(molecules, is_home);
    r.assigned_sites = r.tables.sites.assign(molecules, is_home);
    std::int64_t assigned[1] = {r.assigned_terms.terms()};
    r.comm.sum(assigned);
    std::int64_t terms = 0;
    for (int kind = 0; kind < bonded_kinds; ++kind) { terms += r.topology.interaction_count(static_cast<InteractionKind>(kind)); }
    if (assigned[0] != terms)
    {
        throw missing_terms(r.step, fmt::format("{} bonded terms", terms - assigned[0]), r.list_plan.cutoff, "");
    }
}

#define PARHELION_INSTANTIATE(N) template void assign_work<N>(Rank<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
