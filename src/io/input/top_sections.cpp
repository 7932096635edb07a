// SPDX-License-Identifier: Apache-2.0
#include "io/input/top_sections.hpp"

#include "base/error.hpp"
#include "io/input/mdp_value.hpp"

#include <algorithm>
#include <vector>

namespace parhelion {

namespace {

constexpr std::string_view no_implicit_solvent = "implicit solvent is not part of this program, nor of GROMACS any more";
constexpr SectionInfo sections[] = {
    {"defaults", Section::Defaults, {}},
    {"atomtypes", Section::AtomTypes, {}},
    {"bondtypes", Section::BondTypes, {}},
    {"angletypes", Section::AngleTypes, {}},
    {"dihedraltypes", Section::DihedralTypes, {}},
    {"constrainttypes", Section::ConstraintTypes, {}},
    {"pairtypes", Section::PairTypes, {}},
    {"nonbond_params", Section::NonbondParameters, {}},
    {"cmaptypes", Section::CmapTypes, {}},
    {"implicit_genborn_params", Section::SkippedTypes, no_implicit_solvent},
    {"implicit_surface_params", Section::SkippedTypes, no_implicit_solvent},
    {"moleculetype", Section::MoleculeType, {}},
    {"atoms", Section::Atoms, {}},
    {"bonds", Section::Bonds, {}},
    {"constraints", Section::Constraints, {}},
    {"settles", Section::Settles, {}},
    {"angles", Section::Angles, {}},
    {"dihedrals", Section::Dihedrals, {}},
    {"pairs", Section::Pairs, {}},
    {"exclusions", Section::Exclusions, {}},
    {"position_restraints", Section::PositionRestraints, {}},
    {"cmap", Section::Cmap, {}},
    {"virtual_sites1", Section::VirtualSites1, {}},
    {"virtual_sites2", Section::VirtualSites2, {}},
    {"virtual_sites3", Section::VirtualSites3, {}},
    {"virtual_sites4", Section::VirtualSites4, {}},
    {"virtual_sitesn", Section::VirtualSitesN, {}},
    // The next rows are older names of the same sections.
    {"dummies1", Section::VirtualSites1, {}},
    {"dummies2", Section::VirtualSites2, {}},
    {"dummies3", Section::VirtualSites3, {}},
    {"dummies4", Section::VirtualSites4, {}},
    {"dummiesn", Section::VirtualSitesN, {}},
    {"angle_restraints", Section::AngleRestraints, {}},
    {"angle_restraints_z", Section::AngleRestraintsZ, {}},
    {"pairs_nb", Section::NonbondedPairs, {}},
    {"dihedral_restraints", Section::DihedralRestraints, {}},
    {"distance_restraints", Section::DistanceRestraints, {}},
    {"orientation_restraints", Section::UnsupportedTerm,
     "orientation restraints, for which the .mdp asks by orire, are not supported (not planned)"},
    {"polarization", Section::UnsupportedTerm, "polarisation by shells is not supported (not planned)"},
    {"water_polarization", Section::UnsupportedTerm, "polarisation by shells is not supported (not planned)"},
    {"thole_polarization", Section::UnsupportedTerm, "polarisation by shells is not supported (not planned)"},
    {"system", Section::System, {}},
    {"molecules", Section::Molecules, {}},
    {"intermolecular_interactions", Section::UnsupportedSystem, "intermolecular interactions are not supported (not planned)"},
};

constexpr SectionInfo idle_sections[] = {
    {"distance_restraints", Section::SkippedTerm, "distance restraints act only with disre"},
    {"orientation_restraints", Section::SkippedTerm, "orientation restraints act only with orire"},
};

using enum InteractionKind;
constexpr TermForm forms[] = {
    {Section::Bonds, 1, Role::Bond, HarmonicBond, Section::BondTypes, 1},
    {Section::Bonds, 2, Role::Bond, G96Bond, Section::BondTypes, 2},
    {Section::Bonds, 3, Role::Bond, MorseBond, Section::BondTypes, 3},
    {Section::Bonds, 4, Role::Bond, CubicBond, Section::BondTypes, 4},
    {Section::Bonds, 5, Role::Connection, {}, Section::None, 5},
    {Section::Bonds, 6, Role::Interaction, HarmonicPotential, Section::BondTypes, 6},
    {Section::Bonds, 7, Role::Bond, FeneBond, Section::BondTypes, 7},
    {Section::Bonds, 10, Role::Interaction, BoundedBond, Section::BondTypes, 10},
    {Section::Constraints, 1, Role::Constraint, {}, Section::ConstraintTypes, 1},
    {Section::Constraints, 2, Role::ConstraintWithoutBond, {}, Section::ConstraintTypes, 2},
    {Section::Angles, 1, Role::Interaction, HarmonicAngle, Section::AngleTypes, 1},
    {Section::Angles, 2, Role::Interaction, G96Angle, Section::AngleTypes, 2},
    {Section::Angles, 3, Role::Interaction, CrossBondBond, Section::AngleTypes, 3},
    {Section::Angles, 4, Role::Interaction, CrossBondAngle, Section::AngleTypes, 4},
    {Section::Angles, 5, Role::Interaction, UreyBradley, Section::AngleTypes, 5},
    {Section::Angles, 6, Role::Interaction, QuarticAngle, Section::AngleTypes, 6},
    {Section::Angles, 10, Role::Interaction, InteractionKind::RestrictedAngle, Section::AngleTypes, 10},
    {Section::Dihedrals, 1, Role::Interaction, ProperDihedral, Section::DihedralTypes, 1},
    {Section::Dihedrals, 2, Role::Interaction, HarmonicImproper, Section::DihedralTypes, 2},
    {Section::Dihedrals, 3, Role::Interaction, RyckaertBellemans, Section::DihedralTypes, 3},
    {Section::Dihedrals, 4, Role::Interaction, PeriodicImproper, Section::DihedralTypes, 4},
    {Section::Dihedrals, 5, Role::Interaction, RyckaertBellemans, Section::DihedralTypes, 5},
    {Section::Dihedrals, 9, Role::Interaction, ProperDihedral, Section::DihedralTypes, 1},
    {Section::Dihedrals, 10, Role::Interaction, RestrictedDihedral, Section::DihedralTypes, 10},
    {Section::Dihedrals, 11, Role::Interaction, BendingTorsion, Section::DihedralTypes, 11},
    {Section::Cmap, 1, Role::Directed, InteractionKind::Cmap, Section::CmapTypes, 1},
    {Section::Pairs, 1, Role::Interaction, Pair14, Section::PairTypes, 1},
    {Section::Pairs, 2, Role::Interaction, Pair14, Section::None, 2},
    {Section::NonbondedPairs, 1, Role::Interaction, NonbondedPair, Section::None, 1},
    {Section::PositionRestraints, 1, Role::Interaction, PositionRestraint, Section::None, 1},
    {Section::PositionRestraints, 2, Role::Interaction, FlatBottomRestraint, Section::None, 2},
    {Section::DistanceRestraints, 1, Role::Interaction, DistanceRestraint, Section::None, 1},
    {Section::AngleRestraints, 1, Role::Interaction, AngleRestraint, Section::None, 1},
    {Section::AngleRestraintsZ, 1, Role::Interaction, AngleRestraintZ, Section::None, 1},
    {Section::DihedralRestraints, 1, Role::Interaction, DihedralRestraint, Section::None, 1},
};

constexpr SiteForm site_forms[] = {
    {Section::VirtualSites1, 1, SiteKind::Linear, 1, 0},         {Section::VirtualSites2, 1, SiteKind::Linear, 2, 1},
    {Section::VirtualSites2, 2, SiteKind::FixedDistance2, 2, 1}, {Section::VirtualSites3, 1, SiteKind::Linear, 3, 2},
    {Section::VirtualSites3, 2, SiteKind::FixedDistance3, 3, 2}, {Section::VirtualSites3, 3, SiteKind::FixedAngle3, 3, 2},
    {Section::VirtualSites3, 4, SiteKind::OutOfPlane3, 3, 3},    {Section::VirtualSites4, 2, SiteKind::FixedDistance4, 4, 3},
};

struct KnownFunction
{
    Section section;
    int function;
    std::string_view refusal;
};
constexpr KnownFunction refused_functions[] = {
    {Section::Bonds, 8, "tabulated; not planned"},
    {Section::Bonds, 9, "tabulated; not planned"},
    {Section::Angles, 8, "tabulated; not planned"},
    {Section::Angles, 9, "linear; not planned"},
    {Section::Dihedrals, 8, "tabulated; not planned"},
    {Section::Settles, 2, "not planned"},
    {Section::VirtualSites4, 1, "4fd, which 4fdn, type 2, replaces; not planned"},
};

} // namespace

const SectionInfo* find_section(std::string_view name)
{
    const std::string wanted = normalised(name);
    const auto found = std::find_if(std::begin(sections), std::end(sections),
                                    [&](const SectionInfo& s) { return normalised(s.name) == wanted; });
    return found == std::end(sections) ? nullptr : found;
}

const SectionInfo* idle(const SectionInfo& section)
{
    const auto* const found = std::ranges::find(idle_sections, section.name, &SectionInfo::name);
    return found == std::end(idle_sections) ? nullptr : found;
}

const SiteForm* find_site_form(Section section, int function)
{
    const auto* const found = std::ranges::find_if(
        site_forms, [&](const SiteForm& form) { return form.section == section && form.function == function; });
    return found == std::end(site_forms) ? nullptr : found;
}

std::string nearest_section(std::string_view name)
{
    std::vector<std::string_view> known;
    for (const SectionInfo& s : sections) { known.push_back(s.name); }
    return nearest_word(name, known);
}

std::string_view section_name(Section section) { return std::ranges::find(sections, section, &SectionInfo::section)->name; }

int atoms_of_types(Section types) { return std::ranges::find(forms, types, &TermForm::types)->atoms(); }

const TermForm* find_form(Section section, int function)
{
    const auto found = std::find_if(std::begin(forms), std::end(forms),
                                    [&](const TermForm& f) { return f.section == section && f.function == function; });
    return found == std::end(forms) ? nullptr : found;
}

const TermForm* form_of(InteractionKind kind)
{
    return std::ranges::find_if(
        forms, [&](const TermForm& f) { return !f.is_constraint() && f.role != Role::Connection && f.kind == kind; });
}

const SiteForm* form_of(const VirtualSite& site)
{
    return std::ranges::find_if(
        site_forms, [&](const SiteForm& f) { return f.kind == site.kind && f.atoms == static_cast<int>(site.from.size()); });
}

const TermForm* find_type_form(Section types, int function)
{
    const auto found = std::find_if(std::begin(forms), std::end(forms),
                                    [&](const TermForm& f) { return f.types == types && f.function == function; });
    return found == std::end(forms) ? nullptr : found;
}

bool is_refused_type(Section types, int function)
{
    return std::any_of(std::begin(refused_functions), std::end(refused_functions), [&](const KnownFunction& known) {
        return known.function == function && std::any_of(std::begin(forms), std::end(forms), [&](const TermForm& form) {
                   return form.section == known.section && form.types == types;
               });
    });
}

std::string unsupported_form(std::string_view section_name, Section section, int function)
{
    std::string_view refusal = "no such type";
    for (const KnownFunction& known : refused_functions)
    {
        if (known.section == section && known.function == function) { refusal = known.refusal; }
    }
    return "function type " + std::to_string(function) + " of [ " + std::string(section_name) + " ] is not supported (" +
           std::string(refusal) + ")";
}

} // namespace parhelion
