// SPDX-License-Identifier: Apache-2.0
// Maps each bonded InteractionKind to its force law: to the body, and to the conversion
// of the file's parameters (in degrees; see model/interactions.hpp) to those of the body.
#pragma once

#include "base/units.hpp"
#include "interactions/bonded/bonded_body.hpp"
#include "interactions/bonded/cmap/cmap.hpp"
#include "interactions/bonded/seldom_body.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <cmath>
#include <cstdlib>

namespace parhelion {

// The data that a body may need besides a term's own parameters.
struct BondedContext
{
    double charge_scale = 1; // fudge_qq/(4 pi eps0 epsilon_r), kJ/mol nm/e^2
    const MoleculeType& molecule;
    const Interaction& interaction;
    std::int64_t first_value = 0; // index of the first value of the term's table, for kinds with tables
    double distance_k = 1;        // disre-fc, kJ/mol/nm^2
    double coulomb = 1;           // 1/(4 pi eps0 epsilon_r), kJ/mol nm/e^2
};

// Returns whether a 1-4 pair has charges of its own, which replace those of its atoms.
inline bool has_own_charges(const InteractionParameters& pair) { return pair.size() == 3; }

template <InteractionKind>
struct BondedKind; // has Body and make(); also table() if the body reads a table made of the parameters

template <>
struct BondedKind<InteractionKind::HarmonicBond>
{
    using Body = HarmonicBond<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1]}; }
};

template <>
struct BondedKind<InteractionKind::G96Bond>
{
    using Body = G96Bond<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1]}; }
};

template <>
struct BondedKind<InteractionKind::MorseBond>
{
    using Body = MorseBond<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1], p[2]}; }
};

template <>
struct BondedKind<InteractionKind::CubicBond>
{
    using Body = CubicBond<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1], p[2]}; }
};

template <>
struct BondedKind<InteractionKind::FeneBond>
{
    using Body = FeneBond<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1]}; }
};

template <>
struct BondedKind<InteractionKind::BoundedBond>
{
    using Body = DistanceRestraint<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1], p[2], p[3]}; }
};

template <>
struct BondedKind<InteractionKind::HarmonicPotential> : BondedKind<InteractionKind::HarmonicBond>
{
};

template <>
struct BondedKind<InteractionKind::HarmonicAngle>
{
    using Body = HarmonicAngle<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0] * units::degree, p[1]}; }
};

template <>
struct BondedKind<InteractionKind::G96Angle>
{
    using Body = G96Angle<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {std::cos(p[0] * units::degree), p[1]}; }
};

template <>
struct BondedKind<InteractionKind::RestrictedAngle>
{
    using Body = RestrictedAngle<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {std::cos(p[0] * units::degree), p[1]}; }
};

template <>
struct BondedKind<InteractionKind::QuarticAngle>
{
    using Body = QuarticAngle<double>;
    static Body make(const InteractionParameters& p, const BondedContext&)
    {
        return {p[0] * units::degree, {p[1], p[2], p[3], p[4], p[5]}};
    }
};

template <>
struct BondedKind<InteractionKind::CrossBondBond>
{
    using Body = CrossBondBond<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0], p[1], p[2]}; }
};

template <>
struct BondedKind<InteractionKind::CrossBondAngle>
{
    using Body = CrossBondAngle<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0] + p[1], p[2], p[3]}; }
};

template <>
struct BondedKind<InteractionKind::UreyBradley>
{
    using Body = UreyBradley<double>;
    static Body make(const InteractionParameters& p, const BondedContext&)
    {
        return {{p[0] * units::degree, p[1]}, {p[2], p[3]}};
    }
};

template <>
struct BondedKind<InteractionKind::ProperDihedral>
{
    using Body = PeriodicDihedral<double>;
    static Body make(const InteractionParameters& p, const BondedContext&)
    {
        // cos(-n phi - phi0) = cos(n phi + phi0)
        const int multiplicity = static_cast<int>(std::lrint(p[2]));
        const double phase = (multiplicity < 0 ? -p[0] : p[0]) * units::degree;
        return {{std::cos(phase), std::sin(phase), p[1], std::abs(multiplicity)}};
    }
};

template <>
struct BondedKind<InteractionKind::PeriodicImproper> : BondedKind<InteractionKind::ProperDihedral>
{
};

template <>
struct BondedKind<InteractionKind::HarmonicImproper>
{
    using Body = HarmonicDihedral<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {p[0] * units::degree, p[1]}; }
};

template <>
struct BondedKind<InteractionKind::RyckaertBellemans>
{
    using Body = RyckaertBellemans<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {{p[0], p[1], p[2], p[3], p[4], p[5]}}; }
};

template <>
struct BondedKind<InteractionKind::RestrictedDihedral>
{
    using Body = RestrictedDihedral<double>;
    static Body make(const InteractionParameters& p, const BondedContext&) { return {std::cos(p[0] * units::degree), p[1]}; }
};

template <>
struct BondedKind<InteractionKind::BendingTorsion>
{
    using Body = BendingTorsion<double>;
    static Body make(const InteractionParameters& p, const BondedContext&)
    {
        return {{p[0] * p[1], p[0] * p[2], p[0] * p[3], p[0] * p[4], p[0] * p[5]}};
    }
};

template <>
struct BondedKind<InteractionKind::Cmap>
{
    using Body = Cmap<double>;
    static std::vector<double> table(const InteractionParameters& p) { return cmap_table(p); }
    static Body make(const InteractionParameters& p, const BondedContext& context)
    {
        return {cmap_nodes(p.size()), context.first_value};
    }
};

// An optional third parameter is the scaled product of two charges, e^2. It replaces the product of the atoms' charges.
template <>
struct BondedKind<InteractionKind::Pair14>
{
    using Body = ScaledPair<double>;
    static Body make(const InteractionParameters& p, const BondedContext& context)
    {
        if (has_own_charges(p)) { return {p[0], p[1], context.coulomb * p[2]}; }
        const auto charge = [&](int i) {
            return context.molecule.atoms[static_cast<std::size_t>(context.interaction.atoms[i])].charge;
        };
        return {p[0], p[1], context.charge_scale * charge(0) * charge(1)};
    }
};

template <>
struct BondedKind<InteractionKind::NonbondedPair>
{
    using Body = ScaledPair<double>;
    static Body make(const InteractionParameters& p, const BondedContext& context)
    {
        return {p[0], p[1], context.coulomb * p[2]};
    }
};

template <>
struct BondedKind<InteractionKind::DistanceRestraint>
{
    using Body = DistanceRestraint<double>;
    static Body make(const InteractionParameters& p, const BondedContext& context)
    {
        return {p[0], p[1], p[2], p[3] * context.distance_k};
    }
};

template <>
struct BondedKind<InteractionKind::AngleRestraint>
{
    using Body = AngleRestraint<double>;
    static Body make(const InteractionParameters& p, const BondedContext&)
    {
        // 1 - cos(n (theta - theta0)) = 1 + cos(n theta - (n theta0 + pi)), which is the same for n and -n
        const int multiplicity = static_cast<int>(std::abs(std::lrint(p[2])));
        const double phase = multiplicity * p[0] * units::degree;
        return {{-std::cos(phase), -std::sin(phase), p[1], multiplicity}};
    }
};

template <>
struct BondedKind<InteractionKind::AngleRestraintZ>
{
    using Body = AngleRestraintZ<double>;
    static Body make(const InteractionParameters& p, const BondedContext& context)
    {
        return {BondedKind<InteractionKind::AngleRestraint>::make(p, context).law};
    }
};

template <>
struct BondedKind<InteractionKind::DihedralRestraint>
{
    using Body = DihedralRestraint<double>;
    static Body make(const InteractionParameters& p, const BondedContext&)
    {
        return {p[0] * units::degree, p[1] * units::degree, p[2]};
    }
};

} // namespace parhelion
