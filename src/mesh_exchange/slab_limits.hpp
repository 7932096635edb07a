// SPDX-License-Identifier: Apache-2.0
// May the owners of planes add up charges from the home and halo atoms that they have, without asking anybody?
//
// Cells are slabs of the box along x, and a rank's planes lie ahead of its cell's by a few (mesh_cut.hpp, shared_cut). So the
// atoms that reach them are at home or ahead, in its halo, as long as nobody strays too far. That must hold for every atom and
// every plane; each rank says it for its home atoms: whose planes does an atom reach, and do they all have it in their halo?
// Cost: at a repartition and in every step a look at the x of every home atom.
#pragma once

#include "device/cpu_queue.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

class SlabLimits
{
public:
    SlabLimits(const MeshCut& cut, int rank);

    // At a repartition, when every rank has the halo of a pair list that reaches so far (nm).
    template <class N>
    void follow(const ParticleState<N>& state, double reach);

    // Is every charged home atom on the ranks whose planes it reaches?
    template <class N>
    bool are_kept(CpuQueue& queue, const ParticleState<N>& state) const;

private:
    MeshCut cut_;
    int rank_;
    // Planes are counted from the end of this rank's, backwards: its own are the first, then those of the rank behind, and so on.
    std::vector<std::int32_t> reaches_back_; // by home cluster: for how many planes there is a rank that has it
};

} // namespace parhelion
