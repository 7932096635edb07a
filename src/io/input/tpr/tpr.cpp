// SPDX-License-Identifier: Apache-2.0
#include "io/input/tpr/tpr.hpp"

namespace parhelion {

// Reads box, topology, positions, velocities, forces, parameters, each only if the header
// says that it is there. Behind the box there is an unused number for each coupling group.
TprFile read_tpr(const MappedFile& file, Diagnostics& diagnostics)
{
    TprFile tpr;
    tpr.path = file.path().string();
    TprCursor cursor(file.text(), tpr.path);
    tpr.header = read_tpr_header(cursor, tpr.path, diagnostics);
    const TprHeader& header = tpr.header;
    if (!header.has_parameters || !header.has_topology || !header.has_x || !header.has_box)
    {
        cursor.fail("the file has no parameters, topology, positions or box");
    }
    tpr.box = cursor.vectors(3);
    constexpr std::size_t other_matrices = 2 * 9; // matrices related to changes of the box
    cursor.skip_reals(other_matrices);
    cursor.skip_reals(static_cast<std::size_t>(header.coupling_groups));
    tpr.topology = read_tpr_topology(cursor, header);
    const auto atoms = static_cast<std::size_t>(header.atoms);
    tpr.x = cursor.vectors(atoms);
    if (header.has_v) { tpr.v = cursor.vectors(atoms); }
    if (header.has_f) { cursor.skip_reals(3 * atoms); }
    tpr.parameters = read_tpr_parameters(cursor, header);
    if (cursor.left() != header.padding) { cursor.fail("the content ends before the file does"); }
    return tpr;
}

} // namespace parhelion
