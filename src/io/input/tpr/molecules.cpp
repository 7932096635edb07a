// SPDX-License-Identifier: Apache-2.0
// tpr_topology(): converts molecules and their terms to the form of a topology file.
#include "io/input/tpr/tpr.hpp"

#include "base/units.hpp"
#include "io/input/error_list.hpp"
#include "io/input/top_molecule.hpp"
#include "model/virtual_sites.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace parhelion {

namespace {

// Returns the numbers of a function type in the form of model/interactions.hpp.
InteractionParameters parameters_of(InteractionKind kind, const std::vector<double>& p, const std::vector<TprMap>& maps)
{
    switch (kind)
    {
    case InteractionKind::G96Bond: // the file has the squared length
        return {std::sqrt(std::max(p[0], 0.0)), p[1]};
    case InteractionKind::G96Angle: // the file has the cosine of the angle
        return {std::acos(std::clamp(p[0], -1.0, 1.0)) / units::degree, p[1]};
    case InteractionKind::Cmap:
        return maps[static_cast<std::size_t>(p[0])].values;
    case InteractionKind::PositionRestraint: // in the file the reference position comes first
        return {p[3], p[4], p[5]};
    case InteractionKind::FlatBottomRestraint:
        return {p[0], p[4], p[5]};
    case InteractionKind::Pair14: // charges of its own: scale, two charges, c6, c12
        return p.size() == 5 ? InteractionParameters{p[3], p[4], p[0] * p[1] * p[2]} : p;
    case InteractionKind::NonbondedPair: // two charges, c6, c12
        return {p[2], p[3], p[0] * p[1]};
    case InteractionKind::DistanceRestraint: // low, up1, up2, factor, label, kind of averaging
        return {p[2], p[3], p[4], p[5], p[0], p[1]};
    default:
        return p;
    }
}

// Calls visit for the entries of one list, with their function type and atoms.
template <class Visit>
void each_entry(const TprList& list, const Visit& visit)
{
    const std::size_t size = 1 + static_cast<std::size_t>(list.function->atoms);
    for (std::size_t i = 0; i < list.entries.size(); i += size)
    {
        visit(list.entries[i], std::span(list.entries).subspan(i + 1, size - 1));
    }
}

// The parameter sets of the topology, made from function types. Each function type is stored once.
class ParameterSets
{
public:
    ParameterSets(const TprFile& file, Topology& topology)
        : file_(file), topology_(topology), table_(topology), set_of_(file.topology.function_types.size(), -1)
    {
    }

    std::int32_t of(std::int32_t type)
    {
        std::int32_t& set = set_of_[static_cast<std::size_t>(type)];
        if (set >= 0) { return set; }
        const TprFunctionType& from = file_.topology.function_types[static_cast<std::size_t>(type)];
        const InteractionParameters p = parameters_of(from.function->kind, from.parameters, file_.topology.maps);
        check(from.function->kind, p);
        return set = table_.add(from.function->kind, p);
    }
    const InteractionParameters& values(InteractionKind kind, std::int32_t set) const
    {
        return topology_.parameters_of(kind)[static_cast<std::size_t>(set)];
    }
    std::int32_t add(InteractionKind kind, const InteractionParameters& p) { return table_.add(kind, p); }

private:
    // Checks numbers on which the force laws rely.
    void check(InteractionKind kind, const InteractionParameters& p) const
    {
        constexpr double most_multiplicity = 100;
        const auto refuse = [&](const char* what) {
            throw InputError("E125", {file_.path, 0},
                             fmt::format("{} of a {} cannot be. Make the file anew.", what, row_of(kind).name));
        };
        switch (kind)
        {
        case InteractionKind::ProperDihedral:
        case InteractionKind::PeriodicImproper:
        case InteractionKind::AngleRestraint:
        case InteractionKind::AngleRestraintZ:
            if (std::abs(p[2]) > most_multiplicity) { refuse("the multiplicity"); }
            return;
        case InteractionKind::DihedralRestraint:
            if (p[1] < 0) { refuse("the flat part"); }
            return;
        case InteractionKind::FlatBottomRestraint:
            if (p[0] < 1 || p[0] > 8) { refuse("the geometry"); }
            return;
        case InteractionKind::FeneBond:
            if (!(p[0] > 0)) { refuse("the longest length"); }
            return;
        case InteractionKind::BoundedBond:
        case InteractionKind::DistanceRestraint:
            if (!(0 <= p[0] && p[0] <= p[1] && p[1] <= p[2])) { refuse("a bound"); }
            return;
        default:
            return;
        }
    }

    const TprFile& file_;
    Topology& topology_;
    ParameterTable table_;
    std::vector<std::int32_t> set_of_;
};

class MoleculeMaker
{
public:
    MoleculeMaker(const TprFile& file, ParameterSets& sets) : file_(file), sets_(sets) {}

    MoleculeType make(const TprMolecule& from)
    {
        molecule_ = from.type;
        check_particles(from);
        ErrorList errors;
        for (const TprList& list : from.lists)
        {
            errors.attempt([&] { take(list); });
        }
        errors.throw_if_any();
        check_settles();
        order();
        check_masses();
        return std::move(molecule_);
    }

private:
    [[noreturn]] void fail(const char* id, const std::string& message) const { throw InputError(id, {file_.path, 0}, message); }
    std::string name(std::int32_t atom) const
    {
        return fmt::format("atom {} ({}) of molecule type {}", atom + 1, at(atom).name, molecule_.name);
    }
    const Atom& at(std::int32_t atom) const { return molecule_.atoms[static_cast<std::size_t>(atom)]; }
    const std::vector<double>& numbers(std::int32_t type) const
    {
        return file_.topology.function_types[static_cast<std::size_t>(type)].parameters;
    }

    void check_particles(const TprMolecule& from) const
    {
        for (const std::int32_t particle : from.particles)
        {
            if (particle == particle_atom || particle == particle_nucleus || particle == particle_site) { continue; }
            fail("E130", "polarisation by shells is not supported (not planned). It is part of molecule type " + molecule_.name +
                             ", which the system contains. Nothing was run.");
        }
    }

    void take(const TprList& list)
    {
        const TprFunction& function = *list.function;
        switch (function.use)
        {
        case TprUse::Interaction:
            return function.kind == InteractionKind::DistanceRestraint ? take_distances(list) : take_terms(list);
        case TprUse::Constraint:
            return each_entry(list, [&](std::int32_t type, auto atoms) {
                expect_apart(list, atoms);
                molecule_.constraints.push_back({atoms[0], atoms[1], numbers(type)[0]});
            });
        case TprUse::Settle:
            return each_entry(list, [&](std::int32_t type, auto atoms) {
                expect_apart(list, atoms);
                molecule_.settles.push_back({atoms[0], atoms[1], atoms[2], numbers(type)[0], numbers(type)[1]});
            });
        case TprUse::Site:
            return each_entry(list, [&](std::int32_t type, auto atoms) {
                expect_apart(list, atoms);
                add_site({function.site, atoms[0], {atoms.begin() + 1, atoms.end()}, numbers(type)});
            });
        case TprUse::SiteRow:
            return take_means(list);
        case TprUse::Nothing:
            return;
        default:
            fail("E130", fmt::format("the function '{}' is not supported. It is part of molecule type {}, which the system "
                                     "contains. Nothing was run.",
                                     function.name, molecule_.name));
        }
    }

    // Checks that a term's atoms differ. The two vectors of an angle restraint may have atoms in common.
    void expect_apart(const TprList& list, std::span<const std::int32_t> atoms) const
    {
        const bool is_angle = list.function->use == TprUse::Interaction && list.function->kind == InteractionKind::AngleRestraint;
        const std::size_t apart = is_angle ? 2 : atoms.size();
        for (std::size_t i = 0; i < atoms.size(); ++i)
        {
            const auto* const place = &atoms[i];
            if (std::find(place - i % apart, place, *place) == place) { continue; }
            fail("E118", fmt::format("{} occurs twice in one '{}' (which no grompp writes). Make the file anew.", name(atoms[i]),
                                     list.function->name));
        }
    }

    void add_term(InteractionKind kind, std::span<const std::int32_t> atoms, std::int32_t set)
    {
        Interaction term;
        std::ranges::copy(atoms, term.atoms.begin());
        term.parameters = set;
        molecule_.of(kind).push_back(term);
    }
    void take_terms(const TprList& list)
    {
        each_entry(list, [&](std::int32_t type, std::span<const std::int32_t> atoms) {
            expect_apart(list, atoms);
            add_term(list.function->kind, atoms, sets_.of(type));
        });
    }

    // Takes distance restraints. Consecutive pairs with the same label form one. A single pair has no label in the model.
    void take_distances(const TprList& list)
    {
        constexpr InteractionKind kind = InteractionKind::DistanceRestraint;
        constexpr std::size_t label = 4;
        std::vector<std::pair<std::int32_t, std::span<const std::int32_t>>> pairs; // parameter set and atoms of each pair
        each_entry(list, [&](std::int32_t type, std::span<const std::int32_t> atoms) {
            expect_apart(list, atoms);
            pairs.emplace_back(sets_.of(type), atoms);
        });
        std::set<double> labels;
        for (std::size_t i = 0, end = 0; i < pairs.size(); i = end)
        {
            const InteractionParameters first = sets_.values(kind, pairs[i].first);
            while (end < pairs.size() && sets_.values(kind, pairs[end].first)[label] == first[label]) { ++end; }
            const bool is_one =
                std::all_of(pairs.begin() + static_cast<std::ptrdiff_t>(i), pairs.begin() + static_cast<std::ptrdiff_t>(end),
                            [&](const auto& pair) { return pair.first == pairs[i].first; });
            if (!labels.insert(first[label]).second || !is_one)
            {
                fail("E125", "distance restraints of one label are apart or differ. Give them indices of their own.");
            }
            const std::int32_t set = end - i > 1 ? pairs[i].first : sets_.add(kind, {first.begin(), first.begin() + label});
            for (; i < end; ++i) { add_term(kind, pairs[i].second, set); }
        }
    }

    void add_site(VirtualSite&& site)
    {
        std::vector<std::int32_t> from = site.from;
        std::ranges::sort(from);
        if (std::ranges::adjacent_find(from) != from.end()) { fail("E135", name(site.atom) + " is made of one atom twice."); }
        if (!constructed_.insert(site.atom).second) { fail("E135", name(site.atom) + " is made a virtual site twice."); }
        molecule_.sites.push_back(std::move(site));
    }
    // Takes sites of kind Mean. The file has a row for each constructing atom, and the first row has the number of atoms.
    void take_means(const TprList& list)
    {
        std::size_t rows_left = 0;
        double sum = 0;
        VirtualSite site;
        each_entry(list, [&](std::int32_t type, std::span<const std::int32_t> atoms) {
            expect_apart(list, atoms);
            const double rows = numbers(type)[0], weight = numbers(type)[1];
            if (rows_left == 0)
            {
                if (rows < 1 || rows > static_cast<double>(list.entries.size())) { fail("E118", "a virtual site has no rows."); }
                rows_left = static_cast<std::size_t>(rows);
                site = {SiteKind::Mean, atoms[0], {}, {}};
                sum = 0;
            }
            if (atoms[0] != site.atom) { fail("E118", "rows of virtual sites are mixed."); }
            site.from.push_back(atoms[1]);
            site.parameters.push_back(weight);
            sum += weight;
            if (--rows_left > 0) { return; }
            if (!(sum > 0) || std::ranges::any_of(site.parameters, [](double w) { return w < 0; }))
            {
                fail("E125", "the weights of virtual site " + name(site.atom) + " cannot be. Make the file anew.");
            }
            site.parameters.erase(site.parameters.begin());
            for (double& w : site.parameters) { w /= sum; }
            add_site(std::exchange(site, {}));
        });
        if (rows_left > 0) { fail("E118", "rows of a virtual site are missing."); }
    }

    void check_settles() const
    {
        std::set<std::int32_t> held;
        for (const Settle& s : molecule_.settles)
        {
            if (at(s.hydrogen_a).mass != at(s.hydrogen_b).mass)
            {
                fail("E134", "the last two atoms of a settle of molecule type " + molecule_.name +
                                 " differ in mass (the method needs them equal). Use constraints instead.");
            }
            if (!(s.oh > 0 && s.hh > 0 && s.hh < 2 * s.oh))
            {
                fail("E125", "the distances of a settle of molecule type " + molecule_.name + " do not make a triangle.");
            }
            for (const std::int32_t atom : {s.oxygen, s.hydrogen_a, s.hydrogen_b})
            {
                if (!held.insert(atom).second) { fail("E134", name(atom) + " is held by two settles. Keep one of them."); }
            }
        }
    }

    void order()
    {
        const std::optional<std::size_t> wrong = order_sites(molecule_.sites);
        if (!wrong) { return; }
        fail("E135", "virtual site " + name(molecule_.sites[*wrong].atom) + " is made of itself, through other sites.");
    }
    void check_masses() const
    {
        for (std::int32_t atom = 0; atom < static_cast<std::int32_t>(molecule_.atoms.size()); ++atom)
        {
            const bool is_site = constructed_.contains(atom);
            if (is_site && at(atom).mass != 0) { fail("E135", name(atom) + " is a virtual site and has a mass."); }
            if (!is_site && !(at(atom).mass > 0))
            {
                fail("E125", "the mass of " + name(atom) + " is not positive, and it is no virtual site (it could not move).");
            }
        }
    }

    const TprFile& file_;
    ParameterSets& sets_;
    MoleculeType molecule_;
    std::set<std::int32_t> constructed_; // atoms that are virtual sites
};

// Refuses features of the whole system that are not supported.
void refuse_unsupported(const TprFile& file, ErrorList& errors)
{
    const TprTopology& from = file.topology;
    const std::pair<bool, const char*> features[] = {
        {from.function_types[0].function->use == TprUse::Buckingham, "Buckingham potentials are"},
        {from.repulsion_power != 12, "a repulsion other than r^-12 is"},
        {from.has_intermolecular, "interactions between molecules ([ intermolecular_interactions ]) are"},
        {from.has_exclusion_group,
         "atoms that have no non-bonded interactions among each other, for another program's forces, are"}};
    for (const auto& [has_it, what] : features)
    {
        if (!has_it) { continue; }
        errors.attempt([&, what = what] {
            throw InputError("E130", {file.path, 0}, std::string(what) + " not supported (not planned). Nothing was run.");
        });
    }
}

// Returns the new index of each atom type, in order of occurrence, or -1 if it does not occur. Renumbers the atoms' types.
std::vector<std::int32_t> use_types(const TprTopology& from, const std::vector<std::int32_t>& molecules, Topology& topology)
{
    std::vector<std::int32_t> type_of(static_cast<std::size_t>(from.atom_types), -1);
    for (std::size_t i = 0; i < molecules.size(); ++i)
    {
        const std::vector<std::string>& names = from.molecules[static_cast<std::size_t>(molecules[i])].type_names;
        std::vector<Atom>& atoms = topology.molecule_types[i].atoms;
        for (std::size_t a = 0; a < atoms.size(); ++a)
        {
            std::int32_t& type = type_of[static_cast<std::size_t>(atoms[a].type)];
            if (type < 0)
            {
                type = topology.types();
                topology.type_names.push_back(names[a]);
            }
            atoms[a].type = type;
        }
    }
    return type_of;
}

void fill_matrix(const TprFile& file, const std::vector<std::int32_t>& type_of, Topology& topology)
{
    const auto types = static_cast<std::size_t>(topology.types()), all = type_of.size();
    topology.c6.resize(types * types);
    topology.c12.resize(types * types);
    for (std::size_t i = 0; i < all; ++i)
    {
        for (std::size_t j = 0; j < all; ++j)
        {
            if (type_of[i] < 0 || type_of[j] < 0) { continue; }
            const std::vector<double>& p = file.topology.function_types[i * all + j].parameters;
            if (p != file.topology.function_types[j * all + i].parameters)
            {
                throw InputError("E118", {file.path, 0},
                                 "the matrix of non-bonded parameters is not symmetric. Make the file anew.");
            }
            const std::size_t at = static_cast<std::size_t>(type_of[i]) * types + static_cast<std::size_t>(type_of[j]);
            topology.c6[at] = p[0];
            topology.c12[at] = p[1];
        }
    }
}

} // namespace

Topology tpr_topology(const TprFile& file, Diagnostics& diagnostics)
{
    const TprTopology& from = file.topology;
    Topology topology;
    topology.name = from.name;
    topology.fudge_qq = from.fudge_qq;
    ErrorList errors;
    refuse_unsupported(file, errors);
    ParameterSets sets(file, topology);
    std::vector<std::int32_t> molecules, place(from.molecules.size(), -1); // number of each molecule type that occurs
    bool differs_in_b = false;
    for (const TprBlock& block : from.blocks)
    {
        std::int32_t& type = place[static_cast<std::size_t>(block.type)];
        if (type < 0)
        {
            type = static_cast<std::int32_t>(molecules.size());
            molecules.push_back(block.type);
            const TprMolecule& molecule = from.molecules[static_cast<std::size_t>(block.type)];
            differs_in_b |= molecule.differs_in_b;
            MoleculeType& made = topology.molecule_types.emplace_back();
            errors.attempt([&] { made = MoleculeMaker(file, sets).make(molecule); });
        }
        topology.blocks.push_back({type, block.count, 0});
    }
    if (differs_in_b)
    {
        diagnostics.note("N023", {file.path, 0}, "the topology has values of a state B. Only free-energy would use them.");
    }
    errors.throw_if_any();
    fill_matrix(file, use_types(from, molecules, topology), topology);
    topology.finish();
    return topology;
}

} // namespace parhelion
