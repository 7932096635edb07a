// SPDX-License-Identifier: Apache-2.0
// The cell of a rank on a GPU (state/gpu_cell.hpp) from the grid that all ranks agree on. Cost: none, once.
#pragma once

#include "domain/cell_grid.hpp"
#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/gpu_cell.hpp"

namespace parhelion {

// The farthest (nm) that constraints let an atom be from the reference atom of its update group, and a little more: constraints
// are kept to a tolerance, and files are rounded.
double longest_straying(const Topology& topology, const UpdateGroups& groups);

// reach (nm): of the pair list; straying (nm): how far atoms may be from their owner's cell. Throws InputError E630 if the grid
// does not fit the box (nm).
GpuCell make_gpu_cell(const CellGrid& grid, int rank, const Vec3<double>& box, double reach, double straying);

} // namespace parhelion
