// SPDX-License-Identifier: Apache-2.0
// The energy terms a force evaluation produces, under GROMACS' names, and their sums. Everything else an energy file holds
// (kinetic, total, conserved, pressure ...) is derived from these and from the state by engine/observe.
#pragma once

#include "base/numerics.hpp"
#include "base/vec3.hpp"

#include <array>
#include <string_view>

namespace parhelion {

enum class EnergyTerm : std::uint8_t
{
    Bond,
    G96Bond,
    Angle,
    G96Angle,
    UreyBradley,
    ProperDihedral,
    RyckaertBellemans,
    HarmonicImproper,
    PeriodicImproper,
    Lj14,
    Coulomb14,
    LjSr,
    DispersionCorrection,
    CoulombSr,
    PositionRestraint,
};
inline constexpr int energy_terms = 15;

inline constexpr std::array<std::string_view, energy_terms> energy_term_names = {
    "Bond",           "G96Bond", "Angle",      "G96Angle", "U-B",           "Proper Dih.",  "Ryckaert-Bell.", "Improper Dih.",
    "Per. Imp. Dih.", "LJ-14",   "Coulomb-14", "LJ (SR)",  "Disper. corr.", "Coulomb (SR)", "Position Rest.",
};

// Energies by term (kJ/mol) and the virial -1/2 sum r (x) f (kJ/mol) of the forces behind them.
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

// One thread's running sums of the same, in a type whose result does not depend on the order where N asks for that.
template <class N>
struct EnergySums
{
    std::array<ScalarSum<N>, energy_terms> energy{};
    std::array<ScalarSum<N>, 9> virial{};

    void add(EnergyTerm term, double e) { energy[static_cast<int>(term)] += to_sum<ScalarSum<N>>(e); }
    // dr (x) f of one pair or term with dr = r_i - r_j and f on i: adds -1/2 dr (x) f.
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
