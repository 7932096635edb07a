// SPDX-License-Identifier: Apache-2.0
// The energy terms of a force evaluation, under GROMACS' names, and their sums. engine/observe derives all other
// quantities of an energy file (kinetic, total, conserved energy, pressure, ...) from these and the state.
#pragma once

#include "base/numerics.hpp"
#include "base/table.hpp"
#include "base/vec3.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace parhelion {

enum class EnergyTerm : std::uint8_t
{
    Bond,
    G96Bond,
    MorseBond,
    CubicBond,
    HarmonicPotential,
    FeneBond,
    BoundedBond,
    Angle,
    G96Angle,
    RestrictedAngle,
    CrossBondBond,
    CrossBondAngle,
    UreyBradley,
    QuarticAngle,
    ProperDihedral,
    RyckaertBellemans,
    RestrictedDihedral,
    BendingTorsion,
    HarmonicImproper,
    PeriodicImproper,
    Cmap,
    Lj14,
    Coulomb14,
    LjSr,
    DispersionCorrection,
    CoulombSr,
    CoulombReciprocal,
    LjReciprocal,
    PositionRestraint,
    FlatBottomRestraint,
    DistanceRestraint,
    AngleRestraint,
    AngleRestraintZ,
    DihedralRestraint,
};

// The table has one row for each energy term, in the order of the terms in energy files.
struct EnergyTermRow
{
    EnergyTerm term;
    std::string_view name; // the term's name in energy files
};
inline constexpr EnergyTermRow energy_term_table[] = {
    {EnergyTerm::Bond, "Bond"},
    {EnergyTerm::G96Bond, "G96Bond"},
    {EnergyTerm::MorseBond, "Morse"},
    {EnergyTerm::CubicBond, "Cubic Bonds"},
    {EnergyTerm::HarmonicPotential, "Harmonic Pot."},
    {EnergyTerm::FeneBond, "FENE Bonds"},
    {EnergyTerm::BoundedBond, "Restraint Pot."},
    {EnergyTerm::Angle, "Angle"},
    {EnergyTerm::G96Angle, "G96Angle"},
    {EnergyTerm::RestrictedAngle, "Restr. Angles"},
    {EnergyTerm::CrossBondBond, "Bond-Cross"},
    {EnergyTerm::CrossBondAngle, "BA-Cross"},
    {EnergyTerm::UreyBradley, "U-B"},
    {EnergyTerm::QuarticAngle, "Quartic Angles"},
    {EnergyTerm::ProperDihedral, "Proper Dih."},
    {EnergyTerm::RyckaertBellemans, "Ryckaert-Bell."},
    {EnergyTerm::RestrictedDihedral, "Restr. Dih."},
    {EnergyTerm::BendingTorsion, "CBT Dih."},
    {EnergyTerm::HarmonicImproper, "Improper Dih."},
    {EnergyTerm::PeriodicImproper, "Per. Imp. Dih."},
    {EnergyTerm::Cmap, "CMAP Dih."},
    {EnergyTerm::Lj14, "LJ-14"},
    {EnergyTerm::Coulomb14, "Coulomb-14"},
    {EnergyTerm::LjSr, "LJ (SR)"},
    {EnergyTerm::DispersionCorrection, "Disper. corr."},
    {EnergyTerm::CoulombSr, "Coulomb (SR)"},
    {EnergyTerm::CoulombReciprocal, "Coul. recip."},
    {EnergyTerm::LjReciprocal, "LJ recip."},
    {EnergyTerm::PositionRestraint, "Position Rest."},
    {EnergyTerm::FlatBottomRestraint, "Flat-b. P-R."},
    {EnergyTerm::DistanceRestraint, "Dis. Rest."},
    {EnergyTerm::AngleRestraint, "Angle Rest."},
    {EnergyTerm::AngleRestraintZ, "Angle Rest. Z"},
    {EnergyTerm::DihedralRestraint, "Dih. Rest."},
};
inline constexpr int energy_terms = static_cast<int>(std::size(energy_term_table));
static_assert(is_in_order(energy_term_table, &EnergyTermRow::term));

// The energies by term (kJ/mol), and the virial -1/2 sum r (x) f (kJ/mol) of the forces that belong to these terms.
struct EnergyVirial
{
    std::array<double, energy_terms> energy{};
    Mat3<double> virial{};

    constexpr double& operator[](EnergyTerm term) { return energy[static_cast<int>(term)]; }
    constexpr double operator[](EnergyTerm term) const { return energy[static_cast<int>(term)]; }
    constexpr double potential() const
    {
        double total = 0;
        for (const double e : energy) { total += e; }
        return total;
    }
};

// Energies by term and virial, like EnergyVirial, as the sums of one thread. If policy N asks for it, sums do not depend on the
// order of their terms.
template <class N>
struct EnergySums
{
    std::array<ScalarSum<N>, energy_terms> energy{};
    std::array<ScalarSum<N>, 9> virial{};

    void add(EnergyTerm term, double e) { energy[static_cast<int>(term)] += to_sum<ScalarSum<N>>(e); }
    // Adds the virial -1/2 dr (x) f of one pair or term, with dr = r_i - r_j and the force f on atom i.
    void add_virial(const Vec3<double>& dr, const Vec3<double>& f)
    {
        for (int a = 0; a < 3; ++a)
        {
            for (int b = 0; b < 3; ++b) { virial[3 * a + b] += to_sum<ScalarSum<N>>(-0.5 * dr[a] * f[b]); }
        }
    }
    EnergySums& operator+=(const EnergySums& other)
    {
        for (int i = 0; i < energy_terms; ++i) { energy[i] += other.energy[i]; }
        for (int i = 0; i < 9; ++i) { virial[i] += other.virial[i]; }
        return *this;
    }
    EnergyVirial result() const
    {
        EnergyVirial r;
        for (int i = 0; i < energy_terms; ++i) { r.energy[i] = from_sum(energy[i]); }
        for (int i = 0; i < 9; ++i) { r.virial[i / 3][i % 3] = from_sum(virial[i]); }
        return r;
    }
};

} // namespace parhelion
