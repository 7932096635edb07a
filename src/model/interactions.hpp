// SPDX-License-Identifier: Apache-2.0
// The kinds of bonded terms and restraints, a row each. Everything that has to know a kind's atoms, parameters, name or energies
// reads its row; what else a new kind needs is listed in CONTRIBUTING.md.
#pragma once

#include "model/energy_terms.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace parhelion {

enum class InteractionKind : std::uint8_t
{
    HarmonicBond,
    G96Bond,
    HarmonicPotential,
    HarmonicAngle,
    G96Angle,
    RestrictedAngle,
    UreyBradley,
    ProperDihedral,
    PeriodicImproper,
    HarmonicImproper,
    RyckaertBellemans,
    Cmap,
    Pair14,
    DistanceRestraint,
    AngleRestraint,
    AngleRestraintZ,
    DihedralRestraint,
    PositionRestraint,
    FlatBottomRestraint,
};

// The energy terms of a kind: one for each energy its law returns, in the law's order.
struct EnergyTermList
{
    EnergyTerm term[2];
    int count;

    constexpr EnergyTermList(EnergyTerm only) : term{only, only}, count(1) {}
    constexpr EnergyTermList(EnergyTerm first, EnergyTerm second) : term{first, second}, count(2) {}
    constexpr const EnergyTerm* begin() const { return term; }
    constexpr const EnergyTerm* end() const { return term + count; }
};

inline constexpr int square_table = -1; // parameters: n x n values of a table, for any n

struct InteractionRow
{
    InteractionKind kind;
    std::string_view name; // in messages
    int atoms, parameters; // of a term
    EnergyTermList energy;
};

// In the order of InteractionKind. The comments name the parameters p[0..], in the files' units (model/topology.hpp).
inline constexpr InteractionRow interaction_table[] = {
    {InteractionKind::HarmonicBond, "bond", 2, 2, EnergyTerm::Bond},                                 // b0, k
    {InteractionKind::G96Bond, "G96 bond", 2, 2, EnergyTerm::G96Bond},                               // b0, k
    {InteractionKind::HarmonicPotential, "harmonic potential", 2, 2, EnergyTerm::HarmonicPotential}, // b0, k; no chemical bond
    {InteractionKind::HarmonicAngle, "angle", 3, 2, EnergyTerm::Angle},                              // theta0, k
    {InteractionKind::G96Angle, "G96 angle", 3, 2, EnergyTerm::G96Angle},                            // theta0, k
    {InteractionKind::RestrictedAngle, "restricted angle", 3, 2, EnergyTerm::RestrictedAngle},       // theta0, k
    {InteractionKind::UreyBradley, "Urey-Bradley angle", 3, 4, EnergyTerm::UreyBradley},             // theta0, k, r13, k_ub
    {InteractionKind::ProperDihedral, "proper dihedral", 4, 3, EnergyTerm::ProperDihedral},          // phi0, k, multiplicity
    {InteractionKind::PeriodicImproper, "periodic improper", 4, 3, EnergyTerm::PeriodicImproper},    // phi0, k, multiplicity
    {InteractionKind::HarmonicImproper, "improper dihedral", 4, 2, EnergyTerm::HarmonicImproper},    // xi0, k
    {InteractionKind::RyckaertBellemans, "Ryckaert-Bellemans dihedral", 4, 6, EnergyTerm::RyckaertBellemans}, // c0 .. c5
    {InteractionKind::Cmap, "CMAP correction", 5, square_table, EnergyTerm::Cmap},          // (phi_i, psi_j), i slowest
    {InteractionKind::Pair14, "1-4 pair", 2, 2, {EnergyTerm::Lj14, EnergyTerm::Coulomb14}}, // c6, c12; charges are the atoms'
    {InteractionKind::DistanceRestraint, "distance restraint", 2, 4, EnergyTerm::DistanceRestraint}, // low, up1, up2, factor of k
    {InteractionKind::AngleRestraint, "angle restraint", 4, 3, EnergyTerm::AngleRestraint},          // theta0, k, multiplicity
    {InteractionKind::AngleRestraintZ, "angle restraint to z", 2, 3, EnergyTerm::AngleRestraintZ},   // theta0, k, multiplicity
    {InteractionKind::DihedralRestraint, "dihedral restraint", 4, 3, EnergyTerm::DihedralRestraint}, // phi0, delta phi, k
    {InteractionKind::PositionRestraint, "position restraint", 1, 3, EnergyTerm::PositionRestraint}, // kx, ky, kz
    {InteractionKind::FlatBottomRestraint, "flat-bottomed position restraint", 1, 3,
     EnergyTerm::FlatBottomRestraint}, // shape, r, k
};
inline constexpr int interaction_kinds = static_cast<int>(std::size(interaction_table));
// The kinds that tie atoms to each other; position restraints tie one to a place (interactions/bonded/restraints.hpp).
inline constexpr int bonded_kinds = interaction_kinds - 2;

static_assert(is_in_order(interaction_table, &InteractionRow::kind));
static_assert(interaction_table[bonded_kinds].kind == InteractionKind::PositionRestraint, "the bonded kinds come first");

constexpr const InteractionRow& row_of(InteractionKind kind) { return interaction_table[static_cast<int>(kind)]; }
constexpr int arity(InteractionKind kind) { return row_of(kind).atoms; }

inline constexpr int most_atoms = std::ranges::max(interaction_table, {}, &InteractionRow::atoms).atoms; // of any term

} // namespace parhelion
