// SPDX-License-Identifier: Apache-2.0
// Parameters of virtual sites that a topology omits, as written by `pdb2gmx -vsite`. They follow from the
// lengths of bonds and constraints and from angles, so that a site is where the atom that it replaces would be.
//
// Feenstra, Hess and Berendsen, J. Comput. Chem. 20, 786 (1999), by elementary geometry. i is
// the site, j, k, l, m are its constructing atoms, b is a length, theta_k is the angle i-j-k:
//
//   FixedDistance3   a = q_k / (q_k + q_l), q_k = b_jk sin theta_k: the parts across the site's direction cancel; distance -b_ij
//   FixedAngle3      theta_k, b_ij
//   OutOfPlane3      a place whose projections on jk and jl are b_ij cos theta_k and b_ij cos theta_l, at b_ij from j
//   FixedDistance4   a = p_k / p_l, b = p_k / p_m, p_k = b_jk cos theta_k: both vectors are across the site's direction; b_ij
//
// In XH3 (X and three hydrogens) two masses k and l, in a rigid triangle with j, carry X and the hydrogens. X is at distance
// b_jX on the axis from j between the masses. The hydrogens are around the axis, the first in the triangle's plane by k.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace parhelion {

// The shape of a molecule as given by its bonds, constraints and angles.
class MoleculeShape
{
public:
    MoleculeShape(const MoleculeType& molecule, const Topology& topology);

    // Return a length (nm) and an angle (radians) between atoms of the molecule. Throw MissingShape.
    double length(std::int32_t a, std::int32_t b) const;
    double angle(std::int32_t a, std::int32_t centre, std::int32_t b) const;
    bool has_length(std::int32_t a, std::int32_t b) const;
    // Returns the only atom with a known length to both a and b, or -1 if there is no such atom or more than one.
    std::int32_t between(std::int32_t a, std::int32_t b) const;

private:
    std::map<std::pair<std::int32_t, std::int32_t>, double> lengths_; // each length is stored for both orders of its atoms
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, double> angles_;
};

// The atoms of a length (two atoms) or an angle (three) that is not known.
struct MissingShape
{
    std::vector<std::int32_t> atoms;
};

enum class SiteSide : std::uint8_t
{
    Usual,
    Other // a negative function type: FixedAngle3 on the far side of j, OutOfPlane3 on the other side of the plane
};

// Returns parameters in the form of VirtualSite. on_masses: true if k and l are the masses of XH3.
// Preconditions: the kind has three or four atoms; if it is Linear, on_masses is true. Throws MissingShape.
std::vector<double> site_parameters_of_shape(const VirtualSite& site, SiteSide side, bool on_masses, const MoleculeShape& shape);

} // namespace parhelion
