// SPDX-License-Identifier: Apache-2.0
// How long a pair list serves, and how much further than the cut-off it must reach for that.
//
// The idea (Pall & Hess, Comput. Phys. Commun. 184, 2641 (2013)): a pair missing from the list costs energy only if it comes
// within the cut-off before the list is rebuilt. From the spread of displacements over the list's lifetime follows how many pairs
// do, from the potential near the cut-off what each costs. The bound here sums absolute values over all kinds of pairs, so signs
// that cancel in a real liquid do not. How fast atoms are and how many partners they meet are the conditions that a list is
// planned for (list_conditions.hpp). Where these rise during a run, its lists keep their cutoff, for which everything is laid
// out, and are built more often. See docs/decisions/0006-pair-list-buffer.md.
#pragma once

#include "model/run_parameters.hpp"
#include "model/system.hpp"
#include "pairs/list_conditions.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

struct ListPlan
{
    int interval = 1;         // steps between builds
    double cutoff = 0;        // of the list, nm
    int prune_interval = 0;   // steps between prunings, the first with the build; 0: not pruned
    double pruned_cutoff = 0; // of the pruned list, nm
};

// What lists cost, in units of computing the forces of a list to 1 nm. Measured: bench/pairs, bench/gpu/lists.
struct ListCosts
{
    double margin; // nm: blocks of atoms make a list longer than its sphere by this much in radius
    double build;  // with the order of atoms and what else depends on slots
    double prune;
    double growth;          // both are of lists to 1 nm; of longer ones they cost as this power of the length
    bool prunes_with_build; // even if not later
    double aging;           // every step between builds makes forces dearer by this part: atoms leave their blocks
};
inline constexpr ListCosts cpu_list_costs{0.2, 1.1, 0.45, 1, false, 0};
// A GPU with so many home atoms. Building and pruning have a part that does not shrink with them: latencies of launches and, of
// several ranks, of messages; several ranks have a list of halo pairs as well. Fitted to microseconds a step: "Plan of a
// list" in bench/gpu/lists/log.md.
inline ListCosts gpu_list_costs(double atoms, bool of_several)
{
    const double forces = 3 + 0.8e-3 * atoms, build = 50 + 0.9e-3 * atoms, prune = 12 + 0.25e-3 * atoms;
    constexpr double margin = 0.25, growth = 0.4, aging = 1.5e-3;
    if (!of_several) { return {margin, build / forces, prune / forces, growth, true, aging}; }
    const double halo = 0.1 / std::cbrt(atoms); // of longer lists it is thicker, in every step
    return {margin, 1.3 * build / forces, 1.2 * prune / forces, growth, true, aging + halo};
}

// The energy error of missing pairs that a default run accepts, kJ/mol/ps per atom: 0.004 kT/ns at 300 K, and in proportion less
// where it is colder. GROMACS' default tolerance, 0.005, lets spce/rf gain 0.20 kT/ns per atom.
inline constexpr double largest_buffer_tolerance = 1e-5;
inline double largest_tolerance(double kelvin) { return largest_buffer_tolerance * std::min(1.0, kelvin / 300); }

// With a tolerance: the cheapest intervals, of at least list_interval steps between builds, and the cutoffs for which missing
// pairs cost less than min(tolerance, largest_tolerance()). Without (< 0): list_interval and list_cutoff as given, not
// pruned. Never more than half the box: where that leaves no room for a buffer, the list is rebuilt more often. Minimisation
// rebuilds in every step, without buffer. Throws InputError if the cut-off itself exceeds half the shortest box edge.
ListPlan plan_pair_list(const System& system, const RunParameters& run, const ListConditions& conditions,
                        const ListCosts& costs = cpu_list_costs);
// For the conditions of the start.
ListPlan plan_pair_list(const System& system, const RunParameters& run, const ListCosts& costs = cpu_list_costs);

// The same for lists that must miss nothing (pairs/listed_positions.hpp): a tolerance is not needed, and the cutoff is one that
// few atoms move far enough for, so that lists are seldom built before their time. Not pruned.
ListPlan plan_complete_list(const System& system, const RunParameters& run, const ListConditions& conditions,
                            const ListCosts& costs = cpu_list_costs);
ListPlan plan_complete_list(const System& system, const RunParameters& run, const ListCosts& costs = cpu_list_costs);

// `plan`, made by the function above of the same name, for other conditions: the same cutoff, and as many steps between builds as
// the tolerance, or the distance that atoms move, allows, but no more than before. Without a tolerance the plan as it is.
ListPlan shorten_pair_list(const System& system, const RunParameters& run, const ListConditions& conditions, const ListPlan& plan,
                           const ListCosts& costs);
ListPlan shorten_complete_list(const System& system, const RunParameters& run, const ListConditions& conditions,
                               const ListPlan& plan);

// Upper estimate of the energy error of pairs that enter the cut-off unlisted, kJ/mol/ps per atom, for a list with the interval
// and cutoff of this plan.
double missing_pair_error(const System& system, const RunParameters& run, const ListConditions& conditions, const ListPlan& plan);
double missing_pair_error(const System& system, const RunParameters& run, const ListPlan& plan);

} // namespace parhelion
