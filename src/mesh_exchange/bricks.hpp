// SPDX-License-Identifier: Apache-2.0
// bricks: planes are dealt out to the ranks. A rank's charges go to the planes' owners in pieces, potentials come back likewise.
#pragma once

#include "mesh_exchange/patch.hpp"
#include "mesh_exchange/rank_mesh.hpp"
#include "mesh_exchange/spectrum.hpp"

namespace parhelion {

template <class N>
class BricksMesh final : public SharedMesh<N>
{
public:
    using Real = typename N::Real;

    BricksMesh(const MeshParameters& parameters, Communicator& comm);
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute) override;

private:
    int rank_;
    MeshCut cut_;
    MeshTransforms<Real> transforms_;
    MeshPatch<N> patch_;
    MeshSpectrum<Real> spectrum_;
    MeshGrid<N> grid_; // this rank's planes
};

} // namespace parhelion
