// SPDX-License-Identifier: Apache-2.0
// The method gathered: every rank sums the charges of all ranks, computes the whole mesh, and keeps the forces on its home atoms.
#pragma once

#include "mesh_exchange/patch.hpp"
#include "mesh_exchange/rank_mesh.hpp"

#include <vector>

namespace parhelion {

template <class N>
class GatheredMesh final : public SharedMesh<N>
{
public:
    GatheredMesh(const MeshSetup& setup, Communicator& comm);
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) override;

private:
    int rank_;
    mesh::PlaneRange summed_; // the rows of the spectrum whose energies this rank counts
    Mesh<N> mesh_;
    MeshPatch<N> patch_;
};

} // namespace parhelion
