// SPDX-License-Identifier: Apache-2.0
// bricks: planes are dealt out to the ranks. A rank's charges go to the planes' owners in pieces, potentials come back likewise.
#pragma once

#include "mesh_exchange/patch.hpp"
#include "mesh_exchange/planes.hpp"
#include "mesh_exchange/rank_mesh.hpp"

namespace parhelion {

template <class N>
class BricksMesh final : public SharedMesh<N>
{
public:
    BricksMesh(const MeshSetup& setup, Communicator& comm);
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) override;

    MeshPlanes<N>& planes() { return planes_; } // for who has their charges without a message

private:
    MeshPlanes<N> planes_;
    MeshPatch<N> patch_;
};

} // namespace parhelion
