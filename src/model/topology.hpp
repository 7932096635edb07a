// SPDX-License-Identifier: Apache-2.0
// The atoms and their interactions: the force field, applied to the molecules of one system. Immutable once it has been read.
//
// The idea: everything is stored once per molecule *type*; the system is a list of blocks (type, count). A billion waters
// cost as much memory as one. Global atom g of copy k of a block is block.first_atom + k * type.atoms.size() + local index.
// No list is ever expanded to all copies.
//
// Units: nm, ps, kJ/mol, u, e. Angles are in degrees as in the files; force laws convert them once, as they build their
// tables.
#pragma once

#include "model/interactions.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

using InteractionParameters = std::vector<double>; // as many values as the kind has (interaction_table)

struct Interaction
{
    std::array<std::int32_t, most_atoms> atoms{}; // indices in the molecule; the first arity(kind) are used
    std::int32_t parameters = 0;                  // index into Topology::parameters[kind]
};

struct Atom
{
    std::string name;
    std::int32_t type = 0;    // index into Topology::type_names and the LJ table
    std::int32_t residue = 0; // index into MoleculeType::residues
    double mass = 0;
    double charge = 0;
    std::uint8_t frozen = 0; // the axes along which the atom is frozen: bits 0, 1, 2 for x, y, z (model/frozen_atoms.hpp)
};

struct Residue
{
    std::string name;
    int number = 0;
};

// A distance that is kept fixed, from [ constraints ] or from a bond that `constraints =` converted.
struct Constraint
{
    std::int32_t a = 0, b = 0;
    double length = 0;
};

// A rigid three-site water: the oxygen and the two atoms that follow it.
struct Settle
{
    std::int32_t oxygen = 0, hydrogen_a = 1, hydrogen_b = 2;
    double oh = 0, hh = 0;
};

// The rule by which the place of a virtual site follows from its constructing atoms (model/site_body.hpp).
enum class SiteKind : std::uint8_t
{
    Linear,         // a weighted mean of one, two or three atoms
    Mean,           // a weighted mean of any number of atoms
    FixedDistance2, // on the line through two atoms, at a distance from the first
    FixedDistance3, // at a distance from the first of three atoms, towards a point between the others
    FixedAngle3,    // in the plane of three atoms, at a distance from the first and an angle to the line to the second
    OutOfPlane3,    // a combination of two vectors and their cross product
    FixedDistance4, // at a distance from the first of four atoms, along the normal of a plane that the others define
};

// An atom without mass, whose place is defined by its constructing atoms. Some of these may be virtual sites themselves.
struct VirtualSite
{
    SiteKind kind = SiteKind::Linear;
    std::int32_t atom = 0;
    std::vector<std::int32_t> from; // its constructing atoms
    // Linear, Mean: weights of all constructing atoms but the first, whose weight makes the sum 1. Other kinds: site_body.hpp.
    std::vector<double> parameters;
};

// Returns whether a site of this kind moves with a deformation of the box in the same way as atoms.
constexpr bool is_linear(SiteKind kind) { return kind == SiteKind::Linear || kind == SiteKind::Mean; }

struct MoleculeType
{
    std::string name;
    std::vector<Atom> atoms;
    std::vector<Residue> residues;
    std::array<std::vector<Interaction>, interaction_kinds> interactions;
    std::vector<Constraint> constraints;
    std::vector<Settle> settles;
    std::vector<VirtualSite> sites; // each site comes after the sites that it is constructed from
    // The atoms whose non-bonded interaction with atom a is excluded (nrexcl neighbours and [ exclusions
    // ]), symmetric, sorted, without a itself: excluded[exclusion_start[a] .. exclusion_start[a + 1]).
    std::vector<std::int32_t> exclusion_start, excluded;
    bool is_tied_to_image = false; // a copy is tied to its own image through the box (model/ties.hpp) and cannot be made whole
    bool excludes(std::int32_t a, std::int32_t b) const;

    std::vector<Interaction>& of(InteractionKind kind) { return interactions[static_cast<int>(kind)]; }
    const std::vector<Interaction>& of(InteractionKind kind) const { return interactions[static_cast<int>(kind)]; }
};

struct MoleculeBlock
{
    std::int32_t type = 0;       // index into Topology::molecule_types
    std::int64_t count = 0;      // number of copies
    std::int64_t first_atom = 0; // global index of the first atom of the first copy (set by Topology::finish)
};

enum class CombinationRule : std::uint8_t
{
    GeometricC6C12 = 1,
    LorentzBerthelot = 2,
    GeometricSigmaEpsilon = 3
};

// The address of a global atom in the topology.
struct AtomAddress
{
    std::int32_t block = 0;
    std::int32_t type = 0;  // molecule type
    std::int64_t copy = 0;  // index of the copy in the block
    std::int32_t local = 0; // index in the molecule
    std::int64_t molecule_first_atom = 0;
};

struct Topology
{
    std::string name;
    CombinationRule combination_rule = CombinationRule::GeometricC6C12;
    double fudge_qq = 1;

    // The atom types that occur in the system, and their symmetric
    // Lennard-Jones table: V = c12/r^12 - c6/r^6, entry [a * types + b].
    std::vector<std::string> type_names;
    std::vector<double> c6, c12;

    std::array<std::vector<InteractionParameters>, interaction_kinds> parameters;
    std::vector<MoleculeType> molecule_types;
    std::vector<MoleculeBlock> blocks;

    int types() const { return static_cast<int>(type_names.size()); }
    const std::vector<InteractionParameters>& parameters_of(InteractionKind kind) const
    {
        return parameters[static_cast<int>(kind)];
    }

    // Sets first_atom of every block. Call it once after all blocks are complete.
    void finish();
    std::int64_t atom_count() const;
    std::int64_t molecule_count() const;
    AtomAddress locate(std::int64_t global_atom) const;
    const Atom& atom(std::int64_t global_atom) const;
    const Residue& residue(std::int64_t global_atom) const;
    // Returns, for example, "atom 1234 HW1 of residue 567 SOL", numbered from 1 as in the input files.
    std::string describe(std::int64_t global_atom) const;

    std::int64_t interaction_count(InteractionKind kind) const; // over all copies
    std::int64_t position_restraint_count() const;              // over all copies: harmonic and flat-bottomed ones
    std::int64_t constraint_count() const;                      // over all copies; a settle counts 3
    std::int64_t site_count() const;                            // over all copies
    double total_mass() const;
    double total_charge() const;
};

// The bonds that `constraints =` converts to constraints.
enum class ConstraintMode : std::uint8_t
{
    None,
    HBonds,
    AllBonds
};

// Moves the bonds that `mode` selects from the bond lists to the constraint lists, with length b0. Hydrogens are atoms whose name
// starts with H or h, as in GROMACS. Bonds between atoms that a settle holds already are dropped. Parameters stay where they are.
void convert_bonds_to_constraints(Topology& topology, ConstraintMode mode);

} // namespace parhelion
