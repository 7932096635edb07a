// SPDX-License-Identifier: Apache-2.0
// The header of a run input file (.tpr): the release that wrote it, and its contents.
#pragma once

#include "io/input/tpr/cursor.hpp"

#include "base/error.hpp"

#include <string>

namespace parhelion {

// The first supported file version (GROMACS 2018), and the last known file version (2026 and its development).
inline constexpr int first_tpr_version = 112, last_tpr_version = 139;

struct TprHeader
{
    std::string program; // for example "VERSION 2022.5-Debian_2022.5_2"
    int version = 0, generation = 0;
    std::int32_t atoms = 0, coupling_groups = 0;
    std::size_t padding = 0; // number of bytes behind the body
    bool has_parameters = false, has_topology = false, has_x = false, has_v = false, has_f = false, has_box = false;
};

// Reads the header and leaves the cursor at the body, with the body's layout. Throws InputError: E118 damaged,
// E119 unsupported version, generation or private format. Warns (W175) of a version between releases.
TprHeader read_tpr_header(TprCursor& cursor, const std::string& file, Diagnostics& diagnostics);

} // namespace parhelion
