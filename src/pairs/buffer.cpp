// SPDX-License-Identifier: Apache-2.0
#include "pairs/buffer.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "model/minimisers.hpp"
#include "pairs/crowding.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

// A kind of atoms: all move and interact alike.
struct AtomKind
{
    std::int32_t type = 0;
    double charge = 0, mass = 0;
    // The heaviest atom to which a constraint ties this atom. The atom moves with this partner and turns around it.
    double partner_mass = 0, arm = 0;
    int crowding_class = 0; // class of the atom's molecule
    auto motion() const { return std::tuple(mass, partner_mass, arm, crowding_class); }
    auto key() const { return std::tuple_cat(std::tuple(type, charge), motion()); }
};
struct CountedKind
{
    AtomKind kind;
    double count = 0;
};

void hold(const MoleculeType& molecule, std::vector<AtomKind>& kinds, std::int32_t a, std::int32_t b, double length)
{
    for (const auto& [atom, partner] : {std::pair(a, b), std::pair(b, a)})
    {
        AtomKind& kind = kinds[static_cast<std::size_t>(atom)];
        const double partner_mass = molecule.atoms[static_cast<std::size_t>(partner)].mass;
        if (partner_mass > kind.partner_mass) { kind.partner_mass = partner_mass, kind.arm = length; }
    }
}

// Returns the mass of an atom whose displacements are as large as those of a virtual site. For a weighted mean, variances
// add up with squared weights, as velocities of atoms are independent; if constrained, they add up to less. For other
// kinds of sites it is the mass of a constructing atom, if the site is nearer to the first of these than the others are.
double mass_in_motion(const VirtualSite& site, const std::vector<AtomKind>& kinds)
{
    double inverse = 0, rest = 1;
    for (std::size_t k = 1; k < site.from.size(); ++k)
    {
        const double weight = is_linear(site.kind) ? site.parameters[k - 1] : 1;
        inverse += weight * weight / kinds[static_cast<std::size_t>(site.from[k])].mass;
        rest -= weight;
    }
    const double of_first = is_linear(site.kind) ? rest : 1;
    return 1 / (inverse + of_first * of_first / kinds[static_cast<std::size_t>(site.from[0])].mass);
}

std::vector<CountedKind> atom_kinds(const Topology& topology)
{
    std::map<decltype(AtomKind().key()), CountedKind> counted;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& molecule = topology.molecule_types[static_cast<std::size_t>(block.type)];
        std::vector<AtomKind> kinds;
        const int of_class = crowding_class(topology, block.type);
        for (const Atom& atom : molecule.atoms) { kinds.push_back({atom.type, atom.charge, atom.mass, 0, 0, of_class}); }
        for (const Constraint& c : molecule.constraints) { hold(molecule, kinds, c.a, c.b, c.length); }
        for (const Settle& s : molecule.settles)
        {
            hold(molecule, kinds, s.oxygen, s.hydrogen_a, s.oh);
            hold(molecule, kinds, s.oxygen, s.hydrogen_b, s.oh);
        }
        for (const VirtualSite& site : molecule.sites)
        {
            kinds[static_cast<std::size_t>(site.atom)].mass = mass_in_motion(site, kinds);
        }
        for (const AtomKind& kind : kinds)
        {
            CountedKind& c = counted[kind.key()];
            c.kind = kind;
            c.count += static_cast<double>(block.count);
        }
    }
    std::vector<CountedKind> result;
    for (const auto& [key, kind] : counted) { result.push_back(kind); }
    return result;
}

// Atoms that move alike, in molecules with equal crowding. The estimate is linear in |q_a| |q_b| and
// in the Lennard-Jones potential of two types, so it needs only the sum of charges and the number of
// atoms of each type. This is exact, and ten thousand different charges cost as much as one.
struct Movers
{
    AtomKind kind;     // kind of one of these atoms
    double charge = 0; // sum of |q|, e
    std::map<std::int32_t, double> types;
};

// Returns a kind whose arm is at most 1e-3 nm longer, and whose masses are at most 2 % lower (1 % larger displacements).
AtomKind rounded(AtomKind kind)
{
    constexpr double per_nm = 1000, per_octave = 32;
    const auto down = [](double mass) { return mass > 0 ? std::exp2(std::floor(per_octave * std::log2(mass)) / per_octave) : 0; };
    kind.arm = std::ceil(kind.arm * per_nm) / per_nm;
    kind.mass = down(kind.mass), kind.partner_mass = down(kind.partner_mass);
    return kind;
}

// Returns the atoms, grouped by motion. If there are too many motions, as with many fitted bond lengths, similar ones are merged.
std::vector<Movers> movers(const std::vector<CountedKind>& kinds)
{
    constexpr std::size_t most = 200; // 20 000 pairs of these take a tenth of a second
    const auto grouped = [&](auto&& as_grouped) {
        std::map<decltype(AtomKind().motion()), Movers> groups;
        for (const CountedKind& counted : kinds)
        {
            const AtomKind kind = as_grouped(counted.kind);
            Movers& group = groups[kind.motion()];
            group.kind = kind;
            group.charge += counted.count * std::abs(kind.charge);
            group.types[kind.type] += counted.count;
        }
        return groups;
    };
    auto groups = grouped([](const AtomKind& kind) { return kind; });
    if (groups.size() > most) { groups = grouped(rounded); }
    std::vector<Movers> result;
    for (const auto& [motion, group] : groups) { result.push_back(group); }
    return result;
}

// Returns the variance of one component of the displacement in time t, nm^2. Atoms fly freely. An atom tied to a heavier
// atom flies with the centre of mass of the two and turns around it, which moves the atom by at most twice its arm.
double displacement_variance(const AtomKind& kind, double kt, double t)
{
    if (kind.partner_mass <= kind.mass) { return kt / kind.mass * t * t; }
    const double both = kind.mass + kind.partner_mass;
    const double arm = kind.arm * kind.partner_mass / both;
    const double angle2 = kt * kind.partner_mass / (kind.mass * both) * t * t / (arm * arm); // angle^2 per axis of rotation
    // The mean square chord is 2 arm^2 (1 - <cos>). For a Gaussian rate about two axes, 1 - <cos> < angle2, and at most 1.285.
    return kt / both * t * t + 2 * arm * arm * std::min(angle2, 1.285) / 3;
}

// The absolute values |V|, |V'|, |V''| of a pair's potential at the cut-off.
struct PotentialAtCutoff
{
    double value = 0, slope = 0, curvature = 0;

    void add(double times, const PotentialAtCutoff& other)
    {
        value += times * std::abs(other.value), slope += times * std::abs(other.slope);
        curvature += times * std::abs(other.curvature);
    }
};
PotentialAtCutoff coulomb_at_cutoff(const RunParameters& run, double qq)
{
    const double rc = run.coulomb_cutoff;
    if (run.coulomb == CoulombKind::Pme) // derivatives of erfc(beta r) / r
    {
        const double beta = ewald_beta(run), screened = std::erfc(beta * rc),
                     gauss = 2 * beta / std::sqrt(units::pi) * std::exp(-beta * beta * rc * rc);
        return {run.coulomb_potential_shift ? 0 : qq * screened / rc, -qq * (screened / rc + gauss) / rc,
                qq * (2 * screened / (rc * rc * rc) + 2 * gauss * (1 / (rc * rc) + beta * beta))};
    }
    const double k = reaction_field_k(run);
    const bool shifted = run.coulomb == CoulombKind::ReactionField || run.coulomb_potential_shift;
    return {shifted ? 0 : qq / rc, qq * (2 * k * rc - 1 / (rc * rc)), qq * (2 / (rc * rc * rc) + 2 * k)};
}
PotentialAtCutoff lennard_jones_at_cutoff(const Topology& topology, const RunParameters& run, std::int32_t a, std::int32_t b)
{
    const double rc = run.lj_cutoff, rc2 = rc * rc, rc6 = rc2 * rc2 * rc2;
    const auto ab = static_cast<std::size_t>(a) * static_cast<std::size_t>(topology.types()) + static_cast<std::size_t>(b);
    const double v6 = topology.c6[ab] / rc6, v12 = topology.c12[ab] / (rc6 * rc6);
    PotentialAtCutoff lj{v12 - v6, (6 * v6 - 12 * v12) / rc, (156 * v12 - 42 * v6) / (rc * rc)};
    if (run.has_lj_mesh)
    {
        // Pairs lose c6 (1 - g) / r^6 by the geometric rule, g = direct_dispersion(x), x = (beta r)^2; g' = -beta^2 r x^2
        // exp(-x). By the other rule this is within a few percent of a term that is small at the cut-off.
        const auto own = [&](std::int32_t type) {
            const auto i = static_cast<std::size_t>(type) * static_cast<std::size_t>(topology.types() + 1);
            return std::max(0.0, topology.c6[i]);
        };
        const double root_x = lj_ewald_beta(run) * rc, x = root_x * root_x, g = direct_dispersion(x), gauss = std::exp(-x);
        const double of_mesh = std::sqrt(own(a) * own(b)) / rc6;
        lj.value += of_mesh * (1 - g);
        lj.slope += of_mesh * (6 * g + x * x * x * gauss - 6) / rc;
        lj.curvature += of_mesh * (42 - 42 * g - (7 + 2 * x) * x * x * x * gauss) / (rc * rc);
    }
    if (run.lj_modifier != LjModifier::None) { lj.value = 0; }
    if (run.lj_modifier == LjModifier::ForceSwitch)
    {
        // The force and its derivative are 0 at rc. The remaining term is of third
        // order; the curvature in the middle of the switch is a bound for this term.
        lj.slope = 0;
    }
    if (run.lj_modifier == LjModifier::PotentialSwitch)
    {
        // The force is 0 at rc. The switch adds more curvature than the potential has:
        // up to 10 / sqrt(3) of the potential over the square of the switch's range.
        lj.slope = 0;
        lj.curvature =
            std::abs(lj.curvature) + std::abs(v12 - v6) * 10 / (std::sqrt(3.0) * (rc - run.lj_switch) * (rc - run.lj_switch));
    }
    return lj;
}
// Returns the sums of absolute values over all pairs of an atom of a and an atom of b.
PotentialAtCutoff potential_at_cutoff(const Topology& topology, const RunParameters& run,
                                      const PotentialAtCutoff& of_unit_charges, const Movers& a, const Movers& b)
{
    PotentialAtCutoff sum;
    sum.add(a.charge * b.charge, of_unit_charges);
    for (const auto& [type_a, count_a] : a.types)
    {
        for (const auto& [type_b, count_b] : b.types)
        {
            sum.add(count_a * count_b, lennard_jones_at_cutoff(topology, run, type_a, type_b));
        }
    }
    return sum;
}

double force_cutoff(const RunParameters& run) { return std::max(run.lj_cutoff, run.coulomb_cutoff); }

// The error estimate for one system, which can be evaluated for many plans of lists.
class ErrorEstimate
{
public:
    ErrorEstimate(const System& system, const RunParameters& run, const ListConditions& conditions)
        : cutoff_(force_cutoff(run)), dt_(run.dt), kt_(units::boltzmann * conditions.temperature),
          movers_(movers(atom_kinds(system.topology)))
    {
        const auto classes = static_cast<std::size_t>(crowding_classes(system.topology));
        PARHELION_EXPECTS(conditions.crowding.size() == classes * classes);
        const auto crowding = [&](const AtomKind& a, const AtomKind& b) {
            return conditions
                .crowding[static_cast<std::size_t>(a.crowding_class) * classes + static_cast<std::size_t>(b.crowding_class)];
        };
        const double volume = system.box.volume();
        const auto atoms = static_cast<double>(system.topology.atom_count());
        const PotentialAtCutoff of_unit_charges = coulomb_at_cutoff(run, coulomb_factor(run));
        for (std::size_t a = 0; a < movers_.size(); ++a)
        {
            for (std::size_t b = a; b < movers_.size(); ++b)
            {
                pairs_.push_back({a, b, (a == b ? 0.5 : 1.0) / (volume * atoms) * crowding(movers_[a].kind, movers_[b].kind),
                                  potential_at_cutoff(system.topology, run, of_unit_charges, movers_[a], movers_[b])});
            }
        }
    }

    // Returns the error of a list with this interval and cutoff, kJ/mol/ps per atom.
    double operator()(int interval, double list_cutoff) const
    {
        const double lifetime = interval * dt_, age = (interval - 1) * dt_; // age of the list in its last step
        const double buffer = list_cutoff - cutoff_;
        if (age <= 0) { return 0; }
        std::vector<double> variance;
        for (const Movers& group : movers_) { variance.push_back(displacement_variance(group.kind, kt_, age)); }
        double error = 0;
        for (const Pair& pair : pairs_)
        {
            const double sigma = std::sqrt(variance[pair.a] + variance[pair.b]), z = buffer / sigma;
            const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * units::pi), tail = 0.5 * std::erfc(z / std::sqrt(2.0));
            // m0, m1: moments of the depth below the cut-off that unlisted pairs have reached.
            const double m0 = sigma * (density - z * tail);
            const double m1 = 0.5 * sigma * sigma * ((1 + z * z) * tail - z * density);
            const double m2 = sigma * sigma * sigma / 3 * ((z * z + 2) * density - (z * z * z + 3 * z) * tail);
            error += pair.per_atom_and_volume *
                     (pair.at_cutoff.value * m0 + pair.at_cutoff.slope * m1 + 0.5 * pair.at_cutoff.curvature * m2);
        }
        return 4 * units::pi * cutoff_ * cutoff_ * error / lifetime;
    }

private:
    struct Pair
    {
        std::size_t a, b;
        double per_atom_and_volume;
        PotentialAtCutoff at_cutoff;
    };
    double cutoff_, dt_, kt_;
    std::vector<Movers> movers_;
    std::vector<Pair> pairs_;
};

// Returns the smallest list cutoff, to 1e-4 nm, with an error below the tolerance; nothing if it would exceed `largest`.
std::optional<double> cutoff_for(const ErrorEstimate& error, int interval, double cutoff, double largest, double tolerance)
{
    if (error(interval, largest) > tolerance) { return std::nullopt; }
    double low = cutoff, high = largest;
    while (high - low > 1e-4)
    {
        const double middle = 0.5 * (low + high);
        (error(interval, middle) > tolerance ? low : high) = middle;
    }
    return high;
}

// Returns the time of a step with these lists, in the units of ListCosts.
double cost(const ListPlan& plan, const ListCosts& costs)
{
    const auto length = [&](double cutoff) { return std::pow((cutoff + costs.margin) / (1 + costs.margin), 3); };
    const auto forces = [&](double cutoff) { return length(cutoff) * (1 + costs.aging * plan.interval); };
    const double upkeep = std::pow(length(plan.cutoff), costs.growth) / plan.interval;
    if (plan.prune_interval == 0)
    {
        return forces(plan.cutoff) + upkeep * (costs.build + (costs.prunes_with_build ? costs.prune : 0));
    }
    const int prunings = (plan.interval + plan.prune_interval - 1) / plan.prune_interval;
    return forces(plan.pruned_cutoff) + upkeep * (costs.build + prunings * costs.prune);
}

// Returns the plan of the list with its cheapest pruning.
ListPlan pruned(const ErrorEstimate& error, const ListCosts& costs, int interval, double cutoff, double list_cutoff,
                double tolerance)
{
    ListPlan best{interval, list_cutoff, 0, 0};
    int latest = interval;
    for (int parts = 2; interval / parts >= 3; ++parts)
    {
        const int prune_interval = (interval + parts - 1) / parts;
        if (std::exchange(latest, prune_interval) == prune_interval) { continue; }
        const double pruned_cutoff = cutoff_for(error, prune_interval, cutoff, list_cutoff, tolerance).value_or(list_cutoff);
        if (const ListPlan plan{interval, list_cutoff, prune_interval, pruned_cutoff}; cost(plan, costs) < cost(best, costs))
        {
            best = plan;
        }
    }
    return best;
}

// Returns the best plan for an interval between builds, or nothing if the box is too small for the buffer.
std::optional<ListPlan> plan_for(const ErrorEstimate& error, const ListCosts& costs, int interval, double cutoff, double largest,
                                 double tolerance)
{
    const std::optional<double> list_cutoff = cutoff_for(error, interval, cutoff, largest, tolerance);
    if (!list_cutoff) { return std::nullopt; }
    return pruned(error, costs, interval, cutoff, *list_cutoff, tolerance);
}

// The longest list interval, in steps. In any useful simulation atoms have moved too far by then. Longer plans take too long.
constexpr int longest_planned_interval = 10'000;

// The fraction to which a box edge may shrink before a list that was planned for pressure coupling no longer fits.
constexpr double shrinkage_allowed = 0.95;

// The cut-off of the forces, and the largest cutoff of a list. list_range() throws InputError if the box is too small.
struct ListRange
{
    double cutoff, largest;
};
ListRange list_range(const System& system, const RunParameters& run)
{
    const double cutoff = force_cutoff(run), half_box = system.box.largest_cutoff();
    if (cutoff > half_box)
    {
        throw InputError("E311", {},
                         "the cut-off is longer than half the shortest box edge (an atom would meet two images of another). "
                         "Use a larger box or a shorter cut-off.");
    }
    // A box under pressure coupling may shrink. If a list no longer fits, the engine stops the run.
    return {cutoff, run.barostat == Barostat::None ? half_box : std::max(cutoff, shrinkage_allowed * half_box)};
}

double tolerance_in_force(const RunParameters& run, const ListConditions& conditions)
{
    return std::min(run.buffer_tolerance, largest_tolerance(conditions.temperature));
}
bool is_as_given(const RunParameters& run) { return is_minimisation(run.integrator) || run.buffer_tolerance < 0; }
ListPlan plan_as_given(const RunParameters& run, const ListRange& range)
{
    if (is_minimisation(run.integrator)) { return {1, std::min(range.cutoff + minimisation_buffer, range.largest), 0, 0}; }
    return {std::max(1, run.list_interval), std::clamp(run.list_cutoff, range.cutoff, range.largest), 0, 0};
}

// Returns the buffer, nm, that only few atoms cross by their motion in time `age`.
double complete_buffer(const std::vector<CountedKind>& kinds, double temperature, double age)
{
    constexpr double far = 5.5; // standard deviations: one atom in a million moves this far
    double variance = 0;
    for (const CountedKind& kind : kinds)
    {
        variance = std::max(variance, displacement_variance(kind.kind, units::boltzmann * temperature, age));
    }
    return 2 * far * std::sqrt(variance);
}

} // namespace

double missing_pair_error(const System& system, const RunParameters& run, const ListConditions& conditions, const ListPlan& plan)
{
    return ErrorEstimate(system, run, conditions)(plan.interval, plan.cutoff);
}
double missing_pair_error(const System& system, const RunParameters& run, const ListPlan& plan)
{
    return missing_pair_error(system, run, start_conditions(system, run), plan);
}

ListPlan plan_pair_list(const System& system, const RunParameters& run, const ListConditions& conditions, const ListCosts& costs)
{
    const ListRange range = list_range(system, run);
    if (is_as_given(run)) { return plan_as_given(run, range); }
    const double tolerance = tolerance_in_force(run, conditions);
    const ErrorEstimate error(system, run, conditions);
    const int asked = std::clamp(run.list_interval, 1, longest_planned_interval);
    std::optional<ListPlan> best;
    for (const int interval : {asked, 10, 12, 15, 20, 25, 30, 40, 50})
    {
        if (interval < asked) { continue; }
        const std::optional<ListPlan> plan = plan_for(error, costs, interval, range.cutoff, range.largest, tolerance);
        if (plan && (!best || cost(*plan, costs) < cost(*best, costs))) { best = plan; }
    }
    // In a small box the interval becomes shorter. A list that is built in every step needs no buffer.
    for (int interval = asked; !best; --interval)
    {
        best = plan_for(error, costs, std::max(1, interval), range.cutoff, range.largest, tolerance);
    }
    return *best;
}
ListPlan plan_pair_list(const System& system, const RunParameters& run, const ListCosts& costs)
{
    return plan_pair_list(system, run, start_conditions(system, run), costs);
}

ListPlan plan_complete_list(const System& system, const RunParameters& run, const ListConditions& conditions,
                            const ListCosts& costs)
{
    const ListRange range = list_range(system, run);
    if (is_as_given(run)) { return plan_as_given(run, range); }
    const std::vector<CountedKind> kinds = atom_kinds(system.topology);
    ListPlan best{1, range.cutoff, 0, 0};
    for (const int interval : {2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25})
    {
        const double buffer = complete_buffer(kinds, conditions.temperature, (interval - 1) * run.dt);
        const ListPlan plan{interval, range.cutoff + buffer, 0, 0};
        if (plan.cutoff <= range.largest && cost(plan, costs) < cost(best, costs)) { best = plan; }
    }
    return best;
}
ListPlan plan_complete_list(const System& system, const RunParameters& run, const ListCosts& costs)
{
    return plan_complete_list(system, run, start_conditions(system, run), costs);
}

ListPlan shorten_pair_list(const System& system, const RunParameters& run, const ListConditions& conditions, const ListPlan& plan,
                           const ListCosts& costs)
{
    if (is_as_given(run)) { return plan; }
    const double tolerance = tolerance_in_force(run, conditions);
    const ErrorEstimate error(system, run, conditions);
    int interval = plan.interval;
    while (interval > 1 && error(interval, plan.cutoff) > tolerance) { --interval; }
    return pruned(error, costs, interval, force_cutoff(run), plan.cutoff, tolerance);
}

ListPlan shorten_complete_list(const System& system, const RunParameters& run, const ListConditions& conditions,
                               const ListPlan& plan)
{
    if (is_as_given(run)) { return plan; }
    const std::vector<CountedKind> kinds = atom_kinds(system.topology);
    ListPlan shorter = plan;
    const auto reach = [&] {
        return force_cutoff(run) + complete_buffer(kinds, conditions.temperature, (shorter.interval - 1) * run.dt);
    };
    while (shorter.interval > 1 && reach() > plan.cutoff) { --shorter.interval; }
    return shorter;
}

} // namespace parhelion
