// SPDX-License-Identifier: Apache-2.0
// The sections of a topology and their function types. Two tables alone
// decide which of them are read, which are skipped and which are refused.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace parhelion {

enum class Section : std::uint8_t
{
    None,
    // --- force field
    Defaults,
    AtomTypes,
    BondTypes,
    AngleTypes,
    DihedralTypes,
    CmapTypes,
    ConstraintTypes,
    PairTypes,
    NonbondParameters,
    SkippedTypes, // parameters of terms that are refused if a molecule has such terms
    // --- molecule
    MoleculeType,
    Atoms,
    Bonds,
    Constraints,
    Settles,
    Angles,
    Dihedrals,
    Cmap,
    Pairs,
    NonbondedPairs,
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
    SkippedTerm, // terms that act only if the .mdp asks for them; the .mdp reader refuses that
    UnsupportedTerm,
    // --- system
    System,
    Molecules,
    UnsupportedSystem,
};

struct SectionInfo
{
    std::string_view name; // name in the manual of the format
    Section section;
    std::string_view refusal; // for unsupported: the feature, and "planned" or "not planned"; for skipped: the reason
};

// Returns the section of this name (case, '-' and '_' are ignored), or null.
const SectionInfo* find_section(std::string_view name);
// Returns the skipped form of distance or orientation restraints for an .mdp without them; null for other sections.
const SectionInfo* idle(const SectionInfo& section);
// Returns the name of a section that is nearest to `name`, or nothing.
std::string nearest_section(std::string_view name);

constexpr bool in_force_field(Section s) { return s >= Section::Defaults && s <= Section::SkippedTypes; }
constexpr bool in_molecule(Section s) { return s >= Section::Atoms && s <= Section::UnsupportedTerm; }

enum class Role : std::uint8_t
{
    Interaction,
    Directed,
    Bond,
    Connection,
    Constraint,
    ConstraintWithoutBond
};

// A function type of a section. Its lines have atoms, then the function number, then parameters.
struct TermForm
{
    Section section;
    int function;
    // Bond: the term is also a chemical bond, for exclusions. Directed: if the atoms are
    // reversed, it is another term. Connection: a chemical bond for exclusions, and nothing else.
    Role role;
    InteractionKind kind; // kind of a term that is an interaction
    Section types;        // section that gives parameters which the line lacks; None: the line must have them
    int pool;             // function number under which its types are stored: for dihedrals 9 it is 1

    constexpr bool is_constraint() const { return role == Role::Constraint || role == Role::ConstraintWithoutBond; }
    constexpr int atoms() const { return is_constraint() || role == Role::Connection ? 2 : row_of(kind).atoms; }
    // Returns whether lines are distance restraints, which have an index and a type before the parameters.
    constexpr bool is_distance_restraint() const { return section == Section::DistanceRestraints; }
    // Returns whether lines may have a second set of parameters, for state B.
    constexpr bool has_state_b() const
    {
        return !is_distance_restraint() && !has_charges() && kind != InteractionKind::FlatBottomRestraint;
    }
    // Returns whether the term is a Fourier dihedral, which is converted to Ryckaert-Bellemans form when it is read.
    constexpr bool is_fourier() const { return section == Section::Dihedrals && function == 5; }
    constexpr bool is_pair() const { return section == Section::Pairs || section == Section::NonbondedPairs; }
    // A pair whose line has a scale, if it is a 1-4 pair, and charges of its own before its Lennard-Jones parameters.
    constexpr bool has_charges() const { return is_pair() && (function == 2 || kind == InteractionKind::NonbondedPair); }
    // Returns the number of parameters on a line.
    constexpr int parameters() const
    {
        if (has_charges()) { return section == Section::Pairs ? 5 : 4; }
        return role == Role::Connection ? 0
               : is_constraint()        ? 1
               : is_fourier()           ? 4
                                        : row_of(kind).parameters + (is_distance_restraint() ? 2 : 0);
    }
};

// A function type of virtual sites. Its lines have the site, its constructing atoms, the function number, and parameters.
struct SiteForm
{
    Section section;
    int function;
    SiteKind kind;
    int atoms, parameters; // numbers of constructing atoms and of parameters
};
// Returns the form of a function type, or null if it is not supported in this section.
const SiteForm* find_site_form(Section section, int function);

// Returns the name of a supported section.
std::string_view section_name(Section section);
// Returns the number of atoms of the terms whose parameters are looked up in this section of types.
int atoms_of_types(Section types);
// Returns the form of a function type, or null if it is not supported in this section.
const TermForm* find_form(Section section, int function);
// Return the first form of this kind of interaction, and the form of this
// site: of its kind, with its number of constructing atoms (not for a Mean).
const TermForm* form_of(InteractionKind kind);
const SiteForm* form_of(const VirtualSite& site);
// Returns the form whose parameters a line with this function has in a section of types, or null if there is none.
const TermForm* find_type_form(Section types, int function);
// Returns whether a known, but unsupported function type of terms looks up its parameters in this section of types.
bool is_refused_type(Section types, int function);
// Returns, for example, "bonds of function type 3 (Morse) are not supported (not planned)".
std::string unsupported_form(std::string_view section_name, Section section, int function);

} // namespace parhelion
