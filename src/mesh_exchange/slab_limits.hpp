// SPDX-License-Identifier: Apache-2.0
// Checks whether the owners of planes can sum charges from their home and halo atoms alone, without messages.
//
// Cells are slabs of the box along x, and a rank's planes lie a few planes ahead of its cell (mesh_cut.hpp, slab_cut). So
// the atoms that reach its planes are home atoms or atoms ahead, in its halo, unless one has moved too far. This must hold
// for every atom and every plane. Each rank checks for its home atoms which planes an atom reaches, and whether all owners
// of these planes have it in their halo. Cost: at a repartition and in every step a load of the x of every home atom.
#pragma once

#include "device/cpu_queue.hpp"
#include "interactions/mesh/mesh_charges.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

class SlabLimits
{
public:
    SlabLimits(const MeshCut& cut, int rank);

    // Notes which owners have which atoms. Call it at a repartition, when every rank has a halo of this reach (nm).
    // lower: the lower border of each rank's slab along x, in 2^-32 box edges.
    template <class N>
    void follow(const ParticleState<N>& state, double reach, std::span<const std::uint32_t> lower);

    // Returns true if every charged home atom is on all ranks whose planes it reaches.
    template <class N>
    bool are_kept(CpuQueue& queue, const ParticleState<N>& state, const MeshCharges<N>& charges = {}) const;

private:
    MeshCut cut_;
    int rank_;
    // Planes are counted backwards from this rank's last plane: first its own, then those of the rank behind, and so on.
    std::vector<std::int32_t> reaches_back_; // for each home cluster: number of planes whose owners have it
};

} // namespace parhelion
