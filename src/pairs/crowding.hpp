// SPDX-License-Identifier: Apache-2.0
// How many partners atoms meet, where atoms do not fill their box evenly: a drop, a slab, two phases.
//
// The idea: of two kinds of molecules, the mean density of the one that an atom of the other sees. Atoms are counted in cells as
// wide as the cut-off; the pairs of atoms that share a cell are the sum over cells of n_a n_b. In an even box that is N_a N_b
// over the number of cells, whatever chance does to single cells: atoms that are independent of each other give unbiased counts
// of pairs (n (n - 1) of one kind). Pairs that exclude each other are not counted: a dilute molecule is no crowd by itself. A
// small drop can be cut by cells, so two grids are tried, half a cell apart, and the larger count is taken. Cost: a look at each
// atom and each exclusion for each grid, some 20 ns; memory for the cells that are occupied.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

// Molecule types are told apart, if they are not too many; then all are one class.
int crowding_classes(const Topology& topology);
int crowding_class(const Topology& topology, std::int32_t molecule_type);

// By two classes, row by row, symmetric: the mean density of the one's atoms around the other's, over what it is where
// they fill `even_volume` (nm^3) evenly. x: the leading bits of all atoms' positions in the box (state/periodic_box.hpp), in
// input order. Only these integers count, so the result has the same bits wherever it is computed. Preconditions: edges and
// `width` of cells, nm, > 0.
std::vector<double> measure_crowding(const Topology& topology, const Box<double>& box, double width, double even_volume,
                                     std::span<const Vec3<std::uint32_t>> x);

} // namespace parhelion
