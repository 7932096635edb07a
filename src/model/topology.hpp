// SPDX-License-Identifier: Apache-2.0
// What the atoms are and how they interact: the force field applied to the molecules of one system. Immutable after reading.
//
// The idea: everything is kept once per molecule *type*; the system is a list of (type, count) blocks. A billion waters cost what
// one water costs. Global atom g of copy k of a block is block.first_atom + k * type.atoms.size() + local index: nothing is ever
// expanded.
//
// Units: nm, ps, kJ/mol, u, e; angles in degrees as in the files (bodies convert once, when they build their tables).
#pragma once

#include "model/interactions.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

using InteractionParameters = std::vector<double>; // as many as the kind takes (interaction_table)

struct Interaction
{
    std::array<std::int32_t, most_atoms> atoms{}; // local to the molecule; the first arity(kind) are used
    std::int32_t parameters = 0;                  // index into Topology::parameters[kind]
};

struct Atom
{
    std::string name;
    std::int32_t type = 0;    // index into Topology::type_names and the LJ table
    std::int32_t residue = 0; // index into MoleculeType::residues
    double mass = 0;
    double charge = 0;
    std::uint8_t frozen = 0; // axes along which it does not move: bits 0, 1, 2 for x, y, z (model/frozen_atoms.hpp)
};

struct Residue
{
    std::string name;
    int number = 0;
};

// A distance kept fixed: from [ constraints ], or a bond that `constraints =` turned into one.
struct Constraint
{
    std::int32_t a = 0, b = 0;
    double length = 0;
};

// A rigid three-site water: oxygen and the two atoms that follow it.
struct Settle
{
    std::int32_t oxygen = 0, hydrogen_a = 1, hydrogen_b = 2;
    double oh = 0, hh = 0;
};

// How the place of a virtual site follows from its constructing atoms (model/site_body.hpp).
enum class SiteKind : std::uint8_t
{
    Linear,         // a weighted mean of one, two or three
    Mean,           // a weighted mean of any number
    FixedDistance2, // on a line through two, at a distance from the first
    FixedDistance3, // from the first of three towards a point between the others
    FixedAngle3,    // in the plane of three, at a distance from the first and an angle to the line to the second
    OutOfPlane3,    // a combination of two vectors and their cross product
    FixedDistance4, // from the first of four along the normal of a plane that the others give
};

// An atom without mass whose place others define. They are its constructing atoms, of which some may be sites, too.
struct VirtualSite
{
    SiteKind kind = SiteKind::Linear;
    std::int32_t atom = 0;
    std::vector<std::int32_t> from; // constructing atoms
    // Of means: the weights of all constructing atoms but the first, which has what is left to 1. Of others: see site_body.hpp.
    std::vector<double> parameters;
};

// Such a site moves with a deformation of the box as atoms do.
constexpr bool is_linear(SiteKind kind) { return kind == SiteKind::Linear || kind == SiteKind::Mean; }

struct MoleculeType
{
    std::string name;
    std::vector<Atom> atoms;
    std::vector<Residue> residues;
    std::array<std::vector<Interaction>, interaction_kinds> interactions;
    std::vector<Constraint> constraints;
    std::vector<Settle> settles;
    std::vector<VirtualSite> sites; // each behind those that it is made of
    // Atoms whose non-bonded interaction with atom a is excluded (nrexcl neighbours and [ exclusions ]), symmetric, sorted,
    // without a: excluded[exclusion_start[a] .. exclusion_start[a + 1]).
    std::vector<std::int32_t> exclusion_start, excluded;
    bool is_tied_to_image = false; // a copy is, through the box (model/ties.hpp): nothing can make it whole
    bool excludes(std::int32_t a, std::int32_t b) const;

    std::vector<Interaction>& of(InteractionKind kind) { return interactions[static_cast<int>(kind)]; }
    const std::vector<Interaction>& of(InteractionKind kind) const { return interactions[static_cast<int>(kind)]; }
};

struct MoleculeBlock
{
    std::int32_t type = 0;       // index into Topology::molecule_types
    std::int64_t count = 0;      // copies
    std::int64_t first_atom = 0; // global index of the first atom of the first copy (set by Topology::finish)
};

enum class CombinationRule : std::uint8_t
{
    GeometricC6C12 = 1,
    LorentzBerthelot = 2,
    GeometricSigmaEpsilon = 3
};

// Where a global atom lives.
struct AtomAddress
{
    std::int32_t block = 0;
    std::int32_t type = 0;  // molecule type
    std::int64_t copy = 0;  // which copy of the block
    std::int32_t local = 0; // index in the molecule
    std::int64_t molecule_first_atom = 0;
};

struct Topology
{
    std::string name;
    CombinationRule combination_rule = CombinationRule::GeometricC6C12;
    double fudge_qq = 1;

    // Atom types that occur in the system, and their Lennard-Jones table: V = c12/r^12 - c6/r^6, entry [a * types + b],
    // symmetric.
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

    // Fills in first_atom of every block. Call once after the blocks are complete.
    void finish();
    std::int64_t atom_count() const;
    std::int64_t molecule_count() const;
    AtomAddress locate(std::int64_t global_atom) const;
    const Atom& atom(std::int64_t global_atom) const;
    const Residue& residue(std::int64_t global_atom) const;
    // "atom 1234 HW1 of residue 567 SOL", numbered from 1 as in the input files.
    std::string describe(std::int64_t global_atom) const;

    std::int64_t interaction_count(InteractionKind kind) const; // over all copies
    std::int64_t position_restraint_count() const;              // likewise: harmonic and flat-bottomed ones
    std::int64_t constraint_count() const;                      // over all copies; a settle counts 3
    std::int64_t site_count() const;                            // over all copies
    double total_mass() const;
    double total_charge() const;
};

// Which bonds `constraints =` turns into constraints.
enum class ConstraintMode : std::uint8_t
{
    None,
    HBonds,
    AllBonds
};

// Moves the bonds that `mode` names from the bond lists to the constraint lists, length b0 (hydrogen: the name starts with H or
// h, as in GROMACS). Bonds whose atoms a settle holds already are dropped. Parameters stay where they are.
void convert_bonds_to_constraints(Topology& topology, ConstraintMode mode);

} // namespace parhelion
