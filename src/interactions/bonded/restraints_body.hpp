// SPDX-License-Identifier: Apache-2.0
// The maths of one position restraint, on host and device: see restraints.hpp.
#pragma once

#include "interactions/bonded/restraints.hpp"
#include "state/periodic_box.hpp"

namespace parhelion {

struct RestraintForce
{
    Vec3<double> f; // kJ/mol/nm
    double energy = 0;
    Vec3<double> virial; // its diagonal, kJ/mol; there is no more
};

template <class N>
PARHELION_HD inline RestraintForce restraint_force(const PositionRestraint& restraint, const PeriodicBox<N>& box,
                                                   const Vec3<typename N::Fixed>& x)
{
    const Vec3<double> edges = box.length();
    Vec3<double> reference = restraint.offset;
    for (int d = 0; d < 3; ++d) { reference[d] += restraint.fraction[d] * edges[d]; }
    const Vec3<double> away = box.difference(x, box.to_fixed(reference));
    RestraintForce result;
    for (int d = 0; d < 3; ++d) { result.f[d] = -restraint.k[d] * away[d]; }
    result.energy = -0.5 * dot(away, result.f);
    for (int d = 0; d < 3; ++d) { result.virial[d] = -0.5 * (away[d] + restraint.offset[d]) * result.f[d]; }
    return result;
}

} // namespace parhelion
