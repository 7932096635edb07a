// SPDX-License-Identifier: Apache-2.0
// Which grids GPUs take, and the cell (state/gpu/cell.hpp) that a rank has in one. Cost: none, once.
#pragma once

#include "base/box.hpp"
#include "domain/cell_grid.hpp"
#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/gpu/cell.hpp"

namespace parhelion {

// The farthest (nm) that constraints let an atom be from the reference atom of its update group, and a little more: constraints
// are kept to a tolerance, and files are rounded.
double longest_overhang(const Topology& topology, const UpdateGroups& groups);

// Of a rank's halo: what GPUs exchange is laid out for so many (halo/gpu/halo_gpu.hpp).
inline constexpr int most_gpu_messages = 26;

// For a grid that nobody has asked for. Two clusters whose atoms may be listed as pairs must not reach each other the other way
// around a divided box as well (gpu_flag_ambiguous): for that a cluster is taken to be as long as the cell of a supercluster. A
// border across z costs as much halo besides, since superclusters end at it, and what they lack is filled; columns along x and y
// are fitted to borders. Measured: bench/gpu/scaling. reach (nm): of the pair list; overhang (nm): longest_overhang().
GridCriteria gpu_grid_criteria(double reach, double overhang, std::int64_t atoms, const Box<double>& box);

// reach (nm): of the pair list; overhang (nm): how far atoms may be from their owner's cell. Throws InputError E630 if the grid
// does not fit the box (nm).
GpuCell make_gpu_cell(const CellGrid& grid, int rank, const Box<double>& box, double reach, double overhang);

} // namespace parhelion
