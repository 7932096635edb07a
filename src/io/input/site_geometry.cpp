// SPDX-License-Identifier: Apache-2.0
#include "io/input/site_geometry.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <cmath>

namespace parhelion {

namespace {

double square(double x) { return x * x; }

// Returns the parameters of X or a hydrogen of a group XH3, which is constructed from atom j and two masses (site_geometry.hpp).
std::vector<double> on_two_masses(const VirtualSite& site, SiteSide side, const MoleculeShape& shape)
{
    const std::int32_t j = site.from[0], k = site.from[1], l = site.from[2];
    const double half = 0.5 * shape.length(k, l), height = std::sqrt(square(shape.length(j, k)) - square(half));
    if (shape.has_length(site.atom, j)) // the site is X
    {
        const double along = 0.5 * shape.length(site.atom, j) / height;
        return {along, along};
    }
    const std::int32_t x = shape.between(site.atom, j);
    if (x < 0) { throw MissingShape{{site.atom, j}}; }
    const double bond = shape.length(x, site.atom), angle = shape.angle(j, x, site.atom);
    const double along = 0.5 * (shape.length(j, x) - bond * std::cos(angle)) / height, around = bond * std::sin(angle);
    if (site.kind == SiteKind::Linear) { return {along + 0.5 * around / half, along - 0.5 * around / half}; }
    // The second hydrogen is a third of a turn away: its vector is half of the first one back, and the rest out of the plane.
    const double back = 0.25 * around / half, out = std::sqrt(0.75) * around / (2 * height * half);
    return {along - back, along + back, side == SiteSide::Usual ? out : -out};
}

std::vector<double> out_of_plane(const VirtualSite& site, SiteSide side, const MoleculeShape& shape)
{
    const std::int32_t i = site.atom, j = site.from[0], k = site.from[1], l = site.from[2];
    const double b = shape.length(i, j), b_k = shape.length(j, k), b_l = shape.length(j, l);
    const double on_k = b * std::cos(shape.angle(i, j, k)), on_l = b * std::cos(shape.angle(i, j, l));
    const double cosine = std::cos(shape.angle(k, j, l)), sine2 = 1 - square(cosine);
    const double along_k = (on_k - on_l * cosine) / sine2, along_l = (on_l - on_k * cosine) / sine2;
    const double in_plane2 = on_k * along_k + on_l * along_l; // squared length of the part in the plane
    const double out = std::sqrt(square(b) - in_plane2) / (b_k * b_l * std::sqrt(sine2));
    return {along_k / b_k, along_l / b_l, side == SiteSide::Usual ? -out : out};
}

} // namespace

MoleculeShape::MoleculeShape(const MoleculeType& molecule, const Topology& topology)
{
    const auto for_each = [&](InteractionKind kind, auto&& visit) {
        for (const Interaction& term : molecule.of(kind))
        {
            visit(term.atoms, topology.parameters_of(kind)[static_cast<std::size_t>(term.parameters)][0]);
        }
    };
    const auto add_length = [&](std::int32_t a, std::int32_t b, double length) { lengths_[{a, b}] = lengths_[{b, a}] = length; };
    for (const InteractionKind kind : {InteractionKind::HarmonicBond, InteractionKind::G96Bond})
    {
        for_each(kind, [&](const auto& atoms, double length) { add_length(atoms[0], atoms[1], length); });
    }
    for (const Constraint& c : molecule.constraints) { add_length(c.a, c.b, c.length); }
    for (const InteractionKind kind : {InteractionKind::HarmonicAngle, InteractionKind::G96Angle, InteractionKind::UreyBradley})
    {
        for_each(kind, [&](const auto& atoms, double degrees) {
            const double angle = degrees * units::degree;
            angles_[{atoms[0], atoms[1], atoms[2]}] = angles_[{atoms[2], atoms[1], atoms[0]}] = angle;
        });
    }
}

double MoleculeShape::length(std::int32_t a, std::int32_t b) const
{
    const auto found = lengths_.find({a, b});
    if (found == lengths_.end()) { throw MissingShape{{a, b}}; }
    return found->second;
}

double MoleculeShape::angle(std::int32_t a, std::int32_t centre, std::int32_t b) const
{
    const auto found = angles_.find({a, centre, b});
    if (found == angles_.end()) { throw MissingShape{{a, centre, b}}; }
    return found->second;
}

bool MoleculeShape::has_length(std::int32_t a, std::int32_t b) const { return lengths_.contains({a, b}); }

std::int32_t MoleculeShape::between(std::int32_t a, std::int32_t b) const
{
    std::int32_t found = -1;
    for (auto of_a = lengths_.lower_bound({a, 0}); of_a != lengths_.end() && of_a->first.first == a; ++of_a)
    {
        const std::int32_t other = of_a->first.second;
        if (!has_length(other, b)) { continue; }
        if (found >= 0) { return -1; }
        found = other;
    }
    return found;
}

std::vector<double> site_parameters_of_shape(const VirtualSite& site, SiteSide side, bool on_masses, const MoleculeShape& shape)
{
    if (on_masses && (site.kind == SiteKind::Linear || site.kind == SiteKind::OutOfPlane3))
    {
        return on_two_masses(site, side, shape);
    }
    const std::int32_t i = site.atom, j = site.from[0];
    const double b = shape.length(i, j);
    const auto angle = [&](std::size_t k) { return shape.angle(i, j, site.from[k]); };
    const auto across = [&](std::size_t k) { return shape.length(j, site.from[k]) * std::sin(angle(k)); };
    const auto along = [&](std::size_t k) { return shape.length(j, site.from[k]) * std::cos(angle(k)); };
    switch (site.kind)
    {
    case SiteKind::FixedDistance3:
        return {across(1) / (across(1) + across(2)), -b};
    case SiteKind::FixedAngle3:
        return {b * std::cos(angle(1)), (side == SiteSide::Usual ? b : -b) * std::sin(angle(1))};
    case SiteKind::OutOfPlane3:
        return out_of_plane(site, side, shape);
    case SiteKind::FixedDistance4:
        return {along(1) / along(2), along(1) / along(3), b};
    default:
        break;
    }
    PARHELION_EXPECTS(false);
    return {};
}

} // namespace parhelion
