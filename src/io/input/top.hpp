// SPDX-License-Identifier: Apache-2.0
// Reads a GROMACS topology (.top with its .itp files) into a Topology. All contents are used, refused
// by name with file and line, or listed in `diagnostics`; docs/decisions/0021-readers.md says which
// and why. Time and memory grow with the text of the files, not with the number of molecules.
#pragma once

#include "base/error.hpp"
#include "io/input/text.hpp"
#include "model/topology.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace parhelion {

struct TopologyOptions
{
    std::vector<std::string> defines;                 // "NAME" or "NAME=VALUE"
    std::vector<std::filesystem::path> include_paths; // folders that are searched after the including file's folder
    SourceLocation defined_at{};                      // place of `defines`, for messages
    std::vector<std::string> acting_sections{};       // sections that act only if the .mdp asks for them, where it does
};

// Returns a topology that is finished (Topology::finish()) and has an atom. Throws InputError for anything wrong or unsupported.
Topology read_topology(MappedFile file, const TopologyOptions& options, Diagnostics& diagnostics);
inline Topology read_topology(const std::filesystem::path& path, const TopologyOptions& options, Diagnostics& diagnostics)
{
    return read_topology(MappedFile(path), options, diagnostics);
}

} // namespace parhelion
