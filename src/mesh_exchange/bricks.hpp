// SPDX-License-Identifier: Apache-2.0
// The method bricks: ranks own planes. Charges are sent in pieces to the owners of planes, which send pieces of potentials back.
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

    MeshPlanes<N>& planes() { return planes_; } // lets a caller add charges to the planes without messages

private:
    MeshPlanes<N> planes_;
    MeshPatch<N> patch_;
};

} // namespace parhelion
