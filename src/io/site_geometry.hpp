// SPDX-License-Identifier: Apache-2.0
// Parameters of virtual sites that a topology leaves out, as `pdb2gmx -vsite` does: they follow from the lengths of bonds and
// constraints and from angles, so that a site is where the atom would be that it replaces.
//
// Feenstra, Hess and Berendsen, J. Comput. Chem. 20, 786 (1999), by elementary geometry. With i the site and j, k, l, m what it
// is made of, b a length, theta_k the angle i-j-k:
//
//   FixedDistance3   a = q_k / (q_k + q_l), q_k = b_jk sin theta_k: across the site's direction both cancel; distance -b_ij
//   FixedAngle3      theta_k, b_ij
//   OutOfPlane3      a place whose projections on jk and jl are b_ij cos theta_k and b_ij cos theta_l, at b_ij from j
//   FixedDistance4   a = p_k / p_l, b = p_k / p_m, p_k = b_jk cos theta_k: both vectors are across the site's direction; b_ij
//
// In XH3, two masses k and l of a rigid triangle with j carry X and three hydrogens: X is on the axis from j between them, at
// b_jX, and hydrogens around it, the first in the plane of the triangle, on the side of k.
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace parhelion {

// What bonds, constraints and angles of a molecule say about its shape.
class MoleculeShape
{
public:
    MoleculeShape(const MoleculeType& molecule, const Topology& topology);

    // Local atoms. nm; radians. Throw MissingShape.
    double length(std::int32_t a, std::int32_t b) const;
    double angle(std::int32_t a, std::int32_t centre, std::int32_t b) const;
    bool has_length(std::int32_t a, std::int32_t b) const;
    // The only atom with a known length to both; -1: there is none, or more than one.
    std::int32_t between(std::int32_t a, std::int32_t b) const;

private:
    std::map<std::pair<std::int32_t, std::int32_t>, double> lengths_; // both ways
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, double> angles_;
};

// Atoms whose length (two of them) or angle is not known.
struct MissingShape
{
    std::vector<std::int32_t> atoms;
};

enum class SiteSide : std::uint8_t
{
    Usual,
    Other // a function type with a minus sign: FixedAngle3 beyond j, OutOfPlane3 on the other side of the plane
};

// In the form that VirtualSite has them. on_masses: k and l are the masses of XH3. Preconditions: the kind is one of three or
// four atoms; if it is Linear, on_masses. Throws MissingShape.
std::vector<double> site_parameters_of_shape(const VirtualSite& site, SiteSide side, bool on_masses, const MoleculeShape& shape);

} // namespace parhelion
