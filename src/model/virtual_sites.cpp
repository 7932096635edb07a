// SPDX-License-Identifier: Apache-2.0
#include "model/virtual_sites.hpp"

#include "base/error.hpp"
#include "model/site_body.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace parhelion {

void place_sites(const Topology& topology, const Box<double>& box, std::vector<Vec3<double>>& x)
{
    std::vector<Vec3<double>> away;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        for (std::int64_t copy = 0; copy < block.count && !type.sites.empty(); ++copy)
        {
            Vec3<double>* const atoms = x.data() + block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
            for (const VirtualSite& site : type.sites)
            {
                away.clear();
                const Vec3<double>& first = atoms[site.from[0]];
                for (const std::int32_t atom : std::span(site.from).subspan(1))
                {
                    away.push_back(box.image(atoms[atom] - first));
                }
                atoms[site.atom] =
                    first + site_offset(site.kind, site.parameters.data(), away.data(), static_cast<int>(away.size()));
            }
        }
    }
}

std::optional<std::size_t> order_sites(std::vector<VirtualSite>& sites)
{
    std::set<std::int32_t> constructed;
    for (const VirtualSite& site : sites) { constructed.insert(site.atom); }
    std::map<std::int32_t, std::vector<std::size_t>> waiting; // by site: indices of the sites constructed from it
    std::vector<std::size_t> missing(sites.size());           // number of constructing sites that each site still waits for
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < sites.size(); ++i)
    {
        for (const std::int32_t atom : sites[i].from)
        {
            if (!constructed.contains(atom)) { continue; }
            waiting[atom].push_back(i);
            ++missing[i];
        }
        if (missing[i] == 0) { ready.insert(i); }
    }
    std::vector<VirtualSite> ordered;
    while (!ready.empty())
    {
        const std::size_t next = *ready.begin();
        ready.erase(ready.begin());
        ordered.push_back(sites[next]);
        for (const std::size_t i : waiting[sites[next].atom])
        {
            if (--missing[i] == 0) { ready.insert(i); }
        }
    }
    if (ordered.size() == sites.size())
    {
        sites = std::move(ordered);
        return {};
    }
    const auto left = std::ranges::find_if(missing, [](std::size_t number) { return number > 0; });
    return static_cast<std::size_t>(left - missing.begin());
}

void spread_forces_of_means(const Topology& topology, std::vector<Vec3<double>>& f)
{
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        for (std::int64_t copy = 0; copy < block.count && !type.sites.empty(); ++copy)
        {
            Vec3<double>* const atoms = f.data() + block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
            for (auto site = type.sites.rbegin(); site != type.sites.rend(); ++site)
            {
                PARHELION_EXPECTS(is_linear(site->kind));
                Vec3<double> rest = atoms[site->atom];
                for (std::size_t k = 1; k < site->from.size(); ++k)
                {
                    const Vec3<double> part = site->parameters[k - 1] * atoms[site->atom];
                    atoms[site->from[k]] += part, rest -= part;
                }
                atoms[site->from[0]] += rest;
                atoms[site->atom] = {};
            }
        }
    }
}

namespace {

enum class Shape : std::uint8_t
{
    Bond,
    Constraint,
    Angle,
    Dihedral
};

// Finds out which terms of one molecule type are constant.
class ConstantTermsOf
{
public:
    explicit ConstantTermsOf(const MoleculeType& type) : site_of_(type.atoms.size(), nullptr)
    {
        for (const VirtualSite& site : type.sites) { site_of_[static_cast<std::size_t>(site.atom)] = &site; }
        for (const Constraint& c : type.constraints) { held_.insert(std::minmax(c.a, c.b)); }
        for (const Settle& s : type.settles) { held_.insert(std::minmax(s.oxygen, s.hydrogen_a)); }
    }
    bool has(Shape shape, std::span<const std::int32_t> atoms) const
    {
        std::vector<const VirtualSite*> sites;
        std::vector<std::int32_t> others;
        for (const std::int32_t atom : atoms)
        {
            if (const VirtualSite* const site = site_of_[static_cast<std::size_t>(atom)]) { sites.push_back(site); }
            else { others.push_back(atom); }
        }
        if (sites.empty() || std::ranges::any_of(sites, [](const auto* s) { return s->kind == SiteKind::Mean; }))
        {
            return false;
        }
        const bool is_pair = shape == Shape::Bond || shape == Shape::Constraint;
        if (is_pair && others.size() == 1 && keeps_distance(*sites[0], others[0], shape)) { return true; }
        // GROMACS ignores sites of a dihedral whose number of constructing atoms differs from the first site's.
        if (shape == Shape::Dihedral)
        {
            std::erase_if(sites, [n = sites[0]->from.size()](const VirtualSite* site) { return site->from.size() != n; });
        }
        if (!have_same_atoms(sites)) { return false; }
        const std::vector<std::int32_t>& from = sites[0]->from;
        const auto is_among = [&](std::size_t leading) {
            const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(leading, from.size()));
            return std::ranges::all_of(others, [&](std::int32_t atom) { return std::find(from.begin(), end, atom) != end; });
        };
        if (!is_among(from.size())) { return false; }
        if (shape == Shape::Dihedral) { return true; }
        const auto is_suitable = [&](const VirtualSite* s) {
            return is_pair ? has_fixed_distance(s->kind) : s->kind == SiteKind::FixedAngle3;
        };
        return (std::ranges::all_of(sites, is_suitable) && is_among(2)) || is_rigid(from);
    }

private:
    static bool has_fixed_distance(SiteKind kind) { return !is_linear(kind) && kind != SiteKind::OutOfPlane3; }
    static bool keeps_distance(const VirtualSite& site, std::int32_t other, Shape shape)
    {
        return other == site.from[0] &&
               (has_fixed_distance(site.kind) || (shape == Shape::Constraint && site.kind == SiteKind::OutOfPlane3));
    }
    static bool have_same_atoms(const std::vector<const VirtualSite*>& sites)
    {
        return std::ranges::all_of(
            sites, [&](const VirtualSite* site) { return std::ranges::is_permutation(site->from, sites[0]->from); });
    }
    bool is_rigid(const std::vector<std::int32_t>& from) const
    {
        for (std::size_t i = 0; i < from.size(); ++i)
        {
            if (!held_.contains(std::minmax(from[i], from[(i + 1) % from.size()]))) { return false; }
        }
        return true;
    }

    std::vector<const VirtualSite*> site_of_;
    std::set<std::pair<std::int32_t, std::int32_t>> held_; // pairs at a fixed distance; one side of a settle, as in GROMACS
};

constexpr std::pair<InteractionKind, Shape> looked_at[] = {
    {InteractionKind::HarmonicBond, Shape::Bond},        {InteractionKind::G96Bond, Shape::Bond},
    {InteractionKind::HarmonicAngle, Shape::Angle},      {InteractionKind::G96Angle, Shape::Angle},
    {InteractionKind::UreyBradley, Shape::Angle},        {InteractionKind::ProperDihedral, Shape::Dihedral},
    {InteractionKind::HarmonicImproper, Shape::Dihedral}};

} // namespace

ConstantTerms remove_constant_terms(Topology& topology)
{
    std::vector<ConstantTerms> of_type;
    for (MoleculeType& type : topology.molecule_types)
    {
        ConstantTerms& removed = of_type.emplace_back();
        if (type.sites.empty()) { continue; }
        const ConstantTermsOf constant(type);
        for (const auto& [kind, shape] : looked_at)
        {
            const auto atoms = static_cast<std::size_t>(arity(kind));
            removed.terms += static_cast<std::int64_t>(std::erase_if(type.of(kind), [&, s = shape](const Interaction& term) {
                return constant.has(s, std::span(term.atoms).first(atoms));
            }));
        }
        removed.constraints += static_cast<std::int64_t>(std::erase_if(type.constraints, [&](const Constraint& c) {
            return constant.has(Shape::Constraint, std::array{c.a, c.b});
        }));
    }
    ConstantTerms all;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const ConstantTerms& removed = of_type[static_cast<std::size_t>(block.type)];
        all.terms += block.count * removed.terms, all.constraints += block.count * removed.constraints;
    }
    return all;
}

std::int32_t constrained_site(const MoleculeType& type)
{
    std::vector<bool> held(type.atoms.size());
    const auto hold = [&](std::int32_t atom) { held[static_cast<std::size_t>(atom)] = true; };
    for (const Constraint& c : type.constraints) { hold(c.a), hold(c.b); }
    for (const Settle& s : type.settles) { hold(s.oxygen), hold(s.hydrogen_a), hold(s.hydrogen_b); }
    for (const VirtualSite& site : type.sites)
    {
        if (held[static_cast<std::size_t>(site.atom)]) { return site.atom; }
    }
    return -1;
}

} // namespace parhelion
