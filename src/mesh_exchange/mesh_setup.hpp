// SPDX-License-Identifier: Apache-2.0
// What the mesh of a run on several ranks is made from: which way its work is shared, and the cut of that. Plain data, the same
// on every rank, which stay for the run.
#pragma once

#include "base/box.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "mesh_exchange/method.hpp"

#include <array>

namespace parhelion {

struct MeshSetup
{
    MeshParameters parameters;              // order 0: the run has no mesh
    MeshMethod method = MeshMethod::Bricks; // never Auto
    MeshCut cut;
    double reach = 0; // nm, of the pair list: what halos cover
};

// How the run's ranks divide the box.
struct MeshCells
{
    std::array<int, 3> cells{1, 1, 1}; // in x, y, z, one a rank
    int mesh_ranks = 0;                // ranks without a cell, behind all others
    Box<double> box;                   // edges at the start of the run, nm
    double reach = 0;                  // nm, of the pair list
    double ahead = 0;                  // nm by which atoms may be ahead of their cells, at a repartition, along x
    // May `shared` do a step as `bricks` does? If not, as on GPUs, atoms need room to stray, and no step has two parts of forces.
    bool may_fall_back = true;
    bool forces_have_rest = false; // MeshWeights::rest, in some step
};

// True if `shared` works where the cells are slabs along x, whatever `ranks.cells` are.
bool slabs_can_share(const MeshParameters& parameters, const MeshCells& ranks);

// Throws InputError E635 for a method that does not suit the cells. A lone rank has the whole mesh, whatever is asked.
MeshSetup make_mesh_setup(const MeshParameters& parameters, MeshMethod asked, const MeshCells& cells);

} // namespace parhelion
