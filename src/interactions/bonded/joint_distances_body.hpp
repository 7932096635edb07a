// SPDX-License-Identifier: Apache-2.0
// The force law of a distance restraint of several pairs, for CPU and GPU.
//
// The restraint's distance is R = (sum r^-6)^(-1/6) over its pairs. Its energy is that of a single pair at R
// (DistanceRestraint). Forces are either the derivative, which gives a pair the weight (R/r)^7, or equal along
// all pairs (GROMACS manual, "Distance restraints", and disre-weighting). With equal forces, each of n pairs
// has 1/n of the slope k (R - up1). As in GROMACS, the bound k (up2 - up1) is applied after this division.
#pragma once

#include "base/vec3.hpp"
#include "interactions/bonded/bonded_body.hpp"

#include <cmath>

namespace parhelion {

struct JointDistanceLaw
{
    DistanceRestraint<double> of_one; // the law of a single pair, evaluated at R
    bool shares_equally;
};

// Returns r^-6 of a pair at d (nm), the summand of the joint distance.
PARHELION_HD inline double inverse_sixth_power(const Vec3<double>& d)
{
    const double r2 = norm2(d);
    return 1 / (r2 * r2 * r2);
}

// The part of a restraint's force that all its pairs have in common.
struct JointPull
{
    double energy;   // kJ/mol
    double distance; // R, nm
    double slope;    // kJ/mol/nm
    bool shares_equally;

    // Returns the force on the first atom of a pair at d (nm), the vector from its second to its first
    // atom. The second atom has the opposite force. If d is zero, the pair has no direction and no force.
    PARHELION_HD Vec3<double> force(const Vec3<double>& d) const
    {
        const double r = norm(d);
        if (!(r > 0)) { return {}; }
        const double ratio = distance / r, third = ratio * ratio * ratio;
        return (-slope * (shares_equally ? 1 : third * third * ratio) / r) * d;
    }
};

// Returns the pull of a restraint. `sum` is the sum of inverse_sixth_power() over its `pairs` pairs.
PARHELION_HD inline JointPull joint_pull(const JointDistanceLaw& law, double sum, int pairs)
{
    const DistanceRestraint<double>& p = law.of_one;
    const double distance = std::pow(sum, -1.0 / 6), excess = p.excess(distance);
    return {p.energy(excess), distance, p.k * p.bounded(law.shares_equally ? excess / pairs : excess), law.shares_equally};
}

} // namespace parhelion
