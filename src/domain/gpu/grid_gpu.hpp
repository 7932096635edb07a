// SPDX-License-Identifier: Apache-2.0
// Chooses the grids that GPUs use, and makes the cell (state/gpu/cell.hpp) of a rank. Cost: none in a step, only at setup.
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

// A function that returns the present distance (nm) of two atoms, given by global numbers.
using AtomDistance = std::function<double(std::int64_t, std::int64_t)>;
template <class N>
AtomDistance distances_in(const ParticleState<N>& lone) // `lone` must have all atoms
{
    return [&lone](std::int64_t a, std::int64_t b) {
        const auto position = [&](std::int64_t atom) {
            return lone.x.get(static_cast<std::size_t>(lone.slot_of_global[static_cast<std::size_t>(atom)]));
        };
        return norm(lone.box.difference(position(a), position(b)));
    };
}

// Returns the largest distance (nm) of an atom from the reference atom of its update group that constraints allow,
// plus a margin for their tolerance and for rounding in files. For atoms tied by virtual sites alone it is 1.5
// times the present distance; only they need `distance`. An atom that moves farther away raises gpu_flag_ambiguous.
double longest_overhang(const Topology& topology, const UpdateGroups& groups, const AtomDistance& distance = {});

// The maximum number of messages of a rank's halo, for which the exchange between GPUs is laid out (halo/gpu/halo_gpu.hpp).
inline constexpr int most_gpu_messages = 26;

// Returns the criteria for a grid that the user has not given. Clusters with listed pairs must not also be within reach
// in the other direction around a divided box (gpu_flag_ambiguous); a cluster is taken to be as long as a supercluster's
// cell. A border across z costs more halo: superclusters end and are filled up there. Columns along x and y are fitted
// to borders. Measured in bench/gpu/scaling. reach (nm): of the pair list; overhang (nm): longest_overhang().
GridCriteria gpu_grid_criteria(double reach, double overhang, std::int64_t atoms, const Box<double>& box);

// Returns the cell of `rank`. reach (nm): of the pair list; overhang (nm): how far atoms may
// be from their owner's cell. Throws InputError E630 if the grid does not fit the box (nm).
GpuCell make_gpu_cell(const CellGrid& grid, int rank, const Box<double>& box, double reach, double overhang);

} // namespace parhelion
