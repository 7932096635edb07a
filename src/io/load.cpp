// SPDX-License-Identifier: Apache-2.0
#include "io/load.hpp"

#include "io/check.hpp"
#include "io/gro.hpp"
#include "io/ndx.hpp"
#include "io/text.hpp"
#include "io/top.hpp"

#include <utility>

namespace parhelion {

namespace {

Topology topology_of(const InputFiles& files, const MdpInput& mdp, Diagnostics& diagnostics)
{
    TopologyOptions options;
    options.defines = mdp.parameters.defines;
    options.include_paths = files.include_paths;
    for (const std::string& path : mdp.parameters.include_paths) { options.include_paths.emplace_back(path); }
    try
    {
        Topology topology = read_topology(files.topology, options, diagnostics);
        convert_bonds_to_constraints(topology, mdp.parameters.constraints);
        return topology;
    }
    catch (const InputError& error)
    {
        // The preprocessor knows a bad definition, but not that it came from the .mdp.
        if (!error.where().file.empty()) { throw; }
        throw InputError(error.id(), mdp.where("define"), error.message());
    }
}

void read_restraint_reference(const std::filesystem::path& path, System& system, Diagnostics& diagnostics)
{
    if (system.topology.interaction_count(InteractionKind::PositionRestraint) == 0)
    {
        const MappedFile is_there(path);
        diagnostics.note("N124", {path.string(), 0}, "not used: the topology has no position restraints.");
        return;
    }
    GroFile reference = read_gro(path);
    compare_names(reference, system.topology, diagnostics);
    system.restraint_reference = std::move(reference.x);
    system.restraint_reference_box = reference.box;
}

} // namespace

LoadedInput load_gromacs(const InputFiles& files, Diagnostics& diagnostics)
{
    MdpInput mdp = read_mdp_input(files.mdp, diagnostics);
    System system;
    system.topology = topology_of(files, mdp, diagnostics);
    {
        GroFile structure = read_gro(files.structure);
        compare_names(structure, system.topology, diagnostics);
        system.title = std::move(structure.title);
        system.box = structure.box;
        system.x = std::move(structure.x);
        system.v = std::move(structure.v);
    }
    system.restraint_reference_box = system.box;
    if (!files.restraint_reference.empty()) { read_restraint_reference(files.restraint_reference, system, diagnostics); }
    if (!files.index.empty()) { system.groups = read_ndx(files.index, system.topology.atom_count()); }
    check_system(mdp, system, diagnostics);
    return {std::move(system), std::move(mdp.parameters)};
}

} // namespace parhelion
