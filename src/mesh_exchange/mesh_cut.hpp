// SPDX-License-Identifier: Apache-2.0
// Says which rank computes which part of PME's mesh. These are plain numbers that every rank, and every rank's GPU,
// derives from the run's parameters. They do not change during the run.
//
// A rank has planes of the grid along x: it sums their charges, transforms them along z and y, and obtains their
// potentials. It also solves rows of the spectrum, each along x over all planes. If the planes and rows of ranks
// differ, spectra are exchanged before and after.
#pragma once

#include "interactions/mesh/plane_range.hpp"

#include <array>
#include <vector>

namespace parhelion {

struct MeshCut
{
    std::array<int, 3> points{}; // size of the grid along x, y, z
    int order = 0;               // order of the splines
    int first_mesh_rank = 0;     // ranks below this number are particle ranks of `dedicated`, without planes or rows
    // The following vectors are indexed by rank.
    std::vector<mesh::PlaneRange> planes; // planes whose potentials the rank computes
    std::vector<mesh::PlaneRange> rows;   // rows that the rank solves
    std::vector<mesh::PlaneRange> sums;   // rows whose energies the rank counts: each row is counted by one rank

    int ranks() const { return static_cast<int>(planes.size()); }
    bool has_mesh(int rank) const { return rank >= first_mesh_rank; }
};

// Returns the division that gives every rank all planes and all rows.
MeshCut gathered_cut(const std::array<int, 3>& points, int order, int ranks);

// Returns the division of planes and rows among all ranks, in order.
MeshCut dealt_cut(const std::array<int, 3>& points, int order, int ranks);

// Returns the division of planes and rows among the last `mesh_ranks` of all ranks.
MeshCut dedicated_cut(const std::array<int, 3>& points, int order, int ranks, int mesh_ranks);

// Returns the division for cells that are slabs of the box along x, one per rank. Rank r of n has the planes from ceil(r N / n) +
// shift up to the next rank's first, of N planes in all; rows are divided in order. Let `shift` be order - 1 plus the number of
// planes by which atoms may be ahead of their cells. Then all atoms that reach a plane are home atoms of its owner, or ahead of
// the owner's cell.
MeshCut slab_cut(const std::array<int, 3>& points, int order, int ranks, int shift);
// Returns the shift with which atoms may move as far ahead as back out of their cells. `reach` is the reach of the halo, `ahead`
// how far atoms are already ahead of their cells. All three are numbers of planes.
int slab_shift(int order, double reach, double ahead);
// Returns how far atoms may move with this shift, in planes. If negative, a plane's owner may lack atoms that reach the plane.
double slab_room(int order, double reach, double ahead);

// Returns part `part` of `count` items that are divided into `parts` parts, in order and as evenly as possible.
mesh::PlaneRange dealt_out(int count, int parts, int part);

} // namespace parhelion
