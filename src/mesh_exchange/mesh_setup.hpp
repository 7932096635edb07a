// SPDX-License-Identifier: Apache-2.0
// The data from which the mesh of a run on several ranks is made: the method by which ranks share the mesh, and
// which rank computes which part (MeshCut). The data are the same on every rank and do not change during the run.
#pragma once

#include "base/box.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "mesh_exchange/method.hpp"

#include <array>
#include <string>
#include <vector>

namespace parhelion {

struct MeshSetup
{
    MeshParameters parameters;              // order 0: the run has no mesh
    MeshMethod method = MeshMethod::Bricks; // never Auto
    MeshCut cut;
    double reach = 0;                         // nm; reach of the pair list, which halos cover
    std::vector<MeshParameters> dispersion{}; // LJ-PME: further meshes, which ranks share by the same method and cut
    std::string label = "mesh";               // label of this mesh's channels

    // Returns the setup of dispersion mesh i alone.
    MeshSetup of_dispersion(std::size_t i) const
    {
        return {dispersion[i], method, cut, reach, {}, "dispersion " + std::to_string(i)};
    }
};

// How the ranks of a run divide the box.
struct MeshCells
{
    std::array<int, 3> cells{1, 1, 1}; // numbers of cells in x, y, z; one cell per rank
    int mesh_ranks = 0;                // ranks without a cell, numbered after all others
    Box<double> box;                   // edges at the start of the run, nm
    double reach = 0;                  // nm; reach of the pair list
    double ahead = 0;                  // nm; how far atoms may be outside their cells, towards higher x, at a repartition
    // If false, as on GPUs, no step of `shared` is done as `bricks`. Atoms then need a margin, and add_rest() is not possible.
    bool may_fall_back = true;
    bool forces_have_rest = false; // true if MeshWeights::rest is not 0 in some step
};

// Returns true if `shared` works with cells that are slabs along x. The result does not depend on `ranks.cells`.
bool slabs_can_share(const MeshParameters& parameters, const MeshCells& ranks);

// Throws InputError E635 if the method does not suit the cells. A lone rank has the whole mesh whatever `asked` says.
MeshSetup make_mesh_setup(const MeshParameters& parameters, MeshMethod asked, const MeshCells& cells);

} // namespace parhelion
