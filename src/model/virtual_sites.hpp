// SPDX-License-Identifier: Apache-2.0
// Virtual sites of a topology: their places in a structure, and the terms whose energy they make constant.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace parhelion {

// Places every site according to its constructing atoms, or the nearest images of these atoms. x: nm, in input order.
void place_sites(const Topology& topology, const Box<double>& box, std::vector<Vec3<double>>& x);

// Sorts the sites so that each comes after the sites that it is constructed from; otherwise their order stays. Returns the
// index, in the old order, of a site that depends on itself, or nothing if there is none. Precondition: no atom is a site twice.
std::optional<std::size_t> order_sites(std::vector<VirtualSite>& sites);

// Moves forces (kJ/mol/nm, in input order) from sites to their constructing atoms. Precondition: all sites are weighted means.
void spread_forces_of_means(const Topology& topology, std::vector<Vec3<double>>& f);

// The number of terms and constraints among sites that were removed, over all copies.
struct ConstantTerms
{
    std::int64_t terms = 0, constraints = 0;
};

// Removes, as GROMACS does, terms among a site and its constructing atoms that no motion changes: their energy is constant.
// These are bonds, angles, proper and harmonic improper dihedrals, and constraints between atoms whose distance is fixed
// anyway. Exclusions are made earlier, from all chemical bonds. Call this function after bonds were converted to constraints.
//
// A term is considered if it has sites, none of kind Mean, if all these sites have the same constructing
// atoms, and if its other atoms are among those constructing atoms. It is removed in these cases:
//   - A dihedral: always. Of its sites, only those with as many constructing atoms as the first are considered. GROMACS thereby
//     removes some dihedrals that do change, as H-C-C-H of a CH beside a CH2. Force fields are used with this behaviour.
//   - A bond or constraint: if it joins a site and its first constructing atom at a fixed distance. For a constraint, a
// site out of the plane of three counts as well. It is also removed among sites of fixed distance and the first two atoms.
//   - An angle: if its atoms are among sites of fixed angle and the first two constructing atoms.
//   - Any term: if each constructing atom is constrained to the next one, and the last to the first.
ConstantTerms remove_constant_terms(Topology& topology);

// Returns the virtual site that a constraint or a settle holds, as an index in the molecule type, or -1 if there is none.
std::int32_t constrained_site(const MoleculeType& type);

} // namespace parhelion
