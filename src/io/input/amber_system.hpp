// SPDX-License-Identifier: Apache-2.0
// The contents of an AMBER topology, atom by atom and term by term, in our units: checked, but not yet divided into molecules.
//
// AMBER omits the half in harmonic terms. Torsions are k (1 + cos(n phi - phase)), Lennard-Jones is A/r^12 - B/r^6 for
// a pair of types, and charges are multiplied by 18.2223. All of this is converted here. Atoms are numbered from 0.
#pragma once

#include "io/input/amber_sections.hpp"
#include "io/output/amber_units.hpp"
#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace parhelion {

struct AmberTerm
{
    std::array<std::int32_t, most_atoms> atoms{}; // the term's atoms; as many as its kind has are used
    std::int32_t type = 0;                        // index in the list of parameters of its kind
    bool has_pair = false;                        // true for a dihedral whose end atoms are a 1-4 pair
    bool is_improper = false;
    bool has_hydrogen = false; // true if the term is from a section of terms with hydrogen
};

// The edges of a cell (nm), and the angles between b and c, a and c, a and b (degrees).
struct AmberBox
{
    Vec3<double> lengths, angles;
};

struct AmberSystem
{
    // Reads the system. Throws InputError: E120, E121 (format), E123, E125 (impossible numbers), E130 (not supported).
    explicit AmberSystem(const AmberSections& sections);

    std::size_t size() const { return names.size(); }

    std::string_view title; // title of the file; it and all names are views into the file
    std::vector<std::string_view> names, type_names;
    std::vector<double> masses, charges; // u, e
    std::vector<std::int32_t> types;     // Lennard-Jones types
    std::vector<std::string_view> residue_names;
    std::vector<std::int32_t> residue_starts; // first atom of each residue, and one past the last atom
    std::vector<AmberTerm> bonds, angles, dihedrals, maps;
    std::vector<AmberTerm> end_bonds, harmonic_impropers; // CHARMM's bonds between the ends of an angle; CHARMM's impropers
    std::vector<std::int64_t> exclusion_start;            // begin of each atom's partners of higher number in `excluded`
    std::vector<std::int32_t> excluded;
    // Parameters of each kind of term, indexed by type, in the form of model/interactions.hpp.
    std::vector<InteractionParameters> bond_types, angle_types, dihedral_types, map_types, end_bond_types, improper_types;
    std::vector<double> coulomb_divisors, lennard_jones_divisors; // divisors of a dihedral's 1-4 energies, by dihedral type
    std::int32_t lennard_jones_types = 0;
    std::vector<double> c6, c12;       // coefficients of two types, [a * lennard_jones_types + b]
    std::vector<double> c6_14, c12_14; // coefficients of 1-4 pairs, before division by the divisors
    std::optional<AmberBox> box;       // box at the time the file was made; coordinates have a newer one
};

// Reads terms whose atoms are not coded as AMBER's indices: `arity` atoms, numbered from 1, and a type. Throws E120, E121, E123.
std::vector<AmberTerm> read_plain_terms(const AmberSections& sections, std::string_view name, std::size_t arity,
                                        std::int64_t count, std::size_t atoms, std::size_t types);
// Reads the terms that occur only in files with CHARMM's force field, which the program chamber writes.
void read_charmm_terms(const AmberSections& sections, AmberSystem& system);
inline bool is_of_charmm(const AmberSections& sections) { return sections.has("CTITLE"); }

} // namespace parhelion
