// SPDX-License-Identifier: Apache-2.0
// Virtual sites as part of a topology: their places in a structure, and the terms that they make constant.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// Puts every site where its constructing atoms, or their nearest images, say. x: nm, in input order.
void place_sites(const Topology& topology, const Box<double>& box, std::vector<Vec3<double>>& x);

// Moves forces (kJ/mol/nm, in input order) from sites to their constructing atoms. Precondition: all sites are weighted means.
void spread_forces_of_means(const Topology& topology, std::vector<Vec3<double>>& f);

// How many terms and constraints among sites were removed, over all copies.
struct ConstantTerms
{
    std::int64_t terms = 0, constraints = 0; // removed
};

// Removes, as GROMACS does, bonds, angles, dihedrals (proper and harmonic improper ones) and constraints among a site and its
// constructing atoms that no motion changes: their energy is a constant, and a constraint would hold what is held already.
// Chemical bonds stay what they are for exclusions, which are made before. To be called once bonds are converted to constraints.
//
// A term is looked at if it has a site that is not a weighted mean of any number, and all its sites have the same constructing
// atoms, among which its other atoms are. It goes if
//   - it is a dihedral, of whose sites only those count that have as many constructing atoms as the first: GROMACS loses some
//     that do change, as H-C-C-H of a CH with a CH2 at its side, and force fields are used with what it makes of them;
//   - it is a bond or a constraint of a site and its first constructing atom, from which the site has a fixed distance (of a
//     constraint also if the site is out of the plane of three); or one among sites of fixed distance and the first two;
//   - it is an angle among sites of fixed angle and the first two;
//   - it is any of them and each constructing atom is constrained to the next one, and the last to the first.
ConstantTerms remove_constant_terms(Topology& topology);

// The site that a constraint or a settle holds, local to the molecule type; -1: none.
std::int32_t constrained_site(const MoleculeType& type);

} // namespace parhelion
