// SPDX-License-Identifier: Apache-2.0
// The sections of a topology and the function types they take: two tables that say what is read, what is skipped and what is
// refused, and nothing else does.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace parhelion {

enum class Section : std::uint8_t
{
    None,
    // force field
    Defaults,
    AtomTypes,
    BondTypes,
    AngleTypes,
    DihedralTypes,
    CmapTypes,
    ConstraintTypes,
    PairTypes,
    NonbondParameters,
    SkippedTypes, // parameters of terms that only matter when a molecule uses them, and are refused there
    // molecule
    MoleculeType,
    Atoms,
    Bonds,
    Constraints,
    Settles,
    Angles,
    Dihedrals,
    Cmap,
    Pairs,
    Exclusions,
    VirtualSites1,
    VirtualSites2,
    VirtualSites3,
    VirtualSites4,
    VirtualSitesN,
    PositionRestraints,
    DistanceRestraints,
    AngleRestraints,
    AngleRestraintsZ,
    DihedralRestraints,
    SkippedTerm, // acts only if the .mdp asks for it, and is refused there
    UnsupportedTerm,
    // system
    System,
    Molecules,
    UnsupportedSystem,
};

struct SectionInfo
{
    std::string_view name; // as the manual of the format writes it
    Section section;
    std::string_view refusal; // for the unsupported ones: what it is, and "planned" or "not planned"; for skipped ones: why
};

// The section of this name (case, '-' and '_' do not count), or null.
const SectionInfo* find_section(std::string_view name);
// What stands for distance or orientation restraints where the .mdp does not ask for them; null for all other sections.
const SectionInfo* idle(const SectionInfo& section);
// The known name nearest to `name`, or empty.
std::string nearest_section(std::string_view name);

constexpr bool in_force_field(Section s) { return s >= Section::Defaults && s <= Section::SkippedTypes; }
constexpr bool in_molecule(Section s) { return s >= Section::Atoms && s <= Section::UnsupportedTerm; }

enum class Role : std::uint8_t
{
    Interaction,
    Directed,
    Bond,
    Constraint,
    ConstraintWithoutBond
};

// A function type of a section: atoms first, then the function number, then parameters.
struct TermForm
{
    Section section;
    int function;
    // Bond: an interaction that also is a chemical bond for the exclusions. Directed: one that is another if its atoms are named
    // backwards.
    Role role;
    InteractionKind kind; // of interactions
    Section types;        // where missing parameters are looked up; None: they must be on the line
    int pool;             // function number under which its types are kept: dihedrals 9 share those of 1

    constexpr bool is_constraint() const { return role == Role::Constraint || role == Role::ConstraintWithoutBond; }
    constexpr int atoms() const { return is_constraint() ? 2 : row_of(kind).atoms; }
    // A distance restraint's line has an index and a type before its parameters.
    constexpr bool is_distance_restraint() const { return section == Section::DistanceRestraints; }
    // Its lines may give a second set of parameters, of a state B.
    constexpr bool has_state_b() const { return !is_distance_restraint() && kind != InteractionKind::FlatBottomRestraint; }
    // A Fourier dihedral is one of Ryckaert and Bellemans in other words: what its lines give is converted when it is read.
    constexpr bool is_fourier() const { return section == Section::Dihedrals && function == 5; }
    // On a line.
    constexpr int parameters() const
    {
        return is_constraint() ? 1 : is_fourier() ? 4 : row_of(kind).parameters + (is_distance_restraint() ? 2 : 0);
    }
};

// A function type of virtual sites: the site, its constructing atoms, the function number, parameters.
struct SiteForm
{
    Section section;
    int function;
    SiteKind kind;
    int atoms, parameters; // constructing atoms
};
// Null if the function type is not supported in this section.
const SiteForm* find_site_form(Section section, int function);

// The name of a section that is not unsupported.
std::string_view section_name(Section section);
// How many atoms the terms have whose parameters are looked up in this section of types.
int atoms_of_types(Section types);
// Null if the function type is not supported in this section.
const TermForm* find_form(Section section, int function);
// For a section of types: the form whose parameters a line with this function gives, or null.
const TermForm* find_type_form(Section types, int function);
// Is there such a function type, though it is not supported, among the terms that look up parameters in this section of types?
bool is_refused_type(Section types, int function);
// "bonds of function type 3 (Morse) are not supported (not planned)".
std::string unsupported_form(std::string_view section_name, Section section, int function);

} // namespace parhelion
