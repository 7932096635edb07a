// SPDX-License-Identifier: Apache-2.0
// The law of a distance restraint of several pairs, for CPU and GPU.
//
// Its distance is R = (sum r^-6)^(-1/6) of those of its pairs, its energy that of one pair at R (DistanceRestraint). Forces are
// the derivative, in which a pair has the weight (R/r)^7; or equal ones along all pairs (GROMACS manual, "Distance restraints",
// and disre-weighting). Then each pair has an n-th of the slope k (R - up1), bounded by k (up2 - up1) only once it is divided: so
// GROMACS has it.
#pragma once

#include "base/vec3.hpp"
#include "interactions/bonded/bonded_body.hpp"

#include <cmath>

namespace parhelion {

struct JointDistanceLaw
{
    DistanceRestraint<double> of_one; // at R
    bool shares_equally;
};

// d: nm, of a pair. What pairs add up.
PARHELION_HD inline double inverse_sixth_power(const Vec3<double>& d)
{
    const double r2 = norm2(d);
    return 1 / (r2 * r2 * r2);
}

// The part of a restraint's force that is the same for all its pairs.
struct JointPull
{
    double energy;   // kJ/mol
    double distance; // R, nm
    double slope;    // kJ/mol/nm
    bool shares_equally;

    // On the first atom of a pair at d (nm), from its second atom to its first; the opposite is on the other. A pair without a
    // distance has no direction.
    PARHELION_HD Vec3<double> force(const Vec3<double>& d) const
    {
        const double r = norm(d);
        if (!(r > 0)) { return {}; }
        const double ratio = distance / r, third = ratio * ratio * ratio;
        return (-slope * (shares_equally ? 1 : third * third * ratio) / r) * d;
    }
};

// sum: of inverse_sixth_power() of so many pairs.
PARHELION_HD inline JointPull joint_pull(const JointDistanceLaw& law, double sum, int pairs)
{
    const DistanceRestraint<double>& p = law.of_one;
    const double distance = std::pow(sum, -1.0 / 6), excess = p.excess(distance);
    return {p.energy(excess), distance, p.k * p.bounded(law.shares_equally ? excess / pairs : excess), law.shares_equally};
}

} // namespace parhelion
