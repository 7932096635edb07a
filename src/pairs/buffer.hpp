// SPDX-License-Identifier: Apache-2.0
// Plans how many steps a pair list is used, and how far beyond the cut-off it must therefore reach.
//
// The idea (Pall & Hess, Comput. Phys. Commun. 184, 2641 (2013)): a pair missing from the list costs energy only
// if it comes within the cut-off before the list is rebuilt. The spread of displacements over the list's lifetime
// tells how many pairs do so. The potential near the cut-off tells what each costs. The bound here sums absolute
// values over all kinds of pairs, so it ignores that signs cancel in a real liquid. A list is planned for
// conditions (list_conditions.hpp): the speed of atoms and the number of their partners. If these rise during a
// run, lists keep their cutoff, because memory is planned for it, and are built more often. See decision 0006.
#pragma once

#include "model/run_parameters.hpp"
#include "model/system.hpp"
#include "pairs/list_conditions.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

struct ListPlan
{
    int interval = 1;         // steps from one build to the next
    double cutoff = 0;        // cutoff of the list, nm
    int prune_interval = 0;   // steps from one pruning to the next, the first being at the build; 0: no pruning
    double pruned_cutoff = 0; // cutoff of the pruned list, nm
};

// The costs of lists, in units of the time in which forces are computed with a list that reaches 1 nm. Measured in bench/pairs
// and bench/gpu/lists.
struct ListCosts
{
    double margin; // nm: a list of atom blocks is as long as a list of atoms with a cutoff larger by this
    double build;  // cost of building a list, the atom order and all other data that depend on slots
    double prune;
    double growth;          // build and prune are for lists to 1 nm, and grow as this power of the list's length
    bool prunes_with_build; // true if a list is pruned when it is built, even if the plan has no prunings
    double aging;           // relative increase of the force time with each step since the build, as atoms leave their blocks
};
inline constexpr ListCosts cpu_list_costs{0.2, 1.1, 0.45, 1, false, 0};
// Returns the costs of lists on a GPU with `atoms` home atoms. The latencies of launches, and of messages
// of several ranks, do not shrink with the number of atoms. Several ranks (of_several) have a list of halo
// pairs as well. The costs are fitted to microseconds per step: "Plan of a list" in bench/gpu/lists/log.md.
inline ListCosts gpu_list_costs(double atoms, bool of_several)
{
    const double forces = 3 + 0.8e-3 * atoms, build = 50 + 0.9e-3 * atoms, prune = 12 + 0.25e-3 * atoms;
    constexpr double margin = 0.25, growth = 0.4, aging = 1.5e-3;
    if (!of_several) { return {margin, build / forces, prune / forces, growth, true, aging}; }
    const double halo = 0.1 / std::cbrt(atoms); // cost in every step, as a longer list needs a thicker halo
    return {margin, 1.3 * build / forces, 1.2 * prune / forces, growth, true, aging + halo};
}

// The energy error of missing pairs that a default run accepts, kJ/mol/ps per atom: 0.004 kT/ns at 300 K, and proportionally
// less at lower temperatures. With GROMACS' default tolerance, 0.005, the energy of spce/rf rises by 0.20 kT/ns per atom.
inline constexpr double largest_buffer_tolerance = 1e-5;
inline double largest_tolerance(double kelvin) { return largest_buffer_tolerance * std::min(1.0, kelvin / 300); }

// The buffer of a minimisation, nm. On one CPU core buffers from 0.03 to 0.06 were the fastest for ethanol and water: 20 to 100
// evaluations took place with a list.
inline constexpr double minimisation_buffer = 0.05;

// Returns the plan of a list. With a tolerance it has the cheapest intervals and cutoffs for which missing pairs cost less
// than min(tolerance, largest_tolerance()). At least list_interval steps are between builds, or fewer if the box has no room
// for a buffer. Tolerance < 0: list_interval and list_cutoff as given, no pruning. A cutoff is at most half the box.
// A minimisation has a buffer of minimisation_buffer, and rebuilds when an atom has moved by half of it. Throws InputError if the
// cut-off exceeds half the shortest box edge.
ListPlan plan_pair_list(const System& system, const RunParameters& run, const ListConditions& conditions,
                        const ListCosts& costs = cpu_list_costs);
// Returns the plan of a list for the conditions at the start.
ListPlan plan_pair_list(const System& system, const RunParameters& run, const ListCosts& costs = cpu_list_costs);

// Returns the plan of lists that must miss no pair (pairs/listed_positions.hpp); needs no tolerance. The cutoff is so
// large that atoms rarely move far enough to require a new list before the end of the interval. There is no pruning.
ListPlan plan_complete_list(const System& system, const RunParameters& run, const ListConditions& conditions,
                            const ListCosts& costs = cpu_list_costs);
ListPlan plan_complete_list(const System& system, const RunParameters& run, const ListCosts& costs = cpu_list_costs);

// Returns `plan`, which the function above has made, adapted to other conditions. The cutoff stays. The interval is the
// longest that the tolerance, or the motion of atoms, allows, but not longer than before. Without a tolerance the plan stays.
ListPlan shorten_pair_list(const System& system, const RunParameters& run, const ListConditions& conditions, const ListPlan& plan,
                           const ListCosts& costs);
ListPlan shorten_complete_list(const System& system, const RunParameters& run, const ListConditions& conditions,
                               const ListPlan& plan);

// Returns an upper estimate of the energy error, kJ/mol/ps per atom, of a list with the interval and
// cutoff of this plan. It is the error of pairs that come within the cut-off without being listed.
double missing_pair_error(const System& system, const RunParameters& run, const ListConditions& conditions, const ListPlan& plan);
double missing_pair_error(const System& system, const RunParameters& run, const ListPlan& plan);

} // namespace parhelion
