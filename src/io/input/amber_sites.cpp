// SPDX-License-Identifier: Apache-2.0
#include "io/input/amber_sites.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace parhelion {

namespace {

struct BondEnd
{
    std::int32_t atom;
    double length;
};

using BondEnds = std::vector<std::vector<BondEnd>>; // indexed by atom

// Returns the site: from the oxygen, d / (2 h) times the sum of the vectors to both hydrogens. h: height of the triangle.
std::optional<VirtualSite> site_of_water(std::int32_t point, const BondEnds& neighbours, const MoleculeType& molecule)
{
    const auto of = [&](std::int32_t atom) -> const std::vector<BondEnd>& { return neighbours[static_cast<std::size_t>(atom)]; };
    if (of(point).size() != 1) { return {}; }
    const auto [oxygen, distance] = of(point)[0];
    std::vector<BondEnd> hydrogens = of(oxygen);
    std::erase_if(hydrogens, [&](const BondEnd& n) { return n.atom == point; });
    if (hydrogens.size() != 2 || hydrogens[0].length != hydrogens[1].length) { return {}; }
    const auto [one, oh] = hydrogens[0];
    const std::int32_t two = hydrogens[1].atom;
    const auto across = std::ranges::find(of(one), two, &BondEnd::atom);
    const auto has_mass = [&](std::int32_t atom) { return molecule.atoms[static_cast<std::size_t>(atom)].mass > 0; };
    if (across == of(one).end() || of(one).size() != 2 || of(two).size() != 2) { return {}; }
    if (!has_mass(oxygen) || !has_mass(one) || !has_mass(two) || !(across->length < 2 * oh) || !(distance > 0)) { return {}; }
    const double height = std::sqrt((oh - 0.5 * across->length) * (oh + 0.5 * across->length));
    const double part = 0.5 * distance / height;
    return VirtualSite{SiteKind::Linear, point, {oxygen, std::min(one, two), std::max(one, two)}, {part, part}};
}

} // namespace

bool joins_point(const AmberBond& bond, const MoleculeType& molecule)
{
    const auto has_no_mass = [&](std::int32_t atom) { return molecule.atoms[static_cast<std::size_t>(atom)].mass == 0; };
    return has_no_mass(bond.a) || has_no_mass(bond.b);
}

std::int32_t add_extra_points(std::vector<AmberBond>& bonds, MoleculeType& molecule)
{
    const auto has_no_mass = [&](std::int32_t atom) { return molecule.atoms[static_cast<std::size_t>(atom)].mass == 0; };
    const auto atoms = static_cast<std::int32_t>(molecule.atoms.size());
    if (std::ranges::none_of(molecule.atoms, [](const Atom& atom) { return atom.mass == 0; })) { return -1; }
    BondEnds neighbours(molecule.atoms.size());
    for (const AmberBond& bond : bonds)
    {
        neighbours[static_cast<std::size_t>(bond.a)].push_back({bond.b, bond.parameters[0]});
        neighbours[static_cast<std::size_t>(bond.b)].push_back({bond.a, bond.parameters[0]});
    }
    for (std::int32_t atom = 0; atom < atoms; ++atom)
    {
        if (!has_no_mass(atom)) { continue; }
        std::optional<VirtualSite> site = site_of_water(atom, neighbours, molecule);
        if (!site) { return atom; }
        molecule.sites.push_back(std::move(*site));
    }
    std::erase_if(bonds, [&](const AmberBond& bond) { return joins_point(bond, molecule); });
    return -1;
}

} // namespace parhelion
