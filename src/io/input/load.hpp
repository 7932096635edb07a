// SPDX-License-Identifier: Apache-2.0
// Loads the input files into a checked system, by one call that programs and tests use. The files are
// an .mdp with topology and structure, of GROMACS or AMBER, or one .tpr that grompp made of them.
#pragma once

#include "base/error.hpp"
#include "io/input/hand_over.hpp"
#include "io/input/named_list.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace parhelion {

struct InputFiles
{
    std::filesystem::path mdp, structure, topology;
    std::filesystem::path restraint_reference; // empty: positions of the structure are used
    std::filesystem::path index;               // empty: there are only default groups
    std::vector<std::filesystem::path> include_paths;
    // A .cpt or .trr with positions, velocities and box for the start; empty: those of the structure are
    // used. hand_over_at (ps): the first frame at or after this time is taken; empty: the last frame.
    std::filesystem::path hand_over = {};
    std::optional<double> hand_over_at = {};
    // A .tpr. If given, hand_over is the only other file that is read. Empty: there is no .tpr.
    std::filesystem::path run_input = {};

    // Return the files to which messages refer.
    const std::filesystem::path& of_parameters() const { return run_input.empty() ? mdp : run_input; }
    const std::filesystem::path& of_topology() const { return run_input.empty() ? topology : run_input; }
    const std::filesystem::path& of_structure() const { return run_input.empty() ? structure : run_input; }
};

// Returns the files that are read, named by their contents.
NamedList<std::filesystem::path> files_read(const InputFiles& files);

struct LoadedInput
{
    System system;
    RunParameters parameters;
    std::optional<HandOver> hand_over;
};

// Reads all files, converts bonds to constraints as the parameters ask, checks that everything fits
// together, and resolves values that follow from others. Warnings and notes go to `diagnostics`. Throws
// InputError for anything wrong or unsupported, or InputErrors (io/input/error_list.hpp) for several errors.
LoadedInput load_gromacs(const InputFiles& files, Diagnostics& diagnostics);

} // namespace parhelion
