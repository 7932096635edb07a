// SPDX-License-Identifier: Apache-2.0
// The force-field part of a topology: [ defaults ], [ atomtypes ] and the tables of bonded and pair parameters, with the rules by
// which molecules look them up. Kept only while reading; the Topology gets what its molecules use.
//
// Look-up rules, as in GROMACS: bonded parameters go by the bonded names of the atom types, in either direction; a dihedral takes
// the first entry with the fewest wildcards ("X"), and of that entry all its lines, which function type 9 lets follow one
// another. A CMAP's entry may ask for residues, too: "C-ALA", or "C-*" for any; it takes the first that names the most. Pair
// parameters go by atom type, or are generated from the Lennard-Jones parameters times fudgeLJ if gen-pairs = yes.
#pragma once

#include "io/top_fields.hpp"
#include "io/top_sections.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace parhelion {

struct AtomType
{
    std::string name;
    std::int32_t bonded = 0; // its name in the bonded tables, interned
    double mass = 0, charge = 0;
    char particle = 'A'; // A atom, V or D virtual site, S shell
    double v = 0, w = 0; // c6, c12 or sigma, epsilon
};

// What decides about the parameters of a term's atom.
struct TermAtom
{
    std::int32_t type = 0; // of the force field
    std::string_view residue;
};

// A Lennard-Jones interaction c12/r^12 - c6/r^6, kJ/mol nm^6 and nm^12.
struct LennardJones
{
    double c6 = 0, c12 = 0;
};

class ForceField
{
public:
    // Each reads one line of its section; throws InputError.
    void read_defaults(const Fields& line);
    void read_atom_type(const Fields& line, Diagnostics& diagnostics);
    void read_bonded_type(const Fields& line, Section section, Diagnostics& diagnostics);
    void read_pair_type(const Fields& line, Diagnostics& diagnostics);
    void read_nonbond_parameters(const Fields& line, Diagnostics& diagnostics);

    bool has_defaults() const { return has_defaults_; }
    CombinationRule combination_rule() const { return rule_; }
    double fudge_qq() const { return fudge_qq_; }

    const AtomType& type(std::int32_t index) const { return types_[static_cast<std::size_t>(index)]; }
    std::int32_t type_count() const { return static_cast<std::int32_t>(types_.size()); }
    // -1 if there is no such type.
    std::int32_t find_type(std::string_view name) const;
    std::string nearest_type(std::string_view name) const;

    LennardJones lennard_jones(std::int32_t a, std::int32_t b) const;
    // From parameters on a [ pairs ] line.
    LennardJones pair14(double v, double w) const { return convert({v, w}); }
    // By atom types; none if there is no entry and nothing may be generated.
    std::optional<LennardJones> pair14(std::int32_t a, std::int32_t b) const;
    // The lines of parameters for these atoms; empty if there are none.
    std::span<const InteractionParameters> find_bonded(const TermForm& form, std::span<const TermAtom> atoms);
    std::string bonded_name(std::int32_t type) const
    {
        return bonded_names_[static_cast<std::size_t>(types_[static_cast<std::size_t>(type)].bonded)];
    }

private:
    using Key = std::array<std::int32_t, most_atoms>; // interned bonded names, -1 = wildcard, unused = 0
    // Names by which an entry may mean an atom.
    struct Names
    {
        std::int32_t exact = 0;
        std::array<std::int32_t, 2> general{};
    };
    struct Entry
    {
        Key names;
        std::vector<InteractionParameters> lines;
    };
    struct Pool
    {
        std::vector<Entry> entries;
        std::map<Key, std::size_t> index;
        std::map<Key, std::optional<std::size_t>> found; // answers given
        std::size_t last = 0;                            // entry of the last line read
    };
    struct VW
    {
        double v, w;
    };
    using TypePair = std::pair<std::int32_t, std::int32_t>;

    LennardJones convert(VW p) const;
    VW combine(std::int32_t a, std::int32_t b) const;
    VW nonbonded(std::int32_t a, std::int32_t b) const;
    std::int32_t intern(std::string_view bonded_name);
    std::int32_t known_bonded(const Fields& line, std::size_t column, std::string_view name) const;
    std::int32_t name_in_entry(const Fields& line, std::size_t column, const TermForm& form);
    Names names_of(const TermForm& form, const TermAtom& atom);
    std::optional<std::size_t> best_entry(const Pool& table, const TermForm& form, const std::array<Names, most_atoms>& atoms);
    void read_type_pair(const Fields& line, std::map<TypePair, VW>& table, std::string_view what, Diagnostics& diagnostics);
    Pool& pool(const TermForm& form) { return pools_[{form.types, form.pool}]; }
    static void add_line(const Fields& line, std::vector<InteractionParameters>& lines, const InteractionParameters& parameters,
                         Diagnostics& diagnostics);
    void add_entry(const Fields& line, const TermForm& form, Key names, const InteractionParameters& parameters,
                   Diagnostics& diagnostics);

    bool has_defaults_ = false, generate_pairs_ = false;
    CombinationRule rule_ = CombinationRule::GeometricC6C12;
    double fudge_lj_ = 1, fudge_qq_ = 1;
    std::vector<AtomType> types_;
    std::unordered_map<std::string, std::int32_t> type_index_;
    std::vector<std::string> bonded_names_;
    std::unordered_map<std::string, std::int32_t> bonded_index_;
    std::map<std::pair<Section, int>, Pool> pools_;
    std::map<TypePair, VW> pair_types_, nonbond_parameters_;
};

// Reads `form.parameters` numbers from column `first` on into p, which gets them as the topology keeps them. A second set of as
// many (the B state of a free-energy calculation) is not used; anything else about the count is an error. Returns false if there
// is no parameter at all.
bool read_parameters(const Fields& line, std::size_t first, const TermForm& form, InteractionParameters& p,
                     Diagnostics& diagnostics);
// Notes once for all lines that a state B is not used: the .mdp has free-energy = no, or it would have been refused.
void note_state_b(const Fields& line, Diagnostics& diagnostics);

} // namespace parhelion
