// SPDX-License-Identifier: Apache-2.0
// The force-field part of a topology: [ defaults ], [ atomtypes ], the tables of bonded and pair parameters, and the rules
// by which molecules look them up. It exists only during reading; the Topology gets the parameters that its molecules use.
//
// Look-up rules, as in GROMACS: bonded parameters are found by the bonded names of atom types, in either direction. A dihedral
// takes the first entry with the fewest wildcards ("X"), with all lines of that entry; function type 9 allows several in
// succession. A CMAP entry may also name residues: "C-ALA", or "C-*" for any; the first entry that names the most is used.
// Pair parameters are found by atom type, or generated from the Lennard-Jones parameters times fudgeLJ if gen-pairs = yes.
#pragma once

#include "io/input/top_fields.hpp"
#include "io/input/top_sections.hpp"

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
    std::int32_t bonded = 0; // name of the type in the bonded tables, as an interned number
    double mass = 0, charge = 0;
    char particle = 'A'; // 'A': atom, 'V' or 'D': virtual site, 'S': shell
    double v = 0, w = 0; // the columns V and W: c6, c12 or sigma, epsilon
};

// The properties of a term's atom by which its parameters are looked up.
struct TermAtom
{
    std::int32_t type = 0; // index in the force field
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
    // Each of these functions reads one line of its section and throws InputError.
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
    // Returns the type's index, or -1 if there is no such type.
    std::int32_t find_type(std::string_view name) const;
    std::string nearest_type(std::string_view name) const;

    LennardJones lennard_jones(std::int32_t a, std::int32_t b) const;
    // Returns the interaction for parameters on a [ pairs ] line.
    LennardJones pair14(double v, double w) const { return convert({v, w}); }
    // Returns the 1-4 interaction of two atom types, or nothing if there is no entry and none may be generated.
    std::optional<LennardJones> pair14(std::int32_t a, std::int32_t b) const;
    // Returns the parameter lines for these atoms; empty if there are none.
    std::span<const InteractionParameters> find_bonded(const TermForm& form, std::span<const TermAtom> atoms);
    std::string bonded_name(std::int32_t type) const
    {
        return bonded_names_[static_cast<std::size_t>(types_[static_cast<std::size_t>(type)].bonded)];
    }

private:
    using Key = std::array<std::int32_t, most_atoms>; // interned bonded names; -1: wildcard; 0: unused
    // The names by which an entry may refer to an atom.
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
        std::map<Key, std::optional<std::size_t>> found; // cache of found entries
        std::size_t last = 0;                            // entry of the last line that was read
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

// Reads `form.parameters` numbers from column `first` on into p, in the topology's
// form. A second set of numbers (the B state of a free-energy calculation) is ignored;
// any other count is an error. Returns false if there is no parameter at all.
bool read_parameters(const Fields& line, std::size_t first, const TermForm& form, InteractionParameters& p,
                     Diagnostics& diagnostics);
// Notes once that state B is ignored, for all lines that have it. This applies if free-energy = no in the .mdp.
void note_state_b(const Fields& line, Diagnostics& diagnostics);

} // namespace parhelion
