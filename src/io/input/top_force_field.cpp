// SPDX-License-Identifier: Apache-2.0
#include "io/input/top_force_field.hpp"

#include "io/input/mdp_value.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

namespace parhelion {

namespace {

bool is_single_letter(std::string_view word)
{
    return word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0])) != 0;
}
bool is_single_digit(std::string_view word) { return word.size() == 1 && std::isdigit(static_cast<unsigned char>(word[0])) != 0; }

// Returns the number in column i. If a word stands there, returns its index in `words`, counted from 1.
std::int64_t number_or_word(const Fields& line, std::size_t i, std::string_view what, const std::vector<std::string_view>& words)
{
    const std::string given = normalised(line.word(i, what));
    for (std::size_t w = 0; w < words.size(); ++w)
    {
        if (given == normalised(words[w])) { return static_cast<std::int64_t>(w) + 1; }
    }
    return line.integer(i, what, 1, static_cast<std::int64_t>(words.size()));
}

// Returns the names of a term's atoms as tables store them: the smaller direction, if both directions mean the same term.
template <class Key>
Key canonical(const TermForm& form, Key forward)
{
    if (form.role == Role::Directed) { return forward; }
    Key backward = forward;
    std::reverse(backward.begin(), backward.begin() + form.atoms());
    return std::min(forward, backward);
}

// Reads the size of a square table, which is given twice, and its values. Returns true.
bool read_table(const Fields& line, std::size_t first, InteractionParameters& p)
{
    constexpr int most_nodes = 1000; // limits the memory, which is proportional to its square
    const auto rows = line.integer(first, "size of the map", 2, most_nodes);
    if (line.integer(first + 1, "size of the map", 2, most_nodes) != rows)
    {
        line.fail("E121", "the map is " + in_quotes(line[first]) + " by " + in_quotes(line[first + 1]) +
                              " (both of its angles need the same nodes). Correct the line.");
    }
    const auto n = static_cast<std::size_t>(rows * rows), given = line.size() - (first + 2);
    if (given != n)
    {
        line.fail("E121", "has " + std::to_string(given) + " values of a map; " + std::to_string(rows) + " x " +
                              std::to_string(rows) + " are " + std::to_string(n) +
                              ". Complete the line; does each line of it but the last end in a backslash?");
    }
    p.resize(n);
    for (std::size_t i = 0; i < n; ++i) { p[i] = line.real(first + 2 + i, "value of the map"); }
    return true;
}

// Converts V = 1/2 sum_n F_n (1 - (-1)^n cos n phi), n = 1 ... 4, to the polynomial sum_n C_n cos^n psi with
// psi = phi - 180 degrees, by powers of cos phi = -cos psi (GROMACS manual, "Fourier dihedral function").
InteractionParameters ryckaert_bellemans(const InteractionParameters& fourier)
{
    const double f1 = fourier[0], f2 = fourier[1], f3 = fourier[2], f4 = fourier[3];
    return {0.5 * (f1 + f3) + f2, 0.5 * (3 * f3 - f1), 4 * f4 - f2, -2 * f3, -4 * f4, 0};
}

void check_bounds(const Fields& line, std::size_t first, const InteractionParameters& p)
{
    if (0 <= p[0] && p[0] <= p[1] && p[1] <= p[2]) { return; }
    line.fail("E125", "the bounds " + in_quotes(line[first]) + ", " + in_quotes(line[first + 1]) + " and " +
                          in_quotes(line[first + 2]) +
                          " are negative or fall (the energy would jump). Give low, up1 and up2, each at least the one before.");
}

void check_distance_restraint(const Fields& line, std::size_t first, const InteractionParameters& p)
{
    line.integer(first, "index", 0, std::numeric_limits<std::int32_t>::max());
    line.integer(first + 1, "type of averaging", 1, 2);
    check_bounds(line, first + 2, p);
}

// Refuses numbers that make no sense as parameters. p: parameters in the form in which the topology stores them.
void check_parameters(const Fields& line, std::size_t first, const TermForm& form, const InteractionParameters& p)
{
    if (form.is_constraint()) { return; }
    switch (form.kind)
    {
    case InteractionKind::ProperDihedral:
    case InteractionKind::PeriodicImproper:
    case InteractionKind::AngleRestraint:
    case InteractionKind::AngleRestraintZ:
        if (p[2] == std::nearbyint(p[2]) && std::abs(p[2]) <= 100) { return; }
        line.fail("E125", "multiplicity " + in_quotes(line[first + 2]) + " is not a whole number of at most 100. Correct it.");
    case InteractionKind::FeneBond:
        if (p[0] > 0) { return; }
        line.fail("E125", "the length that the bond never has, " + in_quotes(line[first]) + ", is not positive. Correct it.");
    case InteractionKind::BoundedBond:
        return check_bounds(line, first, p);
    case InteractionKind::DihedralRestraint:
        if (p[1] >= 0) { return; }
        line.fail("E125", "the flat part of the restraint, " + in_quotes(line[first + 1]) +
                              " degrees to both sides, is negative. Correct it.");
    case InteractionKind::FlatBottomRestraint:
        line.integer(first, "geometry", 1, 8);
        return;
    case InteractionKind::DistanceRestraint:
        return check_distance_restraint(line, first, p);
    default:
        return;
    }
}

} // namespace

void note_state_b(const Fields& line, Diagnostics& diagnostics)
{
    if (std::ranges::any_of(diagnostics.notes, [](const Warning& note) { return note.id == "N023"; })) { return; }
    diagnostics.note("N023", line.where(), "this is the first line with values of a state B. Only free-energy would use them.");
}

bool read_parameters(const Fields& line, std::size_t first, const TermForm& form, InteractionParameters& p,
                     Diagnostics& diagnostics)
{
    if (line.size() <= first) { return false; }
    if (form.parameters() == square_table) { return read_table(line, first, p); }
    const auto n = static_cast<std::size_t>(form.parameters());
    const std::size_t given = line.size() - first;
    if (given != n && !(given == 2 * n && form.has_state_b()))
    {
        line.fail("E121", "has " + std::to_string(given) + " parameters; function type " + std::to_string(form.function) +
                              " takes " + std::to_string(n) + ". Correct the line.");
    }
    p.resize(n);
    for (std::size_t i = 0; i < n; ++i) { p[i] = line.real(first + i, "parameter"); }
    for (std::size_t i = n; i < given; ++i)
    {
        if (line.real(first + i, "parameter of state B") != p[i - n]) { note_state_b(line, diagnostics); }
    }
    if (form.is_fourier()) { p = ryckaert_bellemans(p); }
    if (form.has_charges())
    {
        const double scale = n == 5 ? p[0] : 1;
        p = {p[n - 2], p[n - 1], scale * p[n - 4] * p[n - 3]};
    }
    if (form.is_distance_restraint()) { p = {p[2], p[3], p[4], p[5], p[0], p[1]}; } // the order in model/joint_distances.hpp
    check_parameters(line, first, form, p);
    return true;
}

void ForceField::read_defaults(const Fields& line)
{
    if (has_defaults_) { line.fail("E124", "second line of [ defaults ] (a system has one force field). Remove one of them."); }
    has_defaults_ = true;
    line.expect_at_most(6);
    if (number_or_word(line, 0, "nbfunc", {"LJ", "Buckingham"}) == 2)
    {
        line.fail("E130", "nbfunc 2 (Buckingham) is not supported (not planned). Use a Lennard-Jones force field.");
    }
    rule_ = static_cast<CombinationRule>(number_or_word(line, 1, "comb-rule", {"Geometric", "Arithmetic", "GeomSigEps"}));
    if (line.size() > 2)
    {
        const std::string generate = normalised(line[2]);
        generate_pairs_ = generate == "yes" || generate == "y";
        if (!generate_pairs_ && generate != "no" && generate != "n")
        {
            line.fail("E121", "gen-pairs is " + in_quotes(line[2]) + ". Write 'yes' or 'no'.");
        }
    }
    if (line.size() > 3) { fudge_lj_ = line.real(3, "fudgeLJ"); }
    if (line.size() > 4) { fudge_qq_ = line.real(4, "fudgeQQ"); }
    if (line.size() > 5 && line.real(5, "repulsion power") != 12)
    {
        line.fail("E130", "a repulsion power other than 12 is not supported (not planned). Remove column 6.");
    }
}

std::int32_t ForceField::find_type(std::string_view name) const
{
    const auto found = type_index_.find(std::string(name));
    return found == type_index_.end() ? -1 : found->second;
}

std::string ForceField::nearest_type(std::string_view name) const
{
    std::vector<std::string_view> known;
    for (const AtomType& t : types_) { known.push_back(t.name); }
    return nearest_word(name, known);
}

std::int32_t ForceField::intern(std::string_view name)
{
    const auto [entry, is_new] = bonded_index_.try_emplace(std::string(name), static_cast<std::int32_t>(bonded_names_.size()));
    if (is_new) { bonded_names_.emplace_back(name); }
    return entry->second;
}

// Columns: name [bonded name] [atomic number] mass charge particle V W. The column of the particle letter shows how many
// of the two optional columns are present. If one is present, the first letter of the second word shows which it is.
void ForceField::read_atom_type(const Fields& line, Diagnostics& diagnostics)
{
    const auto [entry, is_new] = type_index_.try_emplace(std::string(line[0]), type_count());
    if (is_new) { types_.emplace_back().name = line[0]; } // added despite errors, so that lines that refer to it are right
    std::size_t mass = 0;
    bool has_bonded = false;
    if (line.size() > 5 && is_single_letter(line[5])) { mass = 3, has_bonded = true; }
    else if (line.size() > 3 && is_single_letter(line[3])) { mass = 1; }
    else
    {
        mass = 2;
        has_bonded = std::isalpha(static_cast<unsigned char>(line.word(1, "bonded type, atomic number or mass")[0])) != 0;
    }
    AtomType type;
    type.name = line[0];
    type.bonded = intern(has_bonded ? line[1] : line[0]);
    if (mass == 3 || (mass == 2 && !has_bonded)) { line.integer(mass - 1, "atomic number", -1, 1000); }
    type.mass = line.real(mass, "mass");
    type.charge = line.real(mass + 1, "charge");
    const std::string_view particle = line.word(mass + 2, "particle type");
    type.particle = static_cast<char>(std::toupper(static_cast<unsigned char>(particle[0])));
    type.v = line.real(mass + 3, "V");
    type.w = line.real(mass + 4, "W");
    if (particle.size() != 1 || std::string_view("ASVD").find(type.particle) == std::string_view::npos)
    {
        line.fail("E121",
                  "particle type is " + in_quotes(particle) + ". It is one of A (atom), V or D (virtual site), S (shell).");
    }
    if (type.mass < 0) { line.fail("E125", "mass of atom type " + in_quotes(type.name) + " is negative. Correct it."); }
    if (type.w < 0 || (rule_ == CombinationRule::GeometricC6C12 && type.v < 0))
    {
        line.fail("E125", "Lennard-Jones parameter of atom type " + in_quotes(type.name) +
                              " is negative (its combination with others would not be a number). Correct it.");
    }
    if (line.size() > mass + 5)
    {
        diagnostics.note("N021", line.where(),
                         "columns from " + in_quotes(line[mass + 5]) + " on have no meaning in [ atomtypes ] and are not used.");
    }
    if (!is_new)
    {
        diagnostics.warn("W022", line.where(),
                         "atom type " + in_quotes(type.name) + " was defined before; this definition replaces the earlier one.");
    }
    types_[static_cast<std::size_t>(entry->second)] = std::move(type);
}

std::int32_t ForceField::known_bonded(const Fields& line, std::size_t column, std::string_view name) const
{
    const auto found = bonded_index_.find(std::string(name));
    if (found == bonded_index_.end())
    {
        const std::string near = nearest_word(name, {bonded_names_.begin(), bonded_names_.end()});
        line.fail("E122", "unknown bonded atom type " + in_quotes(line[column]) + " (this entry could never match)." +
                              (near.empty() ? " Add it to [ atomtypes ]." : " Did you mean '" + near + "'?"));
    }
    return found->second;
}

// Returns a bonded type. In dihedrals it may be "X"; in directed terms a type and a residue, such as "C-ALA" or "C-*".
std::int32_t ForceField::name_in_entry(const Fields& line, std::size_t column, const TermForm& form)
{
    const std::string_view name = line.word(column, "atom type");
    if (form.types == Section::DihedralTypes && name == "X") { return -1; }
    const std::size_t dash = name.rfind('-');
    if (form.role != Role::Directed || dash == name.npos || bonded_index_.contains(std::string(name)))
    {
        return known_bonded(line, column, name);
    }
    known_bonded(line, column, name.substr(0, dash));
    return intern(name);
}

void ForceField::read_bonded_type(const Fields& line, Section section, Diagnostics& diagnostics)
{
    const bool dihedral = section == Section::DihedralTypes;
    auto names = static_cast<std::size_t>(atoms_of_types(section));
    // Dihedrals have four names or two. With two names, the third column is the function type, a single digit.
    if (dihedral && line.size() > 2 && is_single_digit(line[2])) { names = 2; }
    const int function = line.function(names);
    const TermForm* const form = find_type_form(section, function);
    if (form == nullptr)
    {
        if (is_refused_type(section, function)) { return; } // a molecule that uses the type will be refused
        line.fail("E121", "there is no function type " + std::to_string(function) +
                              " of such terms (nothing could look the line up). Correct it; does it have a name too few?");
    }

    Key key{};
    if (dihedral && names == 2)
    {
        const std::int32_t a = name_in_entry(line, 0, *form), b = name_in_entry(line, 1, *form);
        // The two names are the outer atoms of an improper or the inner atoms of a proper dihedral.
        key = form->kind == InteractionKind::HarmonicImproper ? Key{a, -1, -1, b} : Key{-1, a, b, -1};
    }
    else
    {
        for (std::size_t i = 0; i < names; ++i) { key[i] = name_in_entry(line, i, *form); }
    }
    InteractionParameters parameters;
    if (!read_parameters(line, names + 1, *form, parameters, diagnostics))
    {
        line.fail("E121", "has no parameters. Complete the line.");
    }
    add_entry(line, *form, canonical(*form, key), parameters, diagnostics);
}

// Adds a line to the lines of one entry of function type 9, whose terms are summed.
void ForceField::add_line(const Fields& line, std::vector<InteractionParameters>& lines, const InteractionParameters& parameters,
                          Diagnostics& diagnostics)
{
    if (std::ranges::find(lines, parameters) != lines.end())
    {
        diagnostics.warn(
            "W160", line.where(),
            "repeats a line of function type 9 for the same dihedral, and both are summed (GROMACS does so since 2025, "
            "and took one before). Remove one, or allow it if twice the barrier is meant.");
    }
    lines.push_back(parameters);
}

void ForceField::add_entry(const Fields& line, const TermForm& form, Key names, const InteractionParameters& parameters,
                           Diagnostics& diagnostics)
{
    Pool& table = pool(form);
    const auto [at, is_new] = table.index.try_emplace(names, table.entries.size());
    const std::size_t before = std::exchange(table.last, at->second);
    if (is_new)
    {
        table.entries.push_back({names, {parameters}});
        return;
    }
    Entry& entry = table.entries[at->second];
    const bool same = entry.lines.size() == 1 && entry.lines[0] == parameters;
    if (form.section == Section::Dihedrals && form.function == 9)
    {
        if (before == at->second) { add_line(line, entry.lines, parameters, diagnostics); }
        else if (!same)
        {
            line.fail("E124", "second block of function type 9 for the same dihedral (which of the two counts would be a guess). "
                              "Put all its lines together.");
        }
    }
    else if (!same)
    {
        if (entry.lines.size() > 1)
        {
            line.fail(
                "E124",
                "would replace several lines of function type 9 for the same dihedral (which of them would be a guess). Remove "
                "this line or those.");
        }
        diagnostics.warn("W020", line.where(), "parameters for these atom types were given before; this line replaces them.");
        entry.lines = {parameters};
    }
}

void ForceField::read_type_pair(const Fields& line, std::map<TypePair, VW>& table, std::string_view what,
                                Diagnostics& diagnostics)
{
    std::int32_t types[2];
    for (std::size_t i = 0; i < 2; ++i)
    {
        types[i] = find_type(line.word(i, "atom type"));
        if (types[i] < 0)
        {
            const std::string near = nearest_type(line[i]);
            line.fail("E122", "unknown atom type " + in_quotes(line[i]) + "." +
                                  (near.empty() ? " Add it to [ atomtypes ]." : " Did you mean '" + near + "'?"));
        }
    }
    if (line.function(2) != 1)
    {
        line.fail("E130", "function type " + in_quotes(line[2]) + " of [ " + std::string(what) +
                              " ] is not supported (not planned). Lennard-Jones is function type 1.");
    }
    InteractionParameters p{};
    if (!read_parameters(line, 3, *find_form(Section::Pairs, 1), p, diagnostics))
    {
        line.fail("E121", "has no parameters. Complete the line.");
    }
    const auto [entry, is_new] = table.try_emplace(std::minmax(types[0], types[1]), VW{p[0], p[1]});
    if (!is_new && (entry->second.v != p[0] || entry->second.w != p[1]))
    {
        diagnostics.warn("W020", line.where(), "parameters for these atom types were given before; this line replaces them.");
        entry->second = {p[0], p[1]};
    }
}

void ForceField::read_pair_type(const Fields& line, Diagnostics& diagnostics)
{
    read_type_pair(line, pair_types_, "pairtypes", diagnostics);
}

void ForceField::read_nonbond_parameters(const Fields& line, Diagnostics& diagnostics)
{
    read_type_pair(line, nonbond_parameters_, "nonbond_params", diagnostics);
}

// With combination rules 2 and 3, V is sigma and W is epsilon. A negative sigma means that the interaction only repels.
LennardJones ForceField::convert(VW p) const
{
    if (rule_ == CombinationRule::GeometricC6C12) { return {p.v, p.w}; }
    const double sigma6 = std::pow(p.v, 6);
    return {p.v < 0 ? 0 : 4 * p.w * sigma6, 4 * p.w * sigma6 * sigma6};
}

ForceField::VW ForceField::combine(std::int32_t a, std::int32_t b) const
{
    const AtomType &s = type(a), &t = type(b);
    const double w = std::sqrt(s.w * t.w);
    if (rule_ == CombinationRule::GeometricC6C12) { return {std::sqrt(s.v * t.v), w}; }
    const double sigma = rule_ == CombinationRule::LorentzBerthelot ? 0.5 * (std::abs(s.v) + std::abs(t.v))
                                                                    : std::sqrt(std::abs(s.v) * std::abs(t.v));
    return {s.v < 0 || t.v < 0 ? -sigma : sigma, w};
}

ForceField::VW ForceField::nonbonded(std::int32_t a, std::int32_t b) const
{
    const auto given = nonbond_parameters_.find(std::minmax(a, b));
    return given == nonbond_parameters_.end() ? combine(a, b) : given->second;
}

LennardJones ForceField::lennard_jones(std::int32_t a, std::int32_t b) const { return convert(nonbonded(a, b)); }

std::optional<LennardJones> ForceField::pair14(std::int32_t a, std::int32_t b) const
{
    if (const auto given = pair_types_.find(std::minmax(a, b)); given != pair_types_.end()) { return convert(given->second); }
    if (!generate_pairs_) { return std::nullopt; }
    VW p = nonbonded(a, b);
    p.w *= fudge_lj_;
    if (rule_ == CombinationRule::GeometricC6C12) { p.v *= fudge_lj_; }
    return convert(p);
}

ForceField::Names ForceField::names_of(const TermForm& form, const TermAtom& atom)
{
    const std::int32_t bonded = type(atom.type).bonded;
    if (form.role != Role::Directed) { return {bonded, {-1, -1}}; }
    const std::string name = bonded_name(atom.type) + "-";
    return {intern(name + std::string(atom.residue)), {intern(name + "*"), bonded}};
}

// Returns the entry that names the most atoms exactly; the first one, if several do.
std::optional<std::size_t> ForceField::best_entry(const Pool& table, const TermForm& form,
                                                  const std::array<Names, most_atoms>& atoms)
{
    const auto n = static_cast<std::size_t>(form.atoms());
    // Returns the number of names that match exactly, or -1 if one does not match at all.
    const auto matches = [&](const Key& names, bool backward) {
        int exact = 0;
        for (std::size_t i = 0; i < n; ++i)
        {
            const std::int32_t name = names[backward ? n - 1 - i : i];
            if (name == atoms[i].exact) { ++exact; }
            else if (name != atoms[i].general[0] && name != atoms[i].general[1]) { return -1; }
        }
        return exact;
    };
    std::optional<std::size_t> answer;
    int best = -1;
    for (std::size_t e = 0; e < table.entries.size() && best < form.atoms(); ++e)
    {
        int m = matches(table.entries[e].names, false);
        if (form.role != Role::Directed) { m = std::max(m, matches(table.entries[e].names, true)); }
        if (m > best) { best = m, answer = e; }
    }
    return answer;
}

std::span<const InteractionParameters> ForceField::find_bonded(const TermForm& form, std::span<const TermAtom> atoms)
{
    Pool& table = pool(form);
    std::array<Names, most_atoms> names{};
    Key wanted{};
    for (std::size_t i = 0; i < atoms.size(); ++i) { names[i] = names_of(form, atoms[i]), wanted[i] = names[i].exact; }
    wanted = canonical(form, wanted);
    const auto [answer, is_new] = table.found.try_emplace(wanted);
    if (is_new)
    {
        const bool is_exact = form.types != Section::DihedralTypes && form.role != Role::Directed;
        const auto exact = table.index.find(wanted);
        if (!is_exact) { answer->second = best_entry(table, form, names); }
        else if (exact != table.index.end()) { answer->second = exact->second; }
    }
    if (!answer->second) { return {}; }
    return table.entries[*answer->second].lines;
}

} // namespace parhelion
