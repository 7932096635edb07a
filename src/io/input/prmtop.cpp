// SPDX-License-Identifier: Apache-2.0
#include "io/input/prmtop.hpp"

#include "io/input/amber_sites.hpp"
#include "io/input/top_molecule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

constexpr std::size_t most_exclusions_of_prmtop = 50'000'000; // limit for one molecule, the same as for a .top

// Returns the first atom of each molecule, and behind these the number of atoms.
std::vector<std::int32_t> molecule_starts(const AmberSystem& system)
{
    const auto atoms = static_cast<std::int32_t>(system.size());
    std::vector<std::int32_t> furthest(system.size()); // for each atom the last atom to which it is tied
    for (std::int32_t a = 0; a < atoms; ++a)
    {
        std::int32_t last = a;
        for (std::int64_t i = system.exclusion_start[static_cast<std::size_t>(a)];
             i < system.exclusion_start[static_cast<std::size_t>(a) + 1]; ++i)
        {
            last = std::max(last, system.excluded[static_cast<std::size_t>(i)]);
        }
        furthest[static_cast<std::size_t>(a)] = last;
    }
    const auto tie = [&](const std::vector<AmberTerm>& terms, std::ptrdiff_t arity) {
        for (const AmberTerm& term : terms)
        {
            const auto [first, last] = std::minmax_element(term.atoms.begin(), term.atoms.begin() + arity);
            std::int32_t& reach = furthest[static_cast<std::size_t>(*first)];
            reach = std::max(reach, *last);
        }
    };
    tie(system.bonds, 2), tie(system.angles, 3), tie(system.dihedrals, 4), tie(system.maps, 5);
    tie(system.end_bonds, 2), tie(system.harmonic_impropers, 4);
    std::vector<std::int32_t> starts;
    std::int32_t last = -1;
    for (std::int32_t a = 0; a < atoms; ++a)
    {
        if (a > last) { starts.push_back(a); }
        last = std::max(last, furthest[static_cast<std::size_t>(a)]);
    }
    starts.push_back(atoms);
    return starts;
}

// Terms sorted by molecule, and within a molecule in the file's order.
class TermsByMolecule
{
public:
    TermsByMolecule(std::vector<AmberTerm>&& terms, int arity, const std::vector<std::int32_t>& molecule_of,
                    std::size_t molecules)
        : arity_(static_cast<std::size_t>(arity)), start_(molecules + 1), terms_(terms.size())
    {
        const auto molecule = [&](const AmberTerm& term) {
            return static_cast<std::size_t>(molecule_of[static_cast<std::size_t>(term.atoms[0])]);
        };
        for (const AmberTerm& term : terms) { ++start_[molecule(term) + 1]; }
        for (std::size_t m = 0; m < molecules; ++m) { start_[m + 1] += start_[m]; }
        std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
        for (const AmberTerm& term : terms) { terms_[next[molecule(term)]++] = term; }
        terms = {};
    }
    // Calls visit for the terms of a molecule, with atoms numbered within the molecule.
    template <class Visit>
    void each(std::size_t molecule, std::int32_t first_atom, const Visit& visit) const
    {
        for (std::size_t i = start_[molecule]; i < start_[molecule + 1]; ++i)
        {
            AmberTerm term = terms_[i];
            for (std::size_t k = 0; k < arity_; ++k) { term.atoms[k] -= first_atom; }
            visit(std::as_const(term));
        }
    }
    std::size_t arity() const { return arity_; }

private:
    std::size_t arity_;
    std::vector<std::size_t> start_;
    std::vector<AmberTerm> terms_;
};

class PrmtopReader
{
    enum Terms
    {
        Bonds,
        Angles,
        Dihedrals,
        Maps,
        EndBonds,
        Impropers
    };

public:
    explicit PrmtopReader(MappedFile file) : sections_(std::move(file)), system_(sections_) {}
    Prmtop read(Diagnostics& diagnostics);

private:
    using Signature = std::vector<std::int64_t>;

    void divide();
    void name(const std::vector<std::string_view>& names, std::vector<std::int32_t>& numbers);
    void describe(std::size_t molecule, Signature& signature) const;
    std::int32_t add_molecule_type(std::size_t molecule);
    void add_atoms(std::size_t molecule, MoleculeType& type);
    std::string unused_name(std::string_view wanted);
    void add_exclusions(std::size_t molecule, MoleculeType& type) const;
    void add_bonds(std::size_t molecule, MoleculeType& type);
    void add_terms(Terms which, InteractionKind kind, const std::vector<InteractionParameters>& types, std::size_t molecule,
                   MoleculeType& type);
    void add_angles(std::size_t molecule, MoleculeType& type);
    void add_dihedrals(std::size_t molecule, MoleculeType& type);
    void add_pair(const AmberTerm& term, std::int32_t first, MoleculeType& type);
    void add_lennard_jones();

    std::int32_t first_atom(std::size_t molecule) const { return starts_[molecule]; }
    std::size_t size(std::size_t molecule) const { return static_cast<std::size_t>(starts_[molecule + 1] - starts_[molecule]); }

    AmberSections sections_;
    AmberSystem system_;
    std::vector<std::int32_t> starts_;
    std::vector<TermsByMolecule> terms_;             // indexed by Terms
    std::vector<std::int32_t> name_of_, residue_of_; // numbers of names, by atom; equal names have equal numbers
    std::vector<std::int32_t> residue_name_of_;      // number of the name, by residue
    std::unordered_map<std::string_view, std::int32_t> all_names_;
    Topology topology_;
    ParameterTable parameters_{topology_};
    bool has_pairs_ = false;
    std::set<std::string> type_names_;    // names of the molecule types
    std::map<std::string, int> numbered_; // for each name: number of molecule types with this name and a number
    std::int64_t other_hydrogens_ = 0;    // bonds that involve a hydrogen by the file but not by atom names, or the reverse
    std::vector<std::int32_t> type_of_;   // type in the topology, by Lennard-Jones type; -1: not used yet
};

void PrmtopReader::name(const std::vector<std::string_view>& names, std::vector<std::int32_t>& numbers)
{
    numbers.reserve(names.size());
    for (const std::string_view name : names)
    {
        numbers.push_back(all_names_.try_emplace(name, static_cast<std::int32_t>(all_names_.size())).first->second);
    }
}

void PrmtopReader::divide()
{
    starts_ = molecule_starts(system_);
    const std::size_t molecules = starts_.size() - 1;
    std::vector<std::int32_t> molecule_of(system_.size());
    for (std::size_t m = 0; m < molecules; ++m)
    {
        std::fill(molecule_of.begin() + starts_[m], molecule_of.begin() + starts_[m + 1], static_cast<std::int32_t>(m));
    }
    terms_.emplace_back(std::move(system_.bonds), 2, molecule_of, molecules);
    terms_.emplace_back(std::move(system_.angles), 3, molecule_of, molecules);
    terms_.emplace_back(std::move(system_.dihedrals), 4, molecule_of, molecules);
    terms_.emplace_back(std::move(system_.maps), 5, molecule_of, molecules);
    terms_.emplace_back(std::move(system_.end_bonds), 2, molecule_of, molecules);
    terms_.emplace_back(std::move(system_.harmonic_impropers), 4, molecule_of, molecules);
    name(system_.names, name_of_);
    name(system_.residue_names, residue_name_of_);
    residue_of_.resize(system_.size());
    for (std::size_t r = 0; r + 1 < system_.residue_starts.size(); ++r)
    {
        std::fill(residue_of_.begin() + system_.residue_starts[r], residue_of_.begin() + system_.residue_starts[r + 1],
                  static_cast<std::int32_t>(r));
    }
}

// Describes a molecule completely by numbers, so that equal molecules have equal descriptions.
void PrmtopReader::describe(std::size_t molecule, Signature& signature) const
{
    const std::int32_t first = first_atom(molecule), first_residue = residue_of_[static_cast<std::size_t>(first)];
    signature.clear();
    signature.push_back(static_cast<std::int64_t>(size(molecule)));
    for (std::int32_t atom = first; atom < starts_[molecule + 1]; ++atom)
    {
        const auto a = static_cast<std::size_t>(atom);
        const auto residue = static_cast<std::size_t>(residue_of_[a]);
        for (const std::int64_t number :
             {std::int64_t{name_of_[a]}, std::int64_t{residue_of_[a] - first_residue}, std::int64_t{residue_name_of_[residue]},
              std::int64_t{system_.types[a]}, std::bit_cast<std::int64_t>(system_.masses[a]),
              std::bit_cast<std::int64_t>(system_.charges[a]), system_.exclusion_start[a + 1] - system_.exclusion_start[a]})
        {
            signature.push_back(number);
        }
        for (std::int64_t i = system_.exclusion_start[a]; i < system_.exclusion_start[a + 1]; ++i)
        {
            signature.push_back(system_.excluded[static_cast<std::size_t>(i)] - first);
        }
    }
    for (const TermsByMolecule& terms : terms_)
    {
        const std::size_t at = signature.size();
        signature.push_back(0);
        terms.each(molecule, first, [&](const AmberTerm& term) {
            signature.insert(signature.end(), term.atoms.begin(),
                             term.atoms.begin() + static_cast<std::ptrdiff_t>(terms.arity()));
            signature.push_back(4 * std::int64_t{term.type} + 2 * term.has_pair + term.is_improper);
            ++signature[at];
        });
    }
}

Prmtop PrmtopReader::read(Diagnostics& diagnostics)
{
    divide();
    topology_.name = system_.title;
    type_of_.assign(static_cast<std::size_t>(system_.lennard_jones_types), -1);
    std::map<Signature, std::int32_t> known;
    const std::pair<const Signature, std::int32_t>* last = nullptr; // most molecules equal the molecule before them
    Signature signature;
    for (std::size_t m = 0; m + 1 < starts_.size(); ++m)
    {
        describe(m, signature);
        if (last != nullptr && signature == last->first)
        {
            ++topology_.blocks.back().count;
            continue;
        }
        auto found = known.find(signature);
        if (found == known.end()) { found = known.emplace(signature, add_molecule_type(m)).first; }
        last = &*found;
        topology_.blocks.push_back({found->second, 1, 0});
    }
    add_lennard_jones();
    topology_.finish();
    if (other_hydrogens_ > 0)
    {
        diagnostics.note(
            "N198", sections_.where("BONDS_INC_HYDROGEN"),
            fmt::format("{} bonds of molecule types are of hydrogen here and not by the names of their atoms, or the "
                        "other way round. constraints = h-bonds goes by names, which begin with H.",
                        other_hydrogens_));
    }
    return {std::move(topology_), system_.box};
}

std::int32_t PrmtopReader::add_molecule_type(std::size_t molecule)
{
    MoleculeType type;
    add_atoms(molecule, type);
    add_exclusions(molecule, type);
    add_bonds(molecule, type);
    add_angles(molecule, type);
    add_dihedrals(molecule, type);
    add_terms(Impropers, InteractionKind::HarmonicImproper, system_.improper_types, molecule, type);
    add_terms(Maps, InteractionKind::Cmap, system_.map_types, molecule, type);
    topology_.molecule_types.push_back(std::move(type));
    return static_cast<std::int32_t>(topology_.molecule_types.size()) - 1;
}

std::string PrmtopReader::unused_name(std::string_view wanted)
{
    std::string name(wanted);
    int& last = numbered_[name];
    while (!type_names_.insert(name).second) { name = fmt::format("{}_{}", wanted, ++last + 1); }
    return name;
}

// Adds atoms and residues. Residues keep the numbers that they have in the first copy in AMBER's file.
void PrmtopReader::add_atoms(std::size_t molecule, MoleculeType& type)
{
    std::int32_t last_residue = -1;
    for (std::int32_t atom = first_atom(molecule); atom < starts_[molecule + 1]; ++atom)
    {
        const auto a = static_cast<std::size_t>(atom);
        if (std::exchange(last_residue, residue_of_[a]) != residue_of_[a])
        {
            type.residues.push_back(
                {std::string(system_.residue_names[static_cast<std::size_t>(residue_of_[a])]), residue_of_[a] + 1});
        }
        std::int32_t& lj = type_of_[static_cast<std::size_t>(system_.types[a])];
        if (lj < 0)
        {
            lj = topology_.types();
            topology_.type_names.emplace_back(system_.type_names[a]);
        }
        Atom& added = type.atoms.emplace_back();
        added.name = system_.names[a];
        added.type = lj;
        added.residue = static_cast<std::int32_t>(type.residues.size()) - 1;
        added.mass = system_.masses[a];
        added.charge = system_.charges[a];
    }
    type.name = unused_name(type.residues.size() == 1 ? type.residues[0].name : "molecule");
}

void PrmtopReader::add_exclusions(std::size_t molecule, MoleculeType& type) const
{
    const std::int32_t first = first_atom(molecule);
    std::vector<std::pair<std::int32_t, std::int32_t>> excluded;
    for (std::int32_t atom = first; atom < starts_[molecule + 1]; ++atom)
    {
        const auto a = static_cast<std::size_t>(atom);
        for (std::int64_t i = system_.exclusion_start[a]; i < system_.exclusion_start[a + 1]; ++i)
        {
            excluded.emplace_back(atom - first, system_.excluded[static_cast<std::size_t>(i)] - first);
        }
    }
    if (!generate_exclusions(type, {}, 0, excluded, most_exclusions_of_prmtop))
    {
        sections_.fail("E133", "EXCLUDED_ATOMS_LIST", 0,
                       fmt::format("gives one molecule more than {} exclusions.", most_exclusions_of_prmtop));
    }
}

void PrmtopReader::add_bonds(std::size_t molecule, MoleculeType& type)
{
    std::vector<AmberBond> bonds;
    terms_[Bonds].each(molecule, first_atom(molecule), [&](const AmberTerm& term) {
        bonds.push_back({term.atoms[0], term.atoms[1], system_.bond_types[static_cast<std::size_t>(term.type)]});
        const auto is_hydrogen = [&](int i) {
            const Atom& atom = type.atoms[static_cast<std::size_t>(term.atoms[static_cast<std::size_t>(i)])];
            return atom.name[0] == 'H' || atom.name[0] == 'h';
        };
        const bool named = is_hydrogen(0) || is_hydrogen(1);
        if (named != term.has_hydrogen && !joins_point(bonds.back(), type)) { ++other_hydrogens_; }
    });
    const std::int32_t atom = add_extra_points(bonds, type);
    if (atom >= 0)
    {
        sections_.fail(
            "E130", "MASS", first_atom(molecule) + atom,
            fmt::format("says that atom {} ({} of residue {}) has no mass, and it is not the extra point of a four-site "
                        "water, the only one that is supported (others are not planned). Nothing was run.",
                        first_atom(molecule) + atom + 1, type.atoms[static_cast<std::size_t>(atom)].name,
                        type.residues[static_cast<std::size_t>(type.atoms[static_cast<std::size_t>(atom)].residue)].name));
    }
    for (const AmberBond& bond : bonds)
    {
        type.of(InteractionKind::HarmonicBond)
            .push_back({{bond.a, bond.b}, parameters_.add(InteractionKind::HarmonicBond, bond.parameters)});
    }
}

void PrmtopReader::add_terms(Terms which, InteractionKind kind, const std::vector<InteractionParameters>& types,
                             std::size_t molecule, MoleculeType& type)
{
    terms_[which].each(molecule, first_atom(molecule), [&](const AmberTerm& term) {
        type.of(kind).push_back({term.atoms, parameters_.add(kind, types[static_cast<std::size_t>(term.type)])});
    });
}

// Adds angles. A bond between the ends of an angle, and this angle, become one term.
void PrmtopReader::add_angles(std::size_t molecule, MoleculeType& type)
{
    std::multimap<std::pair<std::int32_t, std::int32_t>, InteractionParameters> ends;
    terms_[EndBonds].each(molecule, first_atom(molecule), [&](const AmberTerm& term) {
        ends.emplace(std::minmax(term.atoms[0], term.atoms[1]), system_.end_bond_types[static_cast<std::size_t>(term.type)]);
    });
    terms_[Angles].each(molecule, first_atom(molecule), [&](const AmberTerm& term) {
        InteractionParameters p = system_.angle_types[static_cast<std::size_t>(term.type)];
        const auto bond = ends.find(std::minmax(term.atoms[0], term.atoms[2]));
        const InteractionKind kind = bond == ends.end() ? InteractionKind::HarmonicAngle : InteractionKind::UreyBradley;
        if (bond != ends.end())
        {
            p.insert(p.end(), bond->second.begin(), bond->second.end());
            ends.erase(bond);
        }
        type.of(kind).push_back({term.atoms, parameters_.add(kind, p)});
    });
    if (!ends.empty())
    {
        const auto [a, b] = ends.begin()->first;
        sections_.fail("E130", "CHARMM_UREY_BRADLEY", 0,
                       fmt::format("has a term of atoms {} and {}, which are the ends of no angle, or of fewer than it has terms "
                                   "(that is not supported, not planned). Nothing was run.",
                                   first_atom(molecule) + a + 1, first_atom(molecule) + b + 1));
    }
}

// Adds dihedrals. Dihedrals that are zero everywhere are left out, as from a .top, but their 1-4 pairs are kept.
void PrmtopReader::add_dihedrals(std::size_t molecule, MoleculeType& type)
{
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    terms_[Dihedrals].each(molecule, first_atom(molecule), [&](const AmberTerm& term) {
        const InteractionParameters& p = system_.dihedral_types[static_cast<std::size_t>(term.type)];
        const InteractionKind kind = term.is_improper ? InteractionKind::PeriodicImproper : InteractionKind::ProperDihedral;
        if (p[1] != 0) { type.of(kind).push_back({term.atoms, parameters_.add(kind, p)}); }
        if (!term.has_pair) { return; }
        const auto [a, b] = std::minmax(term.atoms[0], term.atoms[3]);
        const bool is_excluded = type.excludes(a, b);
        if (!is_excluded || !pairs.emplace(a, b).second)
        {
            sections_.fail(
                "E125", "DIHEDRALS_INC_HYDROGEN", 0,
                fmt::format("and its sibling make atoms {} and {} a 1-4 pair {} (a pair is excluded from other "
                            "interactions, and scaled once). Was the file written by another program than tleap or ParmEd?",
                            first_atom(molecule) + a + 1, first_atom(molecule) + b + 1,
                            is_excluded ? "twice" : "that EXCLUDED_ATOMS_LIST does not have"));
        }
        add_pair(term, first_atom(molecule), type);
    });
}

// Adds a 1-4 pair. The charge scale of the first pair becomes the topology's. Pairs with other scales have their own charges.
void PrmtopReader::add_pair(const AmberTerm& term, std::int32_t first, MoleculeType& type)
{
    const auto t = static_cast<std::size_t>(term.type);
    const double coulomb = system_.coulomb_divisors[t], lj = system_.lennard_jones_divisors[t];
    constexpr double least = 1e-6; // keeps quotients finite
    if (!(coulomb >= least) || !(lj >= least))
    {
        sections_.fail("E125", coulomb >= least ? "SCNB_SCALE_FACTOR" : "SCEE_SCALE_FACTOR", term.type,
                       "has a divisor of 1-4 pairs that is not positive. Correct it.");
    }
    const double scale = 1 / coulomb;
    if (!std::exchange(has_pairs_, true)) { topology_.fudge_qq = scale; }
    const auto type_of = [&](std::int32_t atom) {
        return static_cast<std::size_t>(system_.types[static_cast<std::size_t>(first + atom)]);
    };
    const std::size_t at =
        type_of(term.atoms[0]) * static_cast<std::size_t>(system_.lennard_jones_types) + type_of(term.atoms[3]);
    InteractionParameters p = {system_.c6_14[at] / lj, system_.c12_14[at] / lj};
    if (scale != topology_.fudge_qq)
    {
        const auto charge = [&](std::int32_t atom) { return type.atoms[static_cast<std::size_t>(atom)].charge; };
        p.push_back(scale * charge(term.atoms[0]) * charge(term.atoms[3]));
    }
    type.of(InteractionKind::Pair14).push_back({{term.atoms[0], term.atoms[3]}, parameters_.add(InteractionKind::Pair14, p)});
}

void PrmtopReader::add_lennard_jones()
{
    const auto types = static_cast<std::size_t>(topology_.types()), all = type_of_.size();
    topology_.c6.resize(types * types), topology_.c12.resize(types * types);
    for (std::size_t i = 0; i < all; ++i)
    {
        for (std::size_t j = 0; j < all && type_of_[i] >= 0; ++j)
        {
            if (type_of_[j] < 0) { continue; }
            const std::size_t at = static_cast<std::size_t>(type_of_[i]) * types + static_cast<std::size_t>(type_of_[j]);
            topology_.c6[at] = system_.c6[i * all + j], topology_.c12[at] = system_.c12[i * all + j];
        }
    }
}

} // namespace

bool is_prmtop(std::string_view text) { return text.starts_with("%VERSION"); }

Prmtop read_prmtop(MappedFile file, Diagnostics& diagnostics) { return PrmtopReader(std::move(file)).read(diagnostics); }

} // namespace parhelion
