// SPDX-License-Identifier: Apache-2.0
#include "io/input/load.hpp"

#include "io/input/amber_coordinates.hpp"
#include "io/input/check.hpp"
#include "io/input/file_kind.hpp"
#include "io/input/frozen_groups.hpp"
#include "io/input/gro.hpp"
#include "io/input/mass_repartition.hpp"
#include "io/input/ndx.hpp"
#include "io/input/one_place.hpp"
#include "io/input/periodic_molecules.hpp"
#include "io/input/prmtop.hpp"
#include "io/input/text.hpp"
#include "io/input/top.hpp"
#include "io/input/tpr/tpr.hpp"
#include "model/minimisers.hpp"
#include "model/rigid_triangles.hpp"
#include "model/virtual_sites.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace parhelion {

namespace {

// Removes terms whose value no motion changes: terms only among virtual sites and their constructing atoms.
void clear_constant_terms(const InputFiles& files, Topology& topology, Diagnostics& diagnostics)
{
    const auto [terms, constraints] = remove_constant_terms(topology);
    if (terms + constraints > 0)
    {
        diagnostics.note("N195", {files.of_topology().string(), 0},
                         std::to_string(terms) + " bonded terms and " + std::to_string(constraints) +
                             " constraints among virtual sites and their constructing atoms are left out, as in GROMACS: no "
                             "motion changes them.");
    }
    for (const MoleculeType& type : topology.molecule_types)
    {
        const std::int32_t site = constrained_site(type);
        if (site < 0) { continue; }
        throw InputError("E135", {files.of_topology().string(), 0},
                         "atom " + std::to_string(site + 1) + " (" + type.atoms[static_cast<std::size_t>(site)].name +
                             ") of molecule type " + type.name +
                             " is a virtual site, and a constraint or a settle holds it (others place it already). Constrain its "
                             "constructing atoms instead.");
    }
}

// Reads an AMBER topology. It has no preprocessor, so all macros of the .mdp are reported as unused.
Prmtop prmtop_of(MappedFile file, const MdpInput& mdp, Diagnostics& diagnostics)
{
    for (const std::string& define : mdp.parameters.defines)
    {
        diagnostics.warn("W024", mdp.where("define"),
                         "-D" + define +
                             " is not used: an AMBER topology has nothing that depends on it, as position restraints. "
                             "Remove it.");
    }
    return read_prmtop(std::move(file), diagnostics);
}

Topology top_of(MappedFile file, const InputFiles& files, const MdpInput& mdp, Diagnostics& diagnostics)
{
    TopologyOptions options;
    options.defines = mdp.parameters.defines;
    options.include_paths = files.include_paths;
    for (const std::string& path : mdp.parameters.include_paths) { options.include_paths.emplace_back(path); }
    options.defined_at = mdp.where("define");
    if (mdp.parameters.distance_restraints) { options.acting_sections.emplace_back("distance_restraints"); }
    if (mdp.orientation_restraints) { options.acting_sections.emplace_back("orientation_restraints"); }
    return read_topology(std::move(file), options, diagnostics);
}

// Reads the topology. The box of an AMBER topology is used if the coordinates have none.
Prmtop topology_of(const InputFiles& files, const MdpInput& mdp, Diagnostics& diagnostics)
{
    MappedFile file(files.topology);
    const bool is_of_amber = is_prmtop(file.text_without_mark());
    constexpr std::string_view wanted = "-p takes a topology (.top, or AMBER's prmtop)";
    if (!is_of_amber) { expect_own_format(file, wanted); }
    if (is_amber_coordinates(file.text_without_mark()))
    {
        throw InputError("E115", {files.topology.string(), 0},
                         "is a file of AMBER's coordinates, but " + std::string(wanted) + ". Give it with -c.");
    }
    Prmtop read =
        is_of_amber ? prmtop_of(std::move(file), mdp, diagnostics) : Prmtop{top_of(std::move(file), files, mdp, diagnostics), {}};
    Topology& topology = read.topology;
    convert_bonds_to_constraints(topology, mdp.parameters.constraints);
    clear_constant_terms(files, topology, diagnostics);
    repartition_masses(mdp.parameters.mass_repartition_factor, mdp.where("mass-repartition-factor"), topology, diagnostics);
    return read;
}

// Refuses free energy if it has an effect. Values of a state B are noted even in a topology that is not read to its end.
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

// Refuses averages over time or simulations if the topology has distance restraints that would use such averages.
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

// Notes features for which the .mdp asks and that the topology does not use. If it used an unsupported one, that was refused.
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

GroFile read_structure(const std::filesystem::path& path, std::string_view wanted, const std::optional<AmberBox>& box)
{
    MappedFile file(path);
    if (is_amber_coordinates(file.text_without_mark())) { return read_amber_coordinates(std::move(file), box); }
    expect_own_format(file, wanted);
    return read_gro(std::move(file));
}

void read_restraint_reference(const std::filesystem::path& path, const std::optional<AmberBox>& box, System& system,
                              Diagnostics& diagnostics)
{
    if (system.topology.position_restraint_count() == 0)
    {
        const MappedFile is_there(path);
        diagnostics.note("N124", {path.string(), 0}, "not used: the topology has no position restraints.");
        return;
    }
    GroFile reference = read_structure(path, "-r takes a structure (.gro, or AMBER's rst7)", box);
    compare_names(reference, system.topology, diagnostics);
    system.restraint_reference = std::move(reference.x);
    system.restraint_reference_box = reference.box;
}

// Reads the structure and all other files about atoms, and compares them with the topology, if there is a
// topology. Returns the place of the first atom; its line is 0 for a format without a line for each atom.
SourceLocation read_about_atoms(const InputFiles& files, bool has_topology, const std::optional<AmberBox>& box, System& system,
                                Diagnostics& diagnostics, ErrorList& errors)
{
    SourceLocation first_atom{files.structure.string(), 0};
    const bool fits = errors.attempt([&] {
        GroFile structure = read_structure(files.structure, "-c takes a structure (.gro, or AMBER's rst7)", box);
        if (has_topology) { compare_names(structure, system.topology, diagnostics); }
        if (!structure.names.empty()) { first_atom.line = 3; }
        system.title = std::move(structure.title);
        system.box = system.restraint_reference_box = structure.box;
        system.x = std::move(structure.x);
        system.v = std::move(structure.v);
    });
    errors.attempt([&] {
        if (files.restraint_reference.empty()) { return; }
        if (has_topology) { read_restraint_reference(files.restraint_reference, box, system, diagnostics); }
        else { read_structure(files.restraint_reference, "-r takes a structure", box); }
    });
    errors.attempt([&] {
        if (files.index.empty()) { return; }
        const MappedFile index = open_own_format(files.index, "-n takes index groups (.ndx)");
        if (has_topology && fits) { system.groups = read_ndx(index, system.topology.atom_count()); }
    });
    return first_atom;
}

// Makes settles of rigid triangles. Checks before this call see the user's topology; later messages do not depend on it.
void settle_triangles(const InputFiles& files, Topology& topology, Diagnostics& diagnostics)
{
    const std::int64_t triangles = settle_rigid_triangles(topology);
    if (triangles == 0) { return; }
    diagnostics.note("N190", {files.of_topology().string(), 0},
                     std::to_string(triangles) + (triangles == 1 ? " rigid triangle" : " rigid triangles") +
                         " of constraints will be kept by SETTLE, as [ settles ] would ask for.");
}

// Replaces the structure by the state that a hand-over gives, and returns the hand-over.
HandOver start_from(const InputFiles& files, const MdpInput& mdp, System& system, Diagnostics& diagnostics)
{
    const RunParameters& p = mdp.parameters;
    const bool moves = !is_minimisation(p.integrator) && !p.generate_velocities;
    if (moves && !p.continuation && system.topology.constraint_count() > 0)
    {
        diagnostics.note("N131", mdp.where("continuation"),
                         "positions and velocities of -t are made to obey the constraints anew, which changes their last digits. "
                         "Set continuation = yes to keep them.");
    }
    if (system.restraint_reference.empty() && system.topology.position_restraint_count() > 0)
    {
        system.restraint_reference = system.x;
        diagnostics.note("N130", {files.of_structure().string(), 0},
                         "position restraints refer to the positions of this file, as no -r file is given.");
    }
    return read_hand_over(files.hand_over, files.hand_over_at, p, system);
}

// The contents of the files, before it has been checked that they fit together.
struct Parts
{
    MdpInput mdp;
    System system;
    bool has_topology = false;
    SourceLocation first_atom;
};

// Checks parameters and topology against each other.
void check_topology(const Parts& parts, Diagnostics& diagnostics, ErrorList& errors)
{
    errors.attempt([&] { check_free_energy(parts.mdp, diagnostics); });
    if (!parts.has_topology) { return; }
    errors.attempt([&] { check_constraint_algorithm(parts.mdp, parts.system.topology); });
    errors.attempt([&] { check_distance_restraints(parts.mdp, parts.system.topology); });
    note_what_is_idle(parts.mdp, parts.system.topology, diagnostics);
}

Parts read_text_files(const InputFiles& files, Diagnostics& diagnostics, ErrorList& errors)
{
    Parts parts;
    errors.attempt(
        [&] { parts.mdp = read_mdp_input(open_own_format(files.mdp, "-f takes run parameters (.mdp)"), diagnostics, errors); });
    std::optional<AmberBox> box;
    parts.has_topology = errors.attempt([&] {
        Prmtop read = topology_of(files, parts.mdp, diagnostics);
        parts.system.topology = std::move(read.topology), box = read.box;
    });
    check_topology(parts, diagnostics, errors);
    parts.first_atom = read_about_atoms(files, parts.has_topology, box, parts.system, diagnostics, errors);
    return parts;
}

MappedFile open_run_input(const std::filesystem::path& path)
{
    MappedFile file(path);
    const FileKind kind = kind_of_file(file.text());
    if (kind.name == kind_tpr) { return file; }
    throw InputError("E115", {path.string(), 0},
                     "is " + std::string(kind.name.empty() ? "none" : kind.name) +
                         ", but -s takes a run input file (.tpr). Give .mdp, .gro and .top with -f, -c and -p.");
}

// Reads a .tpr. grompp has already converted the bonds to constraints, and hydrogens have their final masses.
Parts read_run_input(const InputFiles& files, Diagnostics& diagnostics, ErrorList& errors)
{
    Parts parts;
    parts.first_atom = {files.run_input.string(), 0};
    errors.attempt([&] {
        TprFile tpr = read_tpr(open_run_input(files.run_input), diagnostics);
        TprNamedGroups groups = name_tpr_groups(tpr);
        parts.mdp = tpr_options(tpr, groups, diagnostics, errors);
        parts.has_topology = errors.attempt([&] {
            parts.system.topology = tpr_topology(tpr, diagnostics);
            clear_constant_terms(files, parts.system.topology, diagnostics);
        });
        check_topology(parts, diagnostics, errors);
        take_tpr_state(std::move(tpr), std::move(groups), parts.system);
    });
    return parts;
}

} // namespace

NamedList<std::filesystem::path> files_read(const InputFiles& files)
{
    NamedList<std::filesystem::path> read;
    const auto add = [&](const char* what, const std::filesystem::path& path) {
        if (!path.empty()) { read.emplace_back(what, path); }
    };
    add("run input", files.run_input);
    if (files.run_input.empty())
    {
        add("parameters", files.mdp);
        add("structure", files.structure);
        add("topology", files.topology);
    }
    add("start", files.hand_over);
    if (files.run_input.empty())
    {
        add("restraint reference", files.restraint_reference);
        add("index groups", files.index);
    }
    return read;
}

LoadedInput load_gromacs(const InputFiles& files, Diagnostics& diagnostics)
{
    ErrorList errors;
    Parts parts =
        files.run_input.empty() ? read_text_files(files, diagnostics, errors) : read_run_input(files, diagnostics, errors);
    MdpInput& mdp = parts.mdp;
    System& system = parts.system;
    // All files were understood, but some features are not supported.
    std::optional<HandOver> hand_over;
    if (errors.holds_only("E140") && !files.hand_over.empty())
    {
        errors.attempt([&] { hand_over = start_from(files, mdp, system, diagnostics); });
        parts.first_atom = {files.hand_over.string(), 0};
    }
    if (errors.holds_only("E140"))
    {
        const bool minimises = is_minimisation(mdp.parameters.integrator);
        place_sites(system.topology, system.box, system.x);
        errors.attempt([&] { check_system(mdp, system, diagnostics); });
        errors.attempt([&] { find_periodic_molecules(mdp.where("periodic-molecules"), parts.first_atom, system, diagnostics); });
        errors.attempt([&] {
            check_places(parts.first_atom, minimises ? AtomsInOnePlace::Part : AtomsInOnePlace::Refuse, system, diagnostics);
        });
    }
    errors.throw_if_any();
    settle_triangles(files, system.topology, diagnostics);
    freeze_groups(mdp, system, diagnostics);
    if (hand_over) { keep_what_fits(mdp.parameters, *hand_over); }
    return {std::move(system), std::move(mdp.parameters), std::move(hand_over)};
}

} // namespace parhelion
