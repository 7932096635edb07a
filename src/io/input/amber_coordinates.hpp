// SPDX-License-Identifier: Apache-2.0
// Reads AMBER's coordinates and restart files (inpcrd, rst7): text in columns of twelve, and NetCDF (io/input/netcdf.hpp). In a
// text file, the count of numbers behind the positions tells if there are velocities, a box, velocities and a box, or neither.
#pragma once

#include "base/error.hpp"
#include "io/input/amber_system.hpp"
#include "io/input/gro.hpp"
#include "io/input/text.hpp"

#include <optional>
#include <string_view>

namespace parhelion {

// Returns whether a text is such coordinates, by its first lines. A .gro is not, because its lines of atoms begin with names.
bool is_amber_coordinates(std::string_view text);

// Returns positions, velocities and box of a file, without names. If the file lacks a box or its angles, `topology` gives them.
// Throws InputError E170 if the file is unreadable or there is no box, E580 for a box that leans too far for any choice of edges.
GroFile read_amber_coordinates(MappedFile file, const std::optional<AmberBox>& topology);

// Returns the cell with these edges and angles. If an edge would lean too far, returns the cell of the
// same lattice with the shortest edges. If there is no such cell, `problem` gets a sentence that says why.
Box<double> cell_of(const AmberBox& box, std::string& problem);

} // namespace parhelion
