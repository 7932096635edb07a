// SPDX-License-Identifier: Apache-2.0
#include "io/input/top_molecule.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

namespace parhelion {

namespace {
constexpr std::size_t most_exclusions = 50'000'000; // for one molecule type; limits the memory if the bond graph makes no sense
// Returns whether a dihedral is zero everywhere. Force fields have many
// such dihedrals, so that a look-up finds an entry. They are not computed.
bool is_zero_dihedral(InteractionKind kind, const InteractionParameters& p)
{
    switch (kind)
    {
    case InteractionKind::ProperDihedral:
    case InteractionKind::PeriodicImproper:
    case InteractionKind::HarmonicImproper:
        return p[1] == 0;
    case InteractionKind::RyckaertBellemans:
        return std::ranges::all_of(p, [](double c) { return c == 0; });
    default:
        return false;
    }
}

std::int32_t known_type(const Fields& line, std::size_t column, const ForceField& force_field)
{
    const std::string_view name = line.word(column, "atom type");
    const std::int32_t type = force_field.find_type(name);
    if (type >= 0) { return type; }
    const std::string near = force_field.nearest_type(name);
    line.fail("E122", "unknown atom type " + in_quotes(name) + "." +
                          (near.empty() ? " Include the force field that defines it." : " Did you mean '" + near + "'?"));
}

} // namespace

std::int32_t ParameterTable::add(InteractionKind kind, const InteractionParameters& p)
{
    auto& list = topology_.parameters[static_cast<std::size_t>(kind)];
    const auto [entry, is_new] = index_[static_cast<std::size_t>(kind)].try_emplace(p, static_cast<std::int32_t>(list.size()));
    if (is_new) { list.push_back(p); }
    return entry->second;
}

void MoleculeDraft::read_excluded_bonds(const Fields& line)
{
    excluded_bonds_ = static_cast<int>(line.integer(1, "nrexcl", 0, std::numeric_limits<std::int32_t>::max()));
    line.expect_at_most(2);
}

void MoleculeDraft::read(const Fields& line, const SectionInfo& section, const ForceField& force_field, Diagnostics& diagnostics)
{
    if (is_misnumbered_) { return; }
    if (atoms_.empty() && section.section != Section::Atoms)
    {
        line.fail("E120", "[ " + std::string(section.name) + " ] before the [ atoms ] of molecule " + in_quotes(name_) +
                              ". Put [ atoms ] first.");
    }
    switch (section.section)
    {
    case Section::Atoms:
        read_atom(line, force_field, diagnostics);
        break;
    case Section::Settles:
        read_settle(line);
        break;
    case Section::Exclusions:
        read_exclusions(line);
        break;
    case Section::VirtualSites1:
    case Section::VirtualSites2:
    case Section::VirtualSites3:
    case Section::VirtualSites4:
        read_site(line, section);
        break;
    case Section::VirtualSitesN:
        read_mean_site(line);
        break;
    case Section::SkippedTerm:
        break;
    case Section::UnsupportedTerm:
        note_unsupported(line, std::string(section.refusal));
        break;
    default:
        read_term(line, section, diagnostics);
        break;
    }
}

void MoleculeDraft::note_unsupported(const Fields& line, std::string what)
{
    const auto same = [&](const auto& noted) { return noted.second == what; };
    if (std::ranges::none_of(unsupported_, same)) { unsupported_.emplace_back(line.place(), std::move(what)); }
}

// Columns: number, type, residue number, residue, name, charge group, [charge [mass]], [type, charge, mass of state B].
void MoleculeDraft::read_atom(const Fields& line, const ForceField& force_field, Diagnostics& diagnostics)
{
    const auto number = static_cast<std::int64_t>(atoms_.size()) + 1;
    is_misnumbered_ = true; // reset below if there is no error
    if (line.integer(0, "atom number", 1, std::numeric_limits<std::int32_t>::max() - 1) != number)
    {
        line.fail("E123", "atom number is " + in_quotes(line[0]) + " where " + std::to_string(number) +
                              " follows (the other sections count on it). Renumber the atoms from 1.");
    }
    is_misnumbered_ = false;
    Atom& atom = atoms_.emplace_back(); // added despite errors, so that the next atom has the right number
    const std::int32_t type = known_type(line, 1, force_field);
    const AtomType& defaults = force_field.type(type);
    std::string_view residue = line.word(2, "residue number");
    line.integer(5, "charge group", std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
    line.expect_at_most(11);
    const bool new_residue = residues_.empty() || residue != last_residue_number_ || line[3] != residues_.back().name;
    if (new_residue)
    {
        last_residue_number_ = residue;
        if (std::isalpha(static_cast<unsigned char>(residue.back())) != 0) { residue.remove_suffix(1); } // an insertion code
        const auto value = to_integer(residue);
        if (!value || *value < -1'000'000'000 || *value > 1'000'000'000)
        {
            line.fail("E121",
                      "residue number is " + in_quotes(line[2]) + ". Write a whole number, perhaps with one letter behind.");
        }
        residues_.push_back({std::string(line[3]), static_cast<int>(*value)});
    }
    atom.name = line[4];
    atom.type = type;
    atom.residue = static_cast<std::int32_t>(residues_.size()) - 1;
    atom.charge = line.size() > 6 ? line.real(6, "charge") : defaults.charge;
    atom.mass = line.size() > 7 ? line.real(7, "mass") : defaults.mass;
    if (defaults.particle == 'S') { note_unsupported(line, "polarisation by shells is not supported (not planned)"); }
    else if (!(atom.mass > 0) || defaults.particle == 'V' || defaults.particle == 'D')
    {
        massless_.push_back({static_cast<std::int32_t>(number - 1), line.place()});
    }
    if (line.size() <= 8) { return; }
    const bool same_type = known_type(line, 8, force_field) == type;
    const bool same_charge = line.size() < 10 || line.real(9, "charge of state B") == atom.charge;
    const bool same_mass = line.size() < 11 || line.real(10, "mass of state B") == atom.mass;
    if (!same_type || !same_charge || !same_mass) { note_state_b(line, diagnostics); }
}

void MoleculeDraft::read_term(const Fields& line, const SectionInfo& section, Diagnostics& diagnostics)
{
    // All function types of a section have the same number of atoms.
    const auto atoms = static_cast<std::size_t>(find_form(section.section, 1)->atoms());
    Term term{nullptr, {}, -1, line.place()};
    // The two vectors of an angle restraint may have atoms in common.
    const std::size_t apart = section.section == Section::AngleRestraints ? 2 : atoms;
    for (std::size_t i = 0; i < atoms; ++i)
    {
        term.atoms[i] = line.atom(i, atoms_.size());
        const auto* const place = &term.atoms[i];
        if (std::find(place - i % apart, place, *place) != place)
        {
            line.fail("E123", "atom " + std::to_string(term.atoms[i] + 1) + " occurs twice in one line of [ " +
                                  std::string(section.name) + " ]. Correct it.");
        }
    }
    const int function = line.size() == atoms ? 1 : line.function(atoms); // default type: 1, as in GROMACS
    term.form = find_form(section.section, function);
    if (term.form == nullptr) { return note_unsupported(line, unsupported_form(section.name, section.section, function)); }
    if (term.form->role == Role::Connection)
    {
        line.expect_at_most(atoms + 1);
        terms_.push_back(term);
        return;
    }
    InteractionParameters p{};
    if (read_parameters(line, atoms + 1, *term.form, p, diagnostics))
    {
        if (term.form->is_distance_restraint()) { note_restrained_pair(line, p); }
        term.parameters = static_cast<std::int32_t>(parameters_.size());
        parameters_.push_back(p);
    }
    else if (term.form->types == Section::None)
    {
        line.fail("E121", "has no parameters, and there is no table to look them up in. Complete the line.");
    }
    terms_.push_back(term);
}

// Adds a pair to a distance restraint; pairs of one index form a restraint. p: its parameters, index and type of averaging.
void MoleculeDraft::note_restrained_pair(const Fields& line, const InteractionParameters& p)
{
    const double index = p[4];
    const std::string pairs = "of index " + std::to_string(static_cast<std::int64_t>(index));
    const bool is_first = ++restrained_pairs_[index] == 1;
    if (!is_first && last_restraint_[4] != index)
    {
        line.fail("E125", "another distance restraint stands between this pair and others " + pairs +
                              " (they are one restraint; GROMACS would take them for several). Put them one behind the other, or "
                              "give each an index of its own.");
    }
    if (!is_first && last_restraint_ != p)
    {
        line.fail("E125", "pairs " + pairs +
                              " differ in their parameters (they are one restraint). Give all the same, or other indices.");
    }
    last_restraint_ = p;
}

void MoleculeDraft::read_settle(const Fields& line)
{
    const std::int32_t oxygen = line.atom(0, atoms_.size());
    const int function = line.function(1);
    if (function != 1) { return note_unsupported(line, unsupported_form("settles", Section::Settles, function)); }
    line.expect_at_most(4);
    Settle settle{oxygen, oxygen + 1, oxygen + 2, line.real(2, "distance O-H"), line.real(3, "distance H-H")};
    if (static_cast<std::size_t>(settle.hydrogen_b) >= atoms_.size())
    {
        line.fail("E123",
                  "the settle needs the two atoms that follow atom " + std::to_string(oxygen + 1) + ". Complete the molecule.");
    }
    if (!(settle.oh > 0 && settle.hh > 0 && settle.hh < 2 * settle.oh))
    {
        line.fail("E125", "the distances O-H " + in_quotes(line[2]) + " and H-H " + in_quotes(line[3]) +
                              " do not make a triangle. Correct them.");
    }
    settles_.push_back({settle, line.place()});
}

void MoleculeDraft::read_exclusions(const Fields& line)
{
    const std::int32_t a = line.atom(0, atoms_.size());
    for (std::size_t i = 1; i < line.size(); ++i)
    {
        if (const std::int32_t b = line.atom(i, atoms_.size()); b != a) { exclusions_.emplace_back(a, b); }
    }
}

std::string MoleculeDraft::describe(const Term& term) const
{
    std::string text = "molecule " + name_ + ", atoms";
    for (int i = 0; i < term.form->atoms(); ++i)
    {
        const std::int32_t a = term.atoms[static_cast<std::size_t>(i)];
        text += (i > 0 ? " - " : " ") + std::to_string(a + 1) + " " + atoms_[static_cast<std::size_t>(a)].name;
    }
    return text;
}

void MoleculeDraft::refuse_unsupported(const Preprocessor& source) const
{
    ErrorList errors;
    for (const auto& [place, what] : unsupported_)
    {
        errors.attempt([&] {
            throw InputError("E130", source.where(place),
                             what + ". It is part of molecule " + in_quotes(name_) +
                                 ", which the system contains. Nothing was run.");
        });
    }
    errors.throw_if_any();
}

MoleculeType MoleculeDraft::resolve(const Preprocessor& source, ForceField& force_field, Topology& topology,
                                    std::vector<std::int32_t>& type_of, ParameterTable& parameters) const
{
    if (atoms_.empty())
    {
        throw InputError("E120", source.where(place_), "molecule " + in_quotes(name_) + " has no atoms. Add [ atoms ].");
    }
    MoleculeType molecule;
    molecule.name = name_;
    molecule.residues = residues_;
    molecule.atoms = atoms_;
    for (Atom& atom : molecule.atoms)
    {
        std::int32_t& type = type_of[static_cast<std::size_t>(atom.type)];
        if (type < 0)
        {
            type = topology.types();
            topology.type_names.push_back(force_field.type(atom.type).name);
        }
        atom.type = type;
    }
    expect_masses(source);
    molecule.sites = resolve_sites(source);
    ErrorList errors;
    for (const Term& term : terms_)
    {
        errors.attempt([&] { add_term(term, source, force_field, parameters, molecule); });
    }
    errors.throw_if_any();
    shape_sites(source, force_field, topology, molecule);
    add_settles(source, molecule);
    add_exclusions(source, molecule);
    return molecule;
}

void MoleculeDraft::add_term(const Term& term, const Preprocessor& source, ForceField& force_field, ParameterTable& parameters,
                             MoleculeType& molecule) const
{
    const TermForm& form = *term.form;
    if (form.role == Role::Connection) { return; }
    std::array<TermAtom, most_atoms> atoms{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(form.atoms()); ++i)
    {
        const Atom& atom = atoms_[static_cast<std::size_t>(term.atoms[i])];
        atoms[i] = {atom.type, residues_[static_cast<std::size_t>(atom.residue)].name};
    }

    InteractionParameters found{};
    std::span<const InteractionParameters> lines;
    if (term.parameters >= 0) { lines = {&parameters_[static_cast<std::size_t>(term.parameters)], 1}; }
    else if (!form.is_pair()) { lines = force_field.find_bonded(form, {atoms.data(), static_cast<std::size_t>(form.atoms())}); }
    if (form.is_pair())
    {
        const auto pair =
            lines.empty() ? force_field.pair14(atoms[0].type, atoms[1].type) : force_field.pair14(lines[0][0], lines[0][1]);
        if (pair)
        {
            found = {pair->c6, pair->c12};
            if (form.has_charges()) { found.push_back(lines[0][2]); }
            lines = {&found, 1};
        }
    }
    if (lines.empty())
    {
        std::string names;
        for (std::size_t i = 0; i < static_cast<std::size_t>(form.atoms()); ++i)
        {
            names += (i > 0 ? "-" : "") + (form.section == Section::Pairs ? force_field.type(atoms[i].type).name
                                                                          : force_field.bonded_name(atoms[i].type));
        }
        throw InputError("E131", source.where(term.place),
                         "No default " + std::string(section_name(form.section)) + " types of function type " +
                             std::to_string(form.function) + " for " + names + " (" + describe(term) +
                             "). Add them to the force field or give the parameters on this line.");
    }
    if (form.is_distance_restraint())
    {
        found = lines[0];
        if (restrained_pairs_.at(found[4]) == 1) { found.resize(4); }
        lines = {&found, 1};
    }
    for (const InteractionParameters& p : lines)
    {
        if (form.is_constraint())
        {
            if (!(p[0] > 0))
            {
                throw InputError("E125", source.where(term.place),
                                 "the length of the constraint is not positive (" + describe(term) + "). Correct it.");
            }
            molecule.constraints.push_back({term.atoms[0], term.atoms[1], p[0]});
        }
        else if (!is_zero_dihedral(form.kind, p))
        {
            molecule.of(form.kind).push_back({term.atoms, parameters.add(form.kind, p)});
        }
    }
}

void MoleculeDraft::add_settles(const Preprocessor& source, MoleculeType& molecule) const
{
    std::vector<bool> held(atoms_.size(), false);
    for (const Constraint& c : molecule.constraints)
    {
        held[static_cast<std::size_t>(c.a)] = held[static_cast<std::size_t>(c.b)] = true;
    }
    for (const SettleLine& line : settles_)
    {
        const Settle& s = line.settle;
        if (atoms_[static_cast<std::size_t>(s.hydrogen_a)].mass != atoms_[static_cast<std::size_t>(s.hydrogen_b)].mass)
        {
            throw InputError("E134", source.where(line.place),
                             "the two atoms after the first of the settle differ in mass (the method needs them equal). Use "
                             "constraints instead.");
        }
        for (const std::int32_t a : {s.oxygen, s.hydrogen_a, s.hydrogen_b})
        {
            if (held[static_cast<std::size_t>(a)])
            {
                throw InputError("E134", source.where(line.place),
                                 "atom " + std::to_string(a + 1) +
                                     " is held by another settle or constraint too. Keep one of them.");
            }
            held[static_cast<std::size_t>(a)] = true;
        }
        molecule.settles.push_back(s);
    }
}

void MoleculeDraft::add_exclusions(const Preprocessor& source, MoleculeType& molecule) const
{
    std::vector<std::pair<std::int32_t, std::int32_t>> bonded;
    for (const Term& term : terms_)
    {
        if (term.form->role == Role::Bond || term.form->role == Role::Connection || term.form->role == Role::Constraint)
        {
            bonded.emplace_back(term.atoms[0], term.atoms[1]);
        }
    }
    if (!generate_exclusions(molecule, bonded, excluded_bonds_, exclusions_, most_exclusions))
    {
        throw InputError("E133", source.where(place_),
                         "molecule " + in_quotes(name_) + " has more than " + std::to_string(most_exclusions) +
                             " exclusions. Check nrexcl and the bonds.");
    }
}

} // namespace parhelion
