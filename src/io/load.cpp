// SPDX-License-Identifier: Apache-2.0
#include "io/load.hpp"

#include "io/check.hpp"
#include "io/file_kind.hpp"
#include "io/frozen_groups.hpp"
#include "io/gro.hpp"
#include "io/mass_repartition.hpp"
#include "io/ndx.hpp"
#include "io/one_place.hpp"
#include "io/periodic_molecules.hpp"
#include "io/text.hpp"
#include "io/top.hpp"
#include "model/rigid_triangles.hpp"
#include "model/virtual_sites.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace parhelion {

namespace {

// Removes the terms among virtual sites and their constructing atoms that no motion changes.
void clear_constant_terms(const InputFiles& files, Topology& topology, Diagnostics& diagnostics)
{
    const auto [terms, constraints] = remove_constant_terms(topology);
    if (terms + constraints > 0)
    {
        diagnostics.note("N195", {files.topology.string(), 0},
                         std::to_string(terms) + " bonded terms and " + std::to_string(constraints) +
                             " constraints among virtual sites and their constructing atoms are left out, as in GROMACS: no "
                             "motion changes them.");
    }
    for (const MoleculeType& type : topology.molecule_types)
    {
        const std::int32_t site = constrained_site(type);
        if (site < 0) { continue; }
        throw InputError("E135", {files.topology.string(), 0},
                         "atom " + std::to_string(site + 1) + " (" + type.atoms[static_cast<std::size_t>(site)].name +
                             ") of molecule type " + type.name +
                             " is a virtual site, and a constraint or a settle holds it (others place it already). Constrain its "
                             "constructing atoms instead.");
    }
}

Topology topology_of(const InputFiles& files, const MdpInput& mdp, Diagnostics& diagnostics)
{
    TopologyOptions options;
    options.defines = mdp.parameters.defines;
    options.include_paths = files.include_paths;
    for (const std::string& path : mdp.parameters.include_paths) { options.include_paths.emplace_back(path); }
    options.defined_at = mdp.where("define");
    if (mdp.parameters.distance_restraints) { options.acting_sections.emplace_back("distance_restraints"); }
    if (mdp.orientation_restraints) { options.acting_sections.emplace_back("orientation_restraints"); }
    Topology topology = read_topology(open_own_format(files.topology, "-p takes a topology (.top)"), options, diagnostics);
    convert_bonds_to_constraints(topology, mdp.parameters.constraints);
    clear_constant_terms(files, topology, diagnostics);
    repartition_masses(mdp.parameters.mass_repartition_factor, mdp.where("mass-repartition-factor"), topology, diagnostics);
    return topology;
}

// Values of a state B are noted wherever they are, also in a topology that could not be read to its end.
void check_free_energy(const MdpInput& mdp, const Diagnostics& diagnostics)
{
    if (!mdp.free_energy) { return; }
    const auto state_b = std::ranges::find(diagnostics.notes, "N023", &Warning::id);
    const bool has_state_b = state_b != diagnostics.notes.end();
    if (!has_state_b && !mdp.gives("couple-moltype")) { return; }
    throw InputError("E140", mdp.where("free-energy"),
                     "free-energy = yes asks for free energy perturbation, which is not supported yet (planned), and " +
                         (has_state_b ? "the topology has values of a state B, first at " + state_b->where.text()
                                      : std::string("couple-moltype names a molecule")) +
                         ". Set it to no or use GROMACS.");
}

// Averages over time or simulations, which only restraints would take.
void check_distance_restraints(const MdpInput& mdp, const Topology& topology)
{
    const char* const key = mdp.ensemble_restraints ? "disre" : mdp.averages_restraints ? "disre-tau" : nullptr;
    if (key == nullptr || topology.interaction_count(InteractionKind::DistanceRestraint) == 0) { return; }
    throw InputError("E140", mdp.where(key),
                     std::string(mdp.ensemble_restraints ? "disre = ensemble asks for distances averaged over simulations"
                                                         : "disre-tau asks for distances averaged over time") +
                         ", which are not supported (not planned), and the topology has distance restraints. Use disre = simple, "
                         "disre-tau = 0, or GROMACS.");
}

// What the .mdp asks for, and nothing in the topology needs. What is not supported of it was refused where it stands.
void note_what_is_idle(const MdpInput& mdp, const Topology& topology, Diagnostics& diagnostics)
{
    const bool has_no_distances = topology.interaction_count(InteractionKind::DistanceRestraint) == 0;
    for (const auto& [key, is_asked] : {std::pair("disre", mdp.parameters.distance_restraints && has_no_distances),
                                        {"orire", mdp.orientation_restraints},
                                        {"free-energy", mdp.free_energy}})
    {
        if (!is_asked) { continue; }
        diagnostics.note("N170", mdp.where(key), std::string(key) + " has nothing to act on in this topology.");
    }
}

void read_restraint_reference(const std::filesystem::path& path, System& system, Diagnostics& diagnostics)
{
    if (system.topology.position_restraint_count() == 0)
    {
        const MappedFile is_there(path);
        diagnostics.note("N124", {path.string(), 0}, "not used: the topology has no position restraints.");
        return;
    }
    GroFile reference = read_gro(open_own_format(path, "-r takes a structure (.gro)"));
    compare_names(reference, system.topology, diagnostics);
    system.restraint_reference = std::move(reference.x);
    system.restraint_reference_box = reference.box;
}

// What of the structure and of the other files about atoms can be compared with the topology, if there is one.
void read_about_atoms(const InputFiles& files, bool has_topology, System& system, Diagnostics& diagnostics, ErrorList& errors)
{
    const bool fits = errors.attempt([&] {
        GroFile structure = read_gro(open_own_format(files.structure, "-c takes a structure (.gro)"));
        if (has_topology) { compare_names(structure, system.topology, diagnostics); }
        system.title = std::move(structure.title);
        system.box = system.restraint_reference_box = structure.box;
        system.x = std::move(structure.x);
        system.v = std::move(structure.v);
    });
    errors.attempt([&] {
        if (files.restraint_reference.empty()) { return; }
        if (has_topology) { read_restraint_reference(files.restraint_reference, system, diagnostics); }
        else { read_gro(files.restraint_reference); }
    });
    errors.attempt([&] {
        if (files.index.empty()) { return; }
        const MappedFile index = open_own_format(files.index, "-n takes index groups (.ndx)");
        if (has_topology && fits) { system.groups = read_ndx(index, system.topology.atom_count()); }
    });
}

// What is checked before is what the user wrote; what is told from here on, and computed, is the same with and without settles.
void settle_triangles(const InputFiles& files, Topology& topology, Diagnostics& diagnostics)
{
    const std::int64_t triangles = settle_rigid_triangles(topology);
    if (triangles == 0) { return; }
    diagnostics.note("N190", {files.topology.string(), 0},
                     std::to_string(triangles) + (triangles == 1 ? " rigid triangle" : " rigid triangles") +
                         " of constraints will be kept by SETTLE, as [ settles ] would ask for.");
}

// The start is another configuration than the structure's.
HandOver start_from(const InputFiles& files, const MdpInput& mdp, System& system, Diagnostics& diagnostics)
{
    const RunParameters& p = mdp.parameters;
    const bool moves = p.integrator != Integrator::SteepestDescent && !p.generate_velocities;
    if (moves && !p.continuation && system.topology.constraint_count() > 0)
    {
        diagnostics.note("N131", mdp.where("continuation"),
                         "positions and velocities of -t are made to obey the constraints anew, which changes their last digits. "
                         "Set continuation = yes to keep them.");
    }
    if (system.restraint_reference.empty() && system.topology.position_restraint_count() > 0)
    {
        system.restraint_reference = system.x;
        diagnostics.note("N130", {files.structure.string(), 0},
                         "position restraints refer to the positions of this file, as no -r file is given.");
    }
    return read_hand_over(files.hand_over, files.hand_over_at, p, system);
}

} // namespace

LoadedInput load_gromacs(const InputFiles& files, Diagnostics& diagnostics)
{
    ErrorList errors;
    MdpInput mdp;
    errors.attempt(
        [&] { mdp = read_mdp_input(open_own_format(files.mdp, "-f takes run parameters (.mdp)"), diagnostics, errors); });
    System system;
    const bool has_topology = errors.attempt([&] { system.topology = topology_of(files, mdp, diagnostics); });
    errors.attempt([&] { check_free_energy(mdp, diagnostics); });
    if (has_topology)
    {
        errors.attempt([&] { check_constraint_algorithm(mdp, system.topology); });
        errors.attempt([&] { check_distance_restraints(mdp, system.topology); });
        note_what_is_idle(mdp, system.topology, diagnostics);
    }
    read_about_atoms(files, has_topology, system, diagnostics, errors);
    // All files were understood, whether what the .mdp asks for is supported or not.
    std::optional<HandOver> hand_over;
    if (errors.holds_only("E140") && !files.hand_over.empty())
    {
        errors.attempt([&] { hand_over = start_from(files, mdp, system, diagnostics); });
    }
    if (errors.holds_only("E140"))
    {
        const bool minimises = mdp.parameters.integrator == Integrator::SteepestDescent;
        place_sites(system.topology, system.box, system.x);
        errors.attempt([&] { check_system(mdp, system, diagnostics); });
        const SourceLocation first_atom =
            hand_over ? SourceLocation{files.hand_over.string(), 0} : SourceLocation{files.structure.string(), 3};
        errors.attempt([&] { find_periodic_molecules(mdp.where("periodic-molecules"), first_atom, system, diagnostics); });
        errors.attempt(
            [&] { check_places(first_atom, minimises ? AtomsInOnePlace::Part : AtomsInOnePlace::Refuse, system, diagnostics); });
    }
    errors.throw_if_any();
    settle_triangles(files, system.topology, diagnostics);
    freeze_groups(mdp, system, diagnostics);
    if (hand_over) { keep_what_fits(mdp.parameters, *hand_over); }
    return {std::move(system), std::move(mdp.parameters), std::move(hand_over)};
}

} // namespace parhelion
