// SPDX-License-Identifier: Apache-2.0
// Which grids GPUs take, and the cell (state/gpu/cell.hpp) that a rank has in one. Cost: none, once.
#pragma once

#include "base/box.hpp"
#include "domain/cell_grid.hpp"
#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/gpu/cell.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <functional>

namespace parhelion {

// The distance (nm) of two atoms, given by global numbers, at their present positions.
using AtomDistance = std::function<double(std::int64_t, std::int64_t)>;
template <class N>
AtomDistance distances_in(const ParticleState<N>& lone) // a rank that has all atoms
{
    return [&lone](std::int64_t a, std::int64_t b) {
        const auto position = [&](std::int64_t atom) {
            return lone.x.get(static_cast<std::size_t>(lone.slot_of_global[static_cast<std::size_t>(atom)]));
        };
        return norm(lone.box.difference(position(a), position(b)));
    };
}

// The farthest (nm) that an atom may be from the reference atom of its update group. Constraints say how far, and a little more,
// since they are kept to a tolerance, and files are rounded. For atoms that virtual sites alone tie to it, it is half as much
// again as `distance` has it, which nobody else needs; an atom that comes to be farther raises gpu_flag_ambiguous.
double longest_overhang(const Topology& topology, const UpdateGroups& groups, const AtomDistance& distance = {});

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
