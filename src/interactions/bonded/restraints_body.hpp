// SPDX-License-Identifier: Apache-2.0
// The formulas of one position restraint (restraints.hpp), for host and device.
#pragma once

#include "interactions/bonded/restraints.hpp"
#include "state/periodic_box.hpp"

#include <cmath>

namespace parhelion {

struct RestraintForce
{
    Vec3<double> f; // kJ/mol/nm
    double energy = 0;
    Vec3<double> virial; // diagonal of the virial, kJ/mol; other elements are 0
};

// Returns force and energy of an atom at the distance vector `away` (nm) from its reference position.
PARHELION_HD inline RestraintForce pull_back(const PositionRestraint& restraint, const Vec3<double>& away)
{
    RestraintForce result;
    for (int d = 0; d < 3; ++d) { result.f[d] = -restraint.k[d] * away[d]; }
    result.energy = -0.5 * dot(away, result.f);
    return result;
}

// Does the same for a flat-bottomed restraint. At the centre of an inverted restraint the force is zero, as it has no direction.
PARHELION_HD inline RestraintForce pull_back(const FlatBottomRestraint& restraint, const Vec3<double>& away)
{
    Vec3<double> counted;
    for (int d = 0; d < 3; ++d) { counted[d] = restraint.axes[d] * away[d]; }
    const double r = norm(counted), excess = r - restraint.radius;
    if (restraint.is_inverted ? excess >= 0 : excess <= 0) { return {}; }
    RestraintForce result;
    if (r > 0) { result.f = (-restraint.k * excess / r) * counted; }
    result.energy = 0.5 * restraint.k * excess * excess;
    return result;
}

template <class N, class Restraint>
PARHELION_HD inline RestraintForce restraint_force(const Restraint& restraint, const PeriodicBox<N>& box,
                                                   const Vec3<typename N::Fixed>& x)
{
    const Vec3<double> reference = restraint.offset + box.edges().to_nm(restraint.fraction);
    const Vec3<double> away = box.nearest(x, box.to_fixed(reference));
    RestraintForce result = pull_back(restraint, away);
    for (int d = 0; d < 3; ++d) { result.virial[d] = -0.5 * (away[d] + restraint.offset[d]) * result.f[d]; }
    return result;
}

} // namespace parhelion
