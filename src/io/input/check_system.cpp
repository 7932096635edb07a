// SPDX-License-Identifier: Apache-2.0
// check_system(): checks whether the parameters fit the system.
#include "base/units.hpp"
#include "io/input/check.hpp"
#include "io/input/excluded_pairs.hpp"
#include "model/dependent_constraints.hpp"
#include "model/ewald_error.hpp"
#include "model/mesh_limits.hpp"
#include "model/minimisers.hpp"
#include "model/ties.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace parhelion {

namespace {

bool has_constraints(const Topology& topology)
{
    return std::ranges::any_of(topology.molecule_types, [](const MoleculeType& type) { return !type.constraints.empty(); });
}

// Returns the second derivative of a bond's energy at its length b0, kJ/mol/nm^2.
double stiffness(InteractionKind kind, const InteractionParameters& p)
{
    switch (kind)
    {
    case InteractionKind::G96Bond: // k (b^2 - b0^2)^2 / 4
        return 2 * p[1] * p[0] * p[0];
    case InteractionKind::MorseBond: // D (1 - exp(-beta (b - b0)))^2
        return 2 * p[1] * p[2] * p[2];
    case InteractionKind::CubicBond: // k (b - b0)^2 plus higher terms
        return 2 * p[1];
    default:
        return p[1];
    }
}

class SystemCheck
{
public:
    SystemCheck(MdpInput& input, System& system, Diagnostics& diagnostics)
        : input_(input), p_(input.parameters), system_(system), diagnostics_(diagnostics)
    {
    }

    void run()
    {
        using Check = void (SystemCheck::*)();
        std::vector<Check> checks = {&SystemCheck::box,         &SystemCheck::mesh,          &SystemCheck::groups,
                                     &SystemCheck::constraints, &SystemCheck::restraints,    &SystemCheck::rigid_waters,
                                     &SystemCheck::charge,      &SystemCheck::excluded_pairs};
        if (!is_minimisation(p_.integrator))
        {
            checks.insert(checks.end(),
                          {&SystemCheck::degrees_of_freedom, &SystemCheck::rotation, &SystemCheck::time_step,
                           &SystemCheck::velocities, &SystemCheck::cutoff_of_charges, &SystemCheck::start_of_continuation});
        }
        ErrorList errors;
        for (const Check check : checks)
        {
            errors.attempt([&] { (this->*check)(); });
        }
        errors.throw_if_any();
    }

private:
    [[noreturn]] void fail(const char* id, const char* key, const std::string& message) const
    {
        throw InputError(id, input_.where(key), message);
    }
    void warn(const char* id, const char* key, const std::string& message) { diagnostics_.warn(id, input_.where(key), message); }
    void note(const char* id, const char* key, const std::string& message) { diagnostics_.note(id, input_.where(key), message); }

    void box()
    {
        check_box(system_.box, p_, [this](const char* key) { return input_.where(key); });
    }

    // Warns if the atoms of a settle do not exclude each other. As in GROMACS, a settle is no bond for generated exclusions.
    void rigid_waters()
    {
        for (const MoleculeType& type : system_.topology.molecule_types)
        {
            const bool excludes = std::ranges::all_of(type.settles, [&](const Settle& s) {
                return type.excludes(s.oxygen, s.hydrogen_a) && type.excludes(s.oxygen, s.hydrogen_b) &&
                       type.excludes(s.hydrogen_a, s.hydrogen_b);
            });
            if (excludes) { continue; }
            warn("W124", "",
                 "the atoms of the rigid water " + type.name +
                     " do not exclude each other, so that energies contain what they do to each other. Add [ exclusions ].");
        }
    }

    void mesh()
    {
        if (p_.coulomb != CoulombKind::Pme) { return; }
        const int given[] = {p_.mesh_nx, p_.mesh_ny, p_.mesh_nz};
        double in_all = 1, widest = 0;
        for (int d = 0; d < 3; ++d)
        {
            const double points = given[d] > 0 ? given[d] : std::ceil(system_.box.edge_lengths()[d] / p_.mesh_spacing);
            if (points > most_mesh_points)
            {
                fail("E542", "fourierspacing",
                     fmt::format(
                         "fourierspacing = {} nm asks for {:.4g} grid points of PME along {}, and {} are the most. Use about "
                         "0.12 nm, or give fourier-n{}.",
                         number_text(p_.mesh_spacing), points, "xyz"[d], most_mesh_points, "xyz"[d]));
            }
            in_all *= points;
            widest = std::max(widest, system_.box.edge_lengths()[d] / points);
        }
        if (in_all > most_points_of_mesh)
        {
            fail("E542", given[0] > 0 ? "fourier-nx" : "fourierspacing",
                 fmt::format(
                     "PME's mesh would have {:.4g} grid points, and {:.4g} are the most. Use a wider fourierspacing, or smaller "
                     "fourier-nx, -ny and -nz.",
                     in_all, most_points_of_mesh));
        }
        compare_with_mesh(widest);
    }

    // A low ewald-rtol makes the screening charges narrow. If the mesh is too coarse for them, forces become less accurate by it.
    void compare_with_mesh(double spacing)
    {
        constexpr double much = 2, usual = 1e-5;
        const auto error = [&](double tolerance) {
            RunParameters other = p_;
            other.ewald_tolerance = tolerance;
            return ewald_force_error(p_.pme_order, ewald_beta(other), spacing, p_.coulomb_cutoff);
        };
        double best = p_.ewald_tolerance;
        for (double tolerance = usual; tolerance > p_.ewald_tolerance; tolerance /= 10)
        {
            if (error(tolerance) < error(best)) { best = tolerance; }
        }
        const double ratio = error(p_.ewald_tolerance) / error(best);
        if (ratio < much) { return; }
        note("N255", "ewald-rtol",
             fmt::format(
                 "ewald-rtol = {} makes forces about {:.1f} times less accurate than {} would, as the mesh (spacing {:.3f} "
                 "nm, pme-order {}) is too coarse for it. Raise ewald-rtol, lower fourierspacing or raise pme-order.",
                 number_text(p_.ewald_tolerance), ratio, number_text(best), spacing, p_.pme_order));
    }

    void groups() { check_groups(input_, system_, diagnostics_); }

    // Constraints that depend on each other have no unique forces, and SETTLE needs waters that have
    // no other constraints. The simplest such case is a pair of atoms that is constrained twice.
    void constraints()
    {
        if (p_.integrator == Integrator::LBfgs && system_.topology.constraint_count() > 0)
        {
            fail("E270", "integrator",
                 "l-bfgs does not go with constraints or rigid water, as in GROMACS (its estimate of the curvature knows nothing "
                 "of them). Use cg or steep. Or remove the constraints: constraints = none, and flexible water if the topology "
                 "has it (define = -DFLEXIBLE).");
        }
        if (input_.shake && !has_constraints(system_.topology))
        {
            note("N127", "constraint-algorithm", "SHAKE is not used: there is nothing for it to constrain.");
        }
        for (const MoleculeType& type : system_.topology.molecule_types)
        {
            const auto name = [&](std::int32_t atom) {
                return std::to_string(atom + 1) + " (" + type.atoms[static_cast<std::size_t>(atom)].name + ")";
            };
            std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
            const auto add = [&](std::int32_t a, std::int32_t b) { pairs.push_back(std::minmax(a, b)); };
            for (const Constraint& c : type.constraints) { add(c.a, c.b); }
            for (const Settle& s : type.settles)
            {
                add(s.oxygen, s.hydrogen_a), add(s.oxygen, s.hydrogen_b), add(s.hydrogen_a, s.hydrogen_b);
            }
            std::sort(pairs.begin(), pairs.end());
            for (const Constraint& c : type.constraints)
            {
                if (c.length > 0) { continue; }
                fail("E125", "constraints",
                     "in molecule type " + type.name + " the bond of atoms " + name(c.a) + " and " + name(c.b) +
                         " is to be constrained to a length that is not positive. Correct its parameters.");
            }
            const auto twice = std::adjacent_find(pairs.begin(), pairs.end());
            if (twice == pairs.end()) { continue; }
            fail("E157", "constraints",
                 "in molecule type " + type.name + " the distance of atoms " + name(twice->first) + " and " +
                     name(twice->second) +
                     " is constrained twice, by a bond, a constraint or settles that is given more than once. Remove one of "
                     "them.");
        }
        for (const MoleculeBlock& block : system_.topology.blocks) { independence(block); }
    }

    // Tests all copies, because rings may have another shape in each copy.
    void independence(const MoleculeBlock& block)
    {
        const MoleculeType& type = system_.topology.molecule_types[static_cast<std::size_t>(block.type)];
        stop_if_water_is_held(type);
        const std::vector<Constraint>& constraints = type.constraints;
        if (have_no_ring(constraints)) { return; }
        stop_if_dependent(type, constraints, flat_triangles(constraints), block.first_atom);
        std::vector<Vec3<double>> direction(constraints.size());
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
            std::ranges::transform(constraints, direction.begin(),
                                   [&](const Constraint& c) { return separation(first + c.a, first + c.b); });
            const bool have_directions = std::ranges::all_of(direction, [](const auto& d) { return norm2(d) > 0; });
            if (have_directions) { stop_if_dependent(type, constraints, dependent_constraints(constraints, direction), first); }
        }
    }
    void stop_if_water_is_held(const MoleculeType& type) const
    {
        for (const Constraint& c : type.constraints)
        {
            for (const Settle& s : type.settles)
            {
                for (const std::int32_t atom : {s.oxygen, s.hydrogen_a, s.hydrogen_b})
                {
                    if (c.a != atom && c.b != atom) { continue; }
                    fail("E134", "constraints",
                         "atom " + std::to_string(atom + 1) + " of molecule type " + type.name +
                             " is held by a settle and, by a constraint or a bond that constraints = makes one, to an atom "
                             "outside it (each would undo what the other does). Replace the settle by three constraints.");
                }
            }
        }
    }
    void stop_if_dependent(const MoleculeType& type, const std::vector<Constraint>& constraints,
                           const std::vector<std::size_t>& dependent, std::int64_t first_atom) const
    {
        if (dependent.empty()) { return; }
        std::string which;
        for (const std::size_t i : dependent)
        {
            const auto name = [&](std::int32_t atom) {
                return std::to_string(atom + 1) + " (" + type.atoms[static_cast<std::size_t>(atom)].name + ")";
            };
            which += (which.empty() ? "" : ", ") + name(constraints[i].a) + " to " + name(constraints[i].b);
        }
        fail("E158", "constraints",
             "in molecule type " + type.name +
                 " constraints depend on others, as the third of three atoms on a line or the last of four in a plane: " + which +
                 ", with " + system_.topology.describe(first_atom) +
                 " as the first atom (their forces have no unique answer, and degrees of freedom would be counted wrong). Remove "
                 "these; a bond, an angle or a dihedral can keep the shape. If LINCS does not converge without them (E501), use "
                 "bonds for more of them.");
    }

    void restraints()
    {
        const std::int64_t restrained = system_.topology.position_restraint_count();
        if (restrained == 0) { return; }
        if (system_.restraint_reference.empty())
        {
            note("N120", "define",
                 std::to_string(restrained) + " position restraints refer to the starting positions, as no -r file is given.");
        }
        if (p_.barostat != Barostat::None && p_.shear_compressibility != Vec3<double>{})
        {
            fail("E140", "compressibility",
                 "position restraints in a box that pressure shears are not supported (planned). Set the last three values of "
                 "compressibility to 0, or leave restraints out.");
        }
        if (p_.com_mode != ComMode::None && !is_minimisation(p_.integrator))
        {
            note("N125", p_.com_groups.empty() ? "comm-mode" : "comm-grps",
                 "position restraints hold the system in place, yet its centre-of-mass motion is removed. Consider comm-mode = "
                 "None.");
        }
        if (p_.barostat != Barostat::None && p_.refcoord_scaling == RefcoordScaling::None)
        {
            warn("W120", "refcoord-scaling",
                 "position restraints in a box that changes, with refcoord-scaling = No, falsify the pressure. Use com.");
        }
    }

    void charge()
    {
        const double total = system_.topology.total_charge();
        if (std::abs(total - std::round(total)) > 0.01)
        {
            warn("W121", "",
                 "the total charge is " + number_text(std::round(total * 1e6) / 1e6) +
                     " e, not a whole number: a charge in the topology may be wrong.");
        }
        else if (std::abs(total) > 0.5) { note("N121", "", "the total charge is " + number_text(std::round(total)) + " e."); }
    }

    void cutoff_of_charges()
    {
        if (p_.coulomb != CoulombKind::CutOff) { return; }
        const auto has_charge = [](const MoleculeType& type) {
            return std::ranges::any_of(type.atoms, [](const Atom& atom) { return atom.charge != 0; });
        };
        if (std::ranges::none_of(system_.topology.molecule_types, has_charge)) { return; }
        const std::string message = "charges with a plain cut-off order themselves about it (in water the artefact is large)";
        const std::string advice = " Use coulombtype = PME or Reaction-Field.";
        if (p_.coulomb_potential_shift) { return note("N193", "coulombtype", message + "." + advice); }
        const char* const jump = ", and with coulomb-modifier = None the potential jumps there: no energy is conserved.";
        warn("W125", "coulombtype", message + jump + advice);
    }

    void degrees_of_freedom()
    {
        const std::int64_t of_group = p_.com_mode == ComMode::None ? 0 : p_.com_mode == ComMode::Angular ? 6 : 3;
        const std::int64_t removed = of_group * std::max<std::int64_t>(1, static_cast<std::int64_t>(p_.com_groups.size()));
        const std::int64_t moving = system_.topology.atom_count() - system_.topology.site_count();
        const std::int64_t degrees = 3 * moving - system_.topology.constraint_count() - removed;
        if (degrees > 0) { return; }
        fail("E156", "comm-mode",
             "constraints and comm-mode leave no degree of freedom, so there is no temperature. Use comm-mode = None or fewer "
             "constraints.");
    }

    void rotation()
    {
        if (p_.com_mode != ComMode::Angular) { return; }
        warn("W172", "comm-mode",
             "rotation is removed about the centre of mass of the atoms' places in the box (of a group that a face of the box "
             "cuts, as it does a liquid, that means nothing). Name in comm-grps molecules that stay together within the box, or "
             "use comm-mode = Linear.");
    }

    // Checks the time step. A bond needs about five steps per vibrational period to be stable, and ten to be accurate.
    void time_step()
    {
        double shortest = std::numeric_limits<double>::infinity();
        std::string which;
        for (const MoleculeType& type : system_.topology.molecule_types)
        {
            for (const InteractionKind kind :
                 {InteractionKind::HarmonicBond, InteractionKind::G96Bond, InteractionKind::MorseBond, InteractionKind::CubicBond,
                  InteractionKind::HarmonicPotential})
            {
                for (const Interaction& bond : type.of(kind))
                {
                    const InteractionParameters& p =
                        system_.topology.parameters_of(kind)[static_cast<std::size_t>(bond.parameters)];
                    const double k = stiffness(kind, p);
                    const Atom& a = type.atoms[static_cast<std::size_t>(bond.atoms[0])];
                    const Atom& b = type.atoms[static_cast<std::size_t>(bond.atoms[1])];
                    if (!(k > 0 && a.mass > 0 && b.mass > 0)) { continue; } // excludes virtual sites, which have no mass
                    const double period = 2 * units::pi * std::sqrt(a.mass * b.mass / ((a.mass + b.mass) * k));
                    if (period >= shortest) { continue; }
                    shortest = period;
                    which = a.name + "-" + b.name + " of molecule " + type.name;
                }
            }
        }
        if (shortest >= 10 * p_.dt) { return; }
        const std::string message =
            "bond " + which + " vibrates with a period of " + number_text(std::round(shortest * 1e5) / 1e5) + " ps, " +
            (shortest < 5 * p_.dt ? "less than 5" : "less than 10") + " time steps. Use constraints or a shorter dt.";
        if (shortest < 5 * p_.dt) { warn("W122", "dt", message); }
        else { note("N122", "dt", message); }
    }

    void velocities()
    {
        if (p_.generate_velocities)
        {
            if (!system_.v.empty())
            {
                note("N123", "gen-vel", "gen-vel = yes: the velocities of the structure file are not used.");
            }
            system_.v.clear();
        }
        else if (system_.v.empty())
        {
            note("N133", "gen-vel",
                 "the structure file has no velocities and gen-vel = no: the atoms start at rest. Set gen-vel = yes to draw "
                 "them.");
            system_.v.assign(system_.x.size(), {});
        }
    }

    // Checks the start. With continuation = yes constraints are not applied to it, and the first step would apply them by a jump.
    void start_of_continuation()
    {
        if (!p_.continuation) { return; }
        constexpr double rounding = 0.002; // nm: rounding to three decimals moves x, y and z by 0.0005
        double worst = rounding;
        std::int64_t broken = 0, worst_a = 0, worst_b = 0;
        const auto look_at = [&](std::int64_t a, std::int64_t b, double length) {
            const double off = std::abs(distance(a, b) - length);
            broken += off > rounding ? 1 : 0;
            if (off > worst) { worst = off, worst_a = a, worst_b = b; }
        };
        for (const MoleculeBlock& block : system_.topology.blocks)
        {
            const MoleculeType& type = system_.topology.molecule_types[static_cast<std::size_t>(block.type)];
            for (std::int64_t copy = 0; copy < block.count; ++copy)
            {
                const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
                for (const Constraint& c : type.constraints) { look_at(first + c.a, first + c.b, c.length); }
                for (const Settle& s : type.settles)
                {
                    look_at(first + s.oxygen, first + s.hydrogen_a, s.oh), look_at(first + s.oxygen, first + s.hydrogen_b, s.oh);
                    look_at(first + s.hydrogen_a, first + s.hydrogen_b, s.hh);
                }
            }
        }
        if (broken == 0) { return; }
        constexpr double thermal = 0.02; // nm: 3 % of a bond's length, five standard deviations of its vibration at 300 K
        const std::string message = "continuation = yes, but the start breaks constraints, " + std::to_string(broken) +
                                    " in all, that of " + system_.topology.describe(worst_a) + " and " +
                                    system_.topology.describe(worst_b) + " by " + number_text(std::round(worst * 1e6) / 1e6) +
                                    " nm (the first step will pull them into place). ";
        if (worst <= thermal) { return note("N194", "continuation", message + "continuation = no would do so at the start."); }
        warn("W126", "continuation",
             message + "Set continuation = no, or start from where the run before ended: vibration explains 0.02 nm at most.");
    }

    // Returns the vector from b to the nearest image of a, nm.
    Vec3<double> separation(std::int64_t a, std::int64_t b) const
    {
        return system_.box.image(system_.x[static_cast<std::size_t>(a)] - system_.x[static_cast<std::size_t>(b)]);
    }
    double distance(std::int64_t a, std::int64_t b) const { return norm(separation(a, b)); }

    // Checks excluded pairs. PME's mesh acts between excluded atoms, and this is subtracted with the pairs of the list.
    void excluded_pairs()
    {
        if (p_.coulomb != CoulombKind::Pme) { return; }
        const ExcludedPair longest = longest_excluded_pair(system_.topology, system_.x, system_.box);
        if (longest.distance <= p_.coulomb_cutoff) { return; }
        warn("W128", "rcoulomb",
             system_.topology.describe(longest.a) + " and " + system_.topology.describe(longest.b) + " exclude each other at " +
                 number_text(std::round(longest.distance * 1e4) / 1e4) + " nm, beyond rcoulomb (" +
                 number_text(p_.coulomb_cutoff) +
                 " nm): the mesh of PME acts between them all the same. Raise rcoulomb, or exclude fewer pairs.");
    }

    MdpInput& input_;
    RunParameters& p_;
    System& system_;
    Diagnostics& diagnostics_;
};

} // namespace

void check_constraint_algorithm(const MdpInput& input, const Topology& topology)
{
    if (!input.shake || !has_constraints(topology)) { return; }
    throw InputError("E140", input.where("constraint-algorithm"),
                     "constraint-algorithm = SHAKE is not supported (not planned), and there are constraints. Use LINCS.");
}

void check_box(const Box<double>& box, const RunParameters& parameters,
               const std::function<SourceLocation(const char* key)>& where)
{
    const double shortest = 2 * box.largest_cutoff();
    const bool given_list = parameters.buffer_tolerance < 0;
    const double reach = given_list ? parameters.list_cutoff : parameters.coulomb_cutoff;
    if (2 * reach < shortest) { return; }
    throw InputError("E152",
                     where(given_list                                         ? "rlist"
                           : parameters.coulomb_cutoff > parameters.lj_cutoff ? "rcoulomb"
                                                                              : "rvdw"),
                     (box.is_rectangular() ? "the shortest box edge is " : "the least distance of an atom and its image is ") +
                         number_text(std::round(shortest * 1e5) / 1e5) + " nm, but it must be longer than twice the " +
                         (given_list ? "rlist" : "cut-off") + " of " + number_text(reach) +
                         " nm (an atom would see another and its image). Use a larger box or a shorter cut-off.");
}

void check_system(MdpInput& input, System& system, Diagnostics& diagnostics) { SystemCheck(input, system, diagnostics).run(); }

} // namespace parhelion
