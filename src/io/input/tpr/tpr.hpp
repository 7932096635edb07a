// SPDX-License-Identifier: Apache-2.0
// Run input files (.tpr), which gmx grompp writes: GROMACS 2018 to 2026. **Read first.** A file is
// read completely before it is converted to the same data as .mdp, .top and .gro: options by name for
// the table of .mdp options, a topology, positions. docs/decisions/0024-run-input-files.md says why.
//
// grompp does not keep names of macros, the combination rule and comments, and in files of single
// precision the digits behind the seventh (cursor.hpp, decimal_of).
#pragma once

#include "io/input/mdp.hpp"
#include "io/input/text.hpp"
#include "io/input/tpr/header.hpp"
#include "io/input/tpr/parameters.hpp"
#include "io/input/tpr/topology.hpp"

#include "model/system.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace parhelion {

struct TprFile
{
    std::string path;
    TprHeader header;
    std::vector<Vec3<double>> box; // edge vectors; empty: the file has no box
    TprTopology topology;
    std::vector<Vec3<double>> x, v; // nm, nm/ps; v may be empty
    TprParameters parameters;
};

// Reads a file. Throws InputError: E118 damaged or incomplete, E119 an unsupported version.
TprFile read_tpr(const MappedFile& file, Diagnostics& diagnostics);

// The groups to which options refer, each once. Names are distinct words other than "System", the group of all atoms.
struct TprNamedGroups
{
    std::array<std::vector<std::string>, tpr_group_kinds> names; // names, by kind of group; an empty name: a group without atoms
    std::map<std::string, std::vector<std::int64_t>> atoms;
};
TprNamedGroups name_tpr_groups(const TprFile& file);

// Returns all options of the file as in an .mdp, judged by the table of .mdp options. Errors go to `errors`.
MdpInput tpr_options(const TprFile& file, const TprNamedGroups& groups, Diagnostics& diagnostics, ErrorList& errors);

// Returns the topology. Notes state B (N023). Throws InputError, or InputErrors: E130 for unsupported features, by
// name, E134 for impossible settles, E135 for impossible virtual sites, E118 for contents that no grompp writes.
Topology tpr_topology(const TprFile& file, Diagnostics& diagnostics);

// Moves title, box, positions, velocities, reference positions and groups to a system
// that has a topology. Throws InputError: E118 no box or positions, E580 an invalid box.
void take_tpr_state(TprFile&& file, TprNamedGroups&& groups, System& system);

} // namespace parhelion
