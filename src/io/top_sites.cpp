// SPDX-License-Identifier: Apache-2.0
// The virtual sites of a molecule: their lines, and what makes them a set that can be constructed.
#include "base/units.hpp"
#include "io/top_molecule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace parhelion {

namespace {

// From how the file says it to what model/site_body.hpp takes.
std::vector<double> parameters_of(SiteKind kind, const std::vector<double>& p)
{
    switch (kind)
    {
    case SiteKind::FixedAngle3: // angle in degrees, distance
        return {p[1] * std::cos(p[0] * units::degree), p[1] * std::sin(p[0] * units::degree)};
    default:
        return p;
    }
}

} // namespace

void MoleculeDraft::add_site(const Fields& line, VirtualSite&& site)
{
    std::vector<std::int32_t> named = site.from;
    named.push_back(site.atom);
    std::ranges::sort(named);
    if (const auto twice = std::ranges::adjacent_find(named); twice != named.end())
    {
        line.fail("E123", "atom " + std::to_string(*twice + 1) + " occurs twice in one line of virtual sites. Correct it.");
    }
    if (!constructed_.insert(site.atom).second)
    {
        line.fail("E135", "atom " + std::to_string(site.atom + 1) + " is made a virtual site twice. Keep one of the lines.");
    }
    if (const Atom& atom = atoms_[static_cast<std::size_t>(site.atom)]; atom.mass != 0)
    {
        line.fail("E135", "atom " + std::to_string(site.atom + 1) + " (" + atom.name +
                              ") is made a virtual site and has a mass (which nothing would move). Set its mass to 0.");
    }
    sites_.push_back({std::move(site), line.place()});
}

// Columns: site, constructing atoms, function type, parameters.
void MoleculeDraft::read_site(const Fields& line, const SectionInfo& section)
{
    const auto atoms = 1 + static_cast<std::size_t>(section.section) - static_cast<std::size_t>(Section::VirtualSites1);
    VirtualSite site;
    site.atom = line.atom(0, atoms_.size());
    for (std::size_t i = 0; i < atoms; ++i) { site.from.push_back(line.atom(1 + i, atoms_.size())); }
    const int function = line.size() == 1 + atoms ? 1 : line.function(1 + atoms);
    const SiteForm* const form = find_site_form(section.section, function);
    if (form == nullptr) { return note_unsupported(line, unsupported_form(section.name, section.section, function)); }
    const std::size_t first = 2 + atoms;
    if (form->parameters > 0 && line.size() <= first)
    {
        return note_unsupported(line, "virtual sites without parameters, which would follow from bonds and angles, are not "
                                      "supported (planned)");
    }
    std::vector<double> parameters;
    for (int i = 0; i < form->parameters; ++i)
    {
        parameters.push_back(line.real(first + static_cast<std::size_t>(i), "parameter of a virtual site"));
    }
    line.expect_at_most(first + static_cast<std::size_t>(form->parameters));
    site.kind = form->kind;
    site.parameters = parameters_of(form->kind, parameters);
    add_site(line, std::move(site));
}

// Columns: site, function type, constructing atoms; of function type 3 each with its weight.
void MoleculeDraft::read_mean_site(const Fields& line)
{
    enum Function
    {
        OfGeometry = 1,
        OfMass,
        Weighted
    };
    VirtualSite site;
    site.kind = SiteKind::Mean;
    site.atom = line.atom(0, atoms_.size());
    const int function = line.function(1);
    if (function > Weighted)
    {
        return note_unsupported(line, unsupported_form("virtual_sitesn", Section::VirtualSitesN, function));
    }
    std::vector<double> weights;
    for (std::size_t i = 2; i < line.size() || i == 2; ++i)
    {
        site.from.push_back(line.atom(i, atoms_.size()));
        weights.push_back(function == OfGeometry ? 1
                          : function == OfMass   ? atoms_[static_cast<std::size_t>(site.from.back())].mass
                                                 : line.real(++i, "weight"));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (!(sum > 0) || std::ranges::any_of(weights, [](double weight) { return weight < 0; }))
    {
        line.fail("E125",
                  "the weights of the constructing atoms must not be negative, nor all of them zero (masses with function "
                  "type 2). Correct them.");
    }
    for (std::size_t i = 1; i < weights.size(); ++i) { site.parameters.push_back(weights[i] / sum); }
    add_site(line, std::move(site));
}

void MoleculeDraft::expect_masses(const Preprocessor& source) const
{
    for (const Massless& massless : massless_)
    {
        if (constructed_.contains(massless.atom)) { continue; }
        const Atom& atom = atoms_[static_cast<std::size_t>(massless.atom)];
        const std::string name = "atom " + std::to_string(massless.atom + 1) + " (" + atom.name + ")";
        if (atom.mass > 0)
        {
            throw InputError("E135", source.where(massless.place),
                             name +
                                 " is of a type of virtual sites and has a mass, and no section makes it a site. Use a type of "
                                 "particle A, or give it a line in [ virtual_sites ] and no mass.");
        }
        throw InputError("E125", source.where(massless.place),
                         "mass of " + name + " is " + (atom.mass < 0 ? "negative" : "zero") +
                             ", and it is no virtual site (it could not move). Give a positive mass here "
                             "or in [ atomtypes ], or a line in one of [ virtual_sites1 ] to [ virtual_sitesn ].");
    }
}

// Each behind those that it is made of, else in the order of the file.
std::vector<VirtualSite> MoleculeDraft::resolve_sites(const Preprocessor& source) const
{
    std::map<std::int32_t, std::vector<std::size_t>> waiting; // by the site that they are made of
    std::vector<std::size_t> missing(sites_.size());          // sites that each still waits for
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < sites_.size(); ++i)
    {
        for (const std::int32_t atom : sites_[i].site.from)
        {
            if (!constructed_.contains(atom)) { continue; }
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
        ordered.push_back(sites_[next].site);
        for (const std::size_t i : waiting[sites_[next].site.atom])
        {
            if (--missing[i] == 0) { ready.insert(i); }
        }
    }
    if (ordered.size() == sites_.size()) { return ordered; }
    const auto left = std::ranges::find_if(missing, [](std::size_t sites) { return sites > 0; });
    const SiteLine& line = sites_[static_cast<std::size_t>(left - missing.begin())];
    throw InputError("E135", source.where(line.place),
                     "virtual site " + std::to_string(line.site.atom + 1) +
                         " is made of itself, through other sites. Correct one of them.");
}

} // namespace parhelion
