// SPDX-License-Identifier: Apache-2.0
#include "model/rigid_triangles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

namespace parhelion {

namespace {

using Partners = std::vector<std::vector<const Constraint*>>; // the constraints that hold each atom

Partners partners_of(const MoleculeType& type)
{
    Partners partners(type.atoms.size());
    for (const Constraint& c : type.constraints)
    {
        for (const std::int32_t atom : {c.a, c.b}) { partners[static_cast<std::size_t>(atom)].push_back(&c); }
    }
    return partners;
}

std::int32_t other_end(const Constraint& c, std::int32_t atom) { return c.a == atom ? c.b : c.a; }

bool suits_settle(const Settle& s, const MoleculeType& type)
{
    constexpr double least_angle = 20 * std::numbers::pi / 180;
    const double half_apex = std::asin(std::min(1.0, 0.5 * s.hh / s.oh));
    const auto mass = [&](std::int32_t atom) { return type.atoms[static_cast<std::size_t>(atom)].mass; };
    return mass(s.oxygen) > 0 && mass(s.hydrogen_a) > 0 && mass(s.hydrogen_a) == mass(s.hydrogen_b) &&
           2 * half_apex >= least_angle && 0.5 * std::numbers::pi - half_apex >= least_angle;
}

// Returns the settle whose oxygen is this atom, if its two constraints are sides of a triangle that no other constraint holds.
std::optional<Settle> triangle_at(std::int32_t apex, const MoleculeType& type, const Partners& partners)
{
    const auto held_by = [&](std::int32_t atom) -> const auto& { return partners[static_cast<std::size_t>(atom)]; };
    if (held_by(apex).size() != 2) { return {}; }
    const Constraint &one = *held_by(apex)[0], &two = *held_by(apex)[1];
    const std::int32_t end_of_one = other_end(one, apex), end_of_two = other_end(two, apex);
    const std::int32_t a = std::min(end_of_one, end_of_two), b = std::max(end_of_one, end_of_two);
    if (one.length != two.length || held_by(a).size() != 2 || held_by(b).size() != 2) { return {}; }
    const auto base = std::ranges::find_if(held_by(a), [&](const Constraint* c) { return c->a == b || c->b == b; });
    if (base == held_by(a).end()) { return {}; }
    const Settle settle{apex, a, b, one.length, (*base)->length};
    return suits_settle(settle, type) ? std::optional(settle) : std::nullopt;
}

// Returns the number of triangles in the molecule.
std::size_t settle_triangles_of(MoleculeType& type)
{
    const Partners partners = partners_of(type);
    std::vector<bool> is_settled(type.atoms.size());
    const std::size_t before = type.settles.size();
    for (std::int32_t atom = 0; atom < static_cast<std::int32_t>(type.atoms.size()); ++atom)
    {
        if (is_settled[static_cast<std::size_t>(atom)]) { continue; }
        const std::optional<Settle> settle = triangle_at(atom, type, partners);
        if (!settle) { continue; }
        type.settles.push_back(*settle);
        for (const std::int32_t corner : {settle->oxygen, settle->hydrogen_a, settle->hydrogen_b})
        {
            is_settled[static_cast<std::size_t>(corner)] = true;
        }
    }
    std::erase_if(type.constraints, [&](const Constraint& c) { return is_settled[static_cast<std::size_t>(c.a)]; });
    return type.settles.size() - before;
}

} // namespace

std::int64_t settle_rigid_triangles(Topology& topology)
{
    std::vector<std::int64_t> found;
    for (MoleculeType& type : topology.molecule_types) { found.push_back(static_cast<std::int64_t>(settle_triangles_of(type))); }
    std::int64_t all = 0;
    for (const MoleculeBlock& block : topology.blocks) { all += block.count * found[static_cast<std::size_t>(block.type)]; }
    return all;
}

} // namespace parhelion
