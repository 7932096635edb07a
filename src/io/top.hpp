// SPDX-License-Identifier: Apache-2.0
// Reads a GROMACS topology (.top with its .itp files) into a Topology. Everything the files say is used, refused by name with
// file and line, or listed in `diagnostics`; docs/decisions/0021-readers.md says which and why. Time and memory grow with the
// text of the files, not with the number of molecules.
#pragma once

#include "base/error.hpp"
#include "io/text.hpp"
#include "model/topology.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace parhelion {

struct TopologyOptions
{
    std::vector<std::string> defines;                 // "NAME" or "NAME=VALUE"
    std::vector<std::filesystem::path> include_paths; // searched after the including file's folder
    SourceLocation defined_at{};                      // where `defines` come from, for messages
    std::vector<std::string> acting_sections{};       // those that act only if the .mdp asks for it, as it does
};

// Throws InputError for anything wrong or unsupported; the Topology is finished (Topology::finish) and has at least one atom.
Topology read_topology(MappedFile file, const TopologyOptions& options, Diagnostics& diagnostics);
inline Topology read_topology(const std::filesystem::path& path, const TopologyOptions& options, Diagnostics& diagnostics)
{
    return read_topology(MappedFile(path), options, diagnostics);
}

} // namespace parhelion
