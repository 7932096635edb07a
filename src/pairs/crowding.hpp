// SPDX-License-Identifier: Apache-2.0
// Measures the density of partners around atoms in a box that is filled unevenly: by a drop, a slab, or two phases.
//
// The idea: for two kinds of molecules, find the mean density of one kind's atoms around an atom of the other kind.
// Atoms are counted in cells as wide as the cut-off. The number of pairs that share a cell is the sum of n_a n_b
// over cells. Its mean in an even box is N_a N_b over the number of cells, as counts of pairs of independent atoms
// are unbiased (n (n - 1) in one kind). Pairs that exclude each other are not counted, so a dilute molecule does
// not crowd itself. Two grids half a cell apart are tried, as borders of cells can cut a small drop; the larger
// count is used. Cost for each grid: about 20 ns per atom and per exclusion, and memory for the occupied cells.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

// These functions return the number of classes, and the class of a molecule type: itself, or 0 if there are too many types.
int crowding_classes(const Topology& topology);
int crowding_class(const Topology& topology, std::int32_t molecule_type);

// Returns, for each pair of classes (symmetric, row by row), the mean density of one class's atoms around atoms of
// the other class, relative to that of atoms that fill `even_volume` (nm^3) evenly. x: the leading bits of all
// atoms' positions in the box (state/periodic_box.hpp), in input order. The result depends only on these integers,
// so it has the same bits wherever it is computed. Preconditions: box edges and `width` of cells, nm, are > 0.
std::vector<double> measure_crowding(const Topology& topology, const Box<double>& box, double width, double even_volume,
                                     std::span<const Vec3<std::uint32_t>> x);

} // namespace parhelion
