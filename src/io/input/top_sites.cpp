// SPDX-License-Identifier: Apache-2.0
// Reads the virtual sites of a molecule, and checks that all of them can be constructed.
#include "base/units.hpp"
#include "io/input/top_molecule.hpp"
#include "model/virtual_sites.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace parhelion {

namespace {

// Converts parameters of the file to the parameters of model/site_body.hpp.
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

void MoleculeDraft::add_site(const Fields& line, VirtualSite&& site, std::optional<SiteSide> of_shape)
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
    sites_.push_back({std::move(site), line.place(), of_shape});
}

// Columns: site, constructing atoms, function type, parameters. If parameters are missing,
// the sign of the function type says on which side of the constructing atoms the site is.
void MoleculeDraft::read_site(const Fields& line, const SectionInfo& section)
{
    const auto atoms = 1 + static_cast<std::size_t>(section.section) - static_cast<std::size_t>(Section::VirtualSites1);
    VirtualSite site;
    site.atom = line.atom(0, atoms_.size());
    for (std::size_t i = 0; i < atoms; ++i) { site.from.push_back(line.atom(1 + i, atoms_.size())); }
    const bool has_function = line.size() > 1 + atoms, is_turned = has_function && line[1 + atoms].starts_with('-');
    const int function = is_turned      ? static_cast<int>(-line.integer(1 + atoms, "function type", -1000, -1))
                         : has_function ? line.function(1 + atoms)
                                        : 1;
    const SiteForm* const form = find_site_form(section.section, function);
    if (form == nullptr) { return note_unsupported(line, unsupported_form(section.name, section.section, function)); }
    site.kind = form->kind;
    const std::size_t first = 2 + atoms;
    const bool of_shape = form->parameters > 0 && line.size() <= first;
    if (is_turned && (!of_shape || (form->kind != SiteKind::FixedAngle3 && form->kind != SiteKind::OutOfPlane3)))
    {
        line.fail("E121",
                  "function type " + in_quotes(line[1 + atoms]) +
                      " is negative, which has a meaning for types 3 and 4 of [ virtual_sites3 ] without parameters. Remove "
                      "the minus.");
    }
    if (of_shape)
    {
        if (atoms < 3) { line.fail("E121", "has no parameters, and none follow from bonds and angles. Complete the line."); }
        return add_site(line, std::move(site), is_turned ? SiteSide::Other : SiteSide::Usual);
    }
    std::vector<double> parameters;
    for (int i = 0; i < form->parameters; ++i)
    {
        parameters.push_back(line.real(first + static_cast<std::size_t>(i), "parameter of a virtual site"));
    }
    line.expect_at_most(first + static_cast<std::size_t>(form->parameters));
    site.parameters = parameters_of(form->kind, parameters);
    add_site(line, std::move(site));
}

// Columns: site, function type, constructing atoms. With function type 3 each atom is followed by its weight.
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

std::vector<VirtualSite> MoleculeDraft::resolve_sites(const Preprocessor& source) const
{
    std::vector<VirtualSite> sites;
    for (const SiteLine& line : sites_) { sites.push_back(line.site); }
    const std::optional<std::size_t> wrong = order_sites(sites);
    if (!wrong) { return sites; }
    const SiteLine& line = sites_[*wrong];
    throw InputError("E135", source.where(line.place),
                     "virtual site " + std::to_string(line.site.atom + 1) +
                         " is made of itself, through other sites. Correct one of them.");
}

// Computes parameters that lines of sites omit. They follow from the force field.
void MoleculeDraft::shape_sites(const Preprocessor& source, const ForceField& force_field, const Topology& topology,
                                MoleculeType& molecule) const
{
    std::map<std::int32_t, const SiteLine*> lines; // line of each site
    for (const SiteLine& line : sites_)
    {
        if (line.of_shape) { lines[line.site.atom] = &line; }
    }
    if (lines.empty()) { return; }
    const MoleculeShape shape(molecule, topology);
    const auto are_of_types = [&](const VirtualSite& site, std::string_view beginning) {
        return std::all_of(site.from.begin() + 1, site.from.end(), [&](std::int32_t atom) {
            return force_field.type(atoms_[static_cast<std::size_t>(atom)].type).name.starts_with(beginning);
        });
    };
    ErrorList errors;
    for (VirtualSite& site : molecule.sites)
    {
        const auto found = lines.find(site.atom);
        if (found == lines.end()) { continue; }
        const SiteLine& line = *found->second;
        errors.attempt([&] {
            const bool on_masses = are_of_types(site, "MNH") || are_of_types(site, "MCH3");
            const std::string name = "the parameters of virtual site " + std::to_string(site.atom + 1);
            if (site.kind == SiteKind::Linear && !on_masses)
            {
                throw InputError("E131", source.where(line.place),
                                 name +
                                     " are missing (they follow from bonds and angles only where two atoms of a type MNH... or "
                                     "MCH3... carry it). Complete the line.");
            }
            try
            {
                site.parameters = site_parameters_of_shape(site, *line.of_shape, on_masses, shape);
            }
            catch (const MissingShape& missing)
            {
                std::string atoms;
                for (const std::int32_t atom : missing.atoms) { atoms += (atoms.empty() ? "" : "-") + std::to_string(atom + 1); }
                throw InputError("E131", source.where(line.place),
                                 name + " are missing, and do not follow from bonds and angles: none gives the " +
                                     (missing.atoms.size() == 2 ? "distance " : "angle ") + atoms +
                                     ". Complete the line, or add the term.");
            }
            if (!std::ranges::all_of(site.parameters, [](double p) { return std::isfinite(p); }))
            {
                throw InputError("E125", source.where(line.place),
                                 name + " do not follow from bonds and angles: no place of the site agrees with all of them. "
                                        "Complete the line.");
            }
        });
    }
    errors.throw_if_any();
}

} // namespace parhelion
