// SPDX-License-Identifier: Apache-2.0
// Who computes what of PME's mesh: plain numbers that every rank, and every rank's GPU, works out for itself from the run's
// parameters, and which stay for the run.
//
// A rank has planes of the grid along x: it adds up their charges, transforms them along z and y, and has their potentials in the
// end. It solves rows of the spectrum, each along x over all planes. Where ranks have other rows than planes, spectra are
// exchanged before and after.
#pragma once

#include "interactions/mesh/plane_range.hpp"

#include <array>
#include <vector>

namespace parhelion {

struct MeshCut
{
    std::array<int, 3> points{}; // of the grid, along x, y, z
    int order = 0;               // of the splines
    int first_mesh_rank = 0;     // ranks before it have neither planes nor rows: others do the mesh for them
    // By rank.
    std::vector<mesh::PlaneRange> planes; // whose potentials it makes
    std::vector<mesh::PlaneRange> rows;   // that it solves
    std::vector<mesh::PlaneRange> sums;   // the rows among them whose energies it counts: each row is one rank's

    int ranks() const { return static_cast<int>(planes.size()); }
    bool has_mesh(int rank) const { return rank >= first_mesh_rank; }
};

// Every rank has all planes and solves all rows.
MeshCut gathered_cut(const std::array<int, 3>& points, int order, int ranks);

// Planes and rows are dealt out to ranks in order.
MeshCut dealt_cut(const std::array<int, 3>& points, int order, int ranks);

// Planes and rows are dealt out to the last `mesh_ranks` of all ranks.
MeshCut dedicated_cut(const std::array<int, 3>& points, int order, int ranks, int mesh_ranks);

// Where cells are slabs of the box along x, one a rank. Rank r of n has the planes ceil(r N / n) + shift, up to where those of
// the next begin; rows are dealt out. With `shift` planes of order - 1 and what atoms may stray ahead, the atoms of a plane are
// its owner's or ahead of its cell.
MeshCut slab_cut(const std::array<int, 3>& points, int order, int ranks, int shift);
// The shift that leaves as much room for atoms that stray ahead as for those that stray back: of a halo that reaches so far, and
// atoms that are so far ahead of their cells already; both in planes.
int slab_shift(int order, double reach, double ahead);
// That room, in planes: with less than none, atoms of a cell may be missing on planes that they reach.
double slab_room(int order, double reach, double ahead);

// Part `part` of `count` things dealt out to `parts` in order, as evenly as can be.
mesh::PlaneRange dealt_out(int count, int parts, int part);

} // namespace parhelion
