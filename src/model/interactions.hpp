// SPDX-License-Identifier: Apache-2.0
// The table of the kinds of bonded terms and restraints, one row each. All code that needs a kind's
// atoms, parameters, name or energies reads its row. CONTRIBUTING.md lists what else a new kind needs.
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
    MorseBond,
    CubicBond,
    FeneBond,
    BoundedBond,
    QuarticAngle,
    CrossBondBond,
    CrossBondAngle,
    RestrictedDihedral,
    BendingTorsion,
    NonbondedPair,
    PositionRestraint,
    FlatBottomRestraint,
};

// The energy terms of a kind: one for each energy that its force law returns, in the same order.
struct EnergyTermList
{
    EnergyTerm term[2];
    int count;

    constexpr EnergyTermList(EnergyTerm only) : term{only, only}, count(1) {}
    constexpr EnergyTermList(EnergyTerm first, EnergyTerm second) : term{first, second}, count(2) {}
    constexpr const EnergyTerm* begin() const { return term; }
    constexpr const EnergyTerm* end() const { return term + count; }
};

inline constexpr int square_table = -1; // parameters of a kind that has the n x n values of a table, for any n

struct InteractionRow
{
    InteractionKind kind;
    std::string_view name; // name in messages
    int atoms, parameters; // number of atoms and of parameters of a term
    EnergyTermList energy;
};

// Rows are in the order of InteractionKind. The comments name the parameters p[0..], in the files' units (model/topology.hpp).
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
    {InteractionKind::Pair14, "1-4 pair", 2, 2, {EnergyTerm::Lj14, EnergyTerm::Coulomb14}}, // c6, c12; or c6, c12, q q (e^2)
    {InteractionKind::DistanceRestraint, "distance restraint", 2, 4, EnergyTerm::DistanceRestraint}, // low, up1, up2, factor of k
    {InteractionKind::AngleRestraint, "angle restraint", 4, 3, EnergyTerm::AngleRestraint},          // theta0, k, multiplicity
    {InteractionKind::AngleRestraintZ, "angle restraint to z", 2, 3, EnergyTerm::AngleRestraintZ},   // theta0, k, multiplicity
    {InteractionKind::DihedralRestraint, "dihedral restraint", 4, 3, EnergyTerm::DihedralRestraint}, // phi0, delta phi, k
    {InteractionKind::MorseBond, "Morse bond", 2, 3, EnergyTerm::MorseBond},                         // b0, D, beta
    {InteractionKind::CubicBond, "cubic bond", 2, 3, EnergyTerm::CubicBond},                         // b0, k, k_cubic
    {InteractionKind::FeneBond, "FENE bond", 2, 2, EnergyTerm::FeneBond},                            // b_max, k
    {InteractionKind::BoundedBond, "restraint potential", 2, 4, EnergyTerm::BoundedBond}, // low, up1, up2, k; no chemical bond
    {InteractionKind::QuarticAngle, "quartic angle", 3, 6, EnergyTerm::QuarticAngle},     // theta0, c0 .. c4
    {InteractionKind::CrossBondBond, "cross bond-bond term", 3, 3, EnergyTerm::CrossBondBond},            // r1, r2, k
    {InteractionKind::CrossBondAngle, "cross bond-angle term", 3, 4, EnergyTerm::CrossBondAngle},         // r1, r2, r3, k
    {InteractionKind::RestrictedDihedral, "restricted dihedral", 4, 2, EnergyTerm::RestrictedDihedral},   // phi0, k
    {InteractionKind::BendingTorsion, "combined bending-torsion term", 4, 6, EnergyTerm::BendingTorsion}, // k, a0 .. a4
    {InteractionKind::NonbondedPair, "non-bonded pair", 2, 3, {EnergyTerm::LjSr, EnergyTerm::CoulombSr}}, // c6, c12, q q (e^2)
    {InteractionKind::PositionRestraint, "position restraint", 1, 3, EnergyTerm::PositionRestraint},      // kx, ky, kz
    {InteractionKind::FlatBottomRestraint, "flat-bottomed position restraint", 1, 3,
     EnergyTerm::FlatBottomRestraint}, // shape, r, k
};
inline constexpr int interaction_kinds = static_cast<int>(std::size(interaction_table));
// The number of kinds that act between atoms. A position restraint ties one atom to a place (interactions/bonded/restraints.hpp).
inline constexpr int bonded_kinds = interaction_kinds - 2;

static_assert(is_in_order(interaction_table, &InteractionRow::kind));
static_assert(interaction_table[bonded_kinds].kind == InteractionKind::PositionRestraint, "the bonded kinds come first");

constexpr const InteractionRow& row_of(InteractionKind kind) { return interaction_table[static_cast<int>(kind)]; }
constexpr int arity(InteractionKind kind) { return row_of(kind).atoms; }

inline constexpr int most_atoms = std::ranges::max(interaction_table, {}, &InteractionRow::atoms).atoms; // maximum of all kinds

} // namespace parhelion
