// SPDX-License-Identifier: Apache-2.0
// From GROMACS' files to a checked system: the one call that programs and tests use.
#pragma once

#include "base/error.hpp"
#include "io/hand_over.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace parhelion {

struct InputFiles
{
    std::filesystem::path mdp, structure, topology;
    std::filesystem::path restraint_reference; // empty: the structure's positions
    std::filesystem::path index;               // empty: the usual groups only
    std::vector<std::filesystem::path> include_paths;
    // .cpt or .trr whose positions, velocities and box are the start; empty: the structure's. ps: the first frame there at or
    // after this time; nothing: the last.
    std::filesystem::path hand_over = {};
    std::optional<double> hand_over_at = {};
};

struct LoadedInput
{
    System system;
    RunParameters parameters;
    std::optional<HandOver> hand_over;
};

// Reads all files, turns bonds into constraints as the parameters ask, checks that everything fits together, and resolves every
// value that follows from others. Warnings and notes go to `diagnostics`; anything wrong or unsupported throws InputError, or
// InputErrors (io/error_list.hpp) if there is more than one thing wrong.
LoadedInput load_gromacs(const InputFiles& files, Diagnostics& diagnostics);

} // namespace parhelion
