// SPDX-License-Identifier: Apache-2.0
// Which force law each InteractionKind is: its body, the energy terms it adds to, and how the file's parameters (degrees; see
// model/topology.hpp) become the body's. To add a kind: its body in bonded_body.hpp, its BondedKind here;
// tests/forces/bonded_test.cpp then demands a random molecule for it.
#pragma once

#include "base/units.hpp"
#include "forces/bonded_body.hpp"
#include "model/energy_terms.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <array>
#include <cmath>
#include <cstdlib>

namespace parhelion {

// Where a term stands: what a body may need besides its parameters.
struct BondedContext
{
    double charge_scale = 1; // kJ/mol nm/e^2: fudge_qq/(4 pi eps0 epsilon_r)
    const MoleculeType& molecule;
    const Interaction& interaction;
};

template <InteractionKind>
struct BondedKind; // Body, energy (one term for each of the body's), make()

template <>
struct BondedKind<InteractionKind::HarmonicBond>
{
    using Body = HarmonicBond<double>;
    static constexpr std::array energy{EnergyTerm::Bond};
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1]}; }
};

template <>
struct BondedKind<InteractionKind::G96Bond>
{
    using Body = G96Bond<double>;
    static constexpr std::array energy{EnergyTerm::G96Bond};
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1]}; }
};

template <>
struct BondedKind<InteractionKind::HarmonicAngle>
{
    using Body = HarmonicAngle<double>;
    static constexpr std::array energy{EnergyTerm::Angle};
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0] * units::degree, p[1]}; }
};

template <>
struct BondedKind<InteractionKind::G96Angle>
{
    using Body = G96Angle<double>;
    static constexpr std::array energy{EnergyTerm::G96Angle};
    static Body make(const InteractionParameters& p, const BondedContext&) { return {std::cos(p[0] * units::degree), p[1]}; }
};

template <>
struct BondedKind<InteractionKind::UreyBradley>
{
    using Body = UreyBradley<double>;
    static constexpr std::array energy{EnergyTerm::UreyBradley};
    static Body make(const InteractionParameters& p, const BondedContext&)
    {
        return {{p[0] * units::degree, p[1]}, {p[2], p[3]}};
    }
};

template <>
struct BondedKind<InteractionKind::ProperDihedral>
{
    using Body = PeriodicDihedral<double>;
    static constexpr std::array energy{EnergyTerm::ProperDihedral};
    static Body make(const InteractionParameters& p, const BondedContext&)
    {
        // cos(-n phi - phi0) = cos(n phi + phi0)
        const int multiplicity = static_cast<int>(std::lrint(p[2]));
        const double phase = (multiplicity < 0 ? -p[0] : p[0]) * units::degree;
        return {std::cos(phase), std::sin(phase), p[1], std::abs(multiplicity)};
    }
};

template <>
struct BondedKind<InteractionKind::PeriodicImproper> : BondedKind<InteractionKind::ProperDihedral>
{
    static constexpr std::array energy{EnergyTerm::PeriodicImproper};
};

template <>
struct BondedKind<InteractionKind::HarmonicImproper>
{
    using Body = HarmonicDihedral<double>;
    static constexpr std::array energy{EnergyTerm::HarmonicImproper};
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0] * units::degree, p[1]}; }
};

template <>
struct BondedKind<InteractionKind::RyckaertBellemans>
{
    using Body = RyckaertBellemans<double>;
    static constexpr std::array energy{EnergyTerm::RyckaertBellemans};
    static Body make(const InteractionParameters& p, const BondedContext&) { return {{p[0], p[1], p[2], p[3], p[4], p[5]}}; }
};

template <>
struct BondedKind<InteractionKind::Pair14>
{
    using Body = ScaledPair<double>;
    static constexpr std::array energy{EnergyTerm::Lj14, EnergyTerm::Coulomb14};
    static Body make(const InteractionParameters& p, const BondedContext& context)
    {
        const auto charge = [&](int i) {
            return context.molecule.atoms[static_cast<std::size_t>(context.interaction.atoms[i])].charge;
        };
        return {p[0], p[1], context.charge_scale * charge(0) * charge(1)};
    }
};

// Position restraints tie an atom to a place, not to other atoms: forces/restraints.hpp.
inline constexpr int bonded_kinds = interaction_kinds - 1;
static_assert(static_cast<int>(InteractionKind::PositionRestraint) == bonded_kinds, "the bonded kinds come first");

} // namespace parhelion
