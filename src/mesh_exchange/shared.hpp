// SPDX-License-Identifier: Apache-2.0
// shared: planes lie where the atoms are that reach them, at home or in the halo, so that charges need no message; forces on halo
// atoms go home with all others. Where an atom has strayed too far, all ranks do that step as bricks does: the exchange of
// spectra says so, before anybody has used one. Likewise where a rest of the force is to come later, as it then is at home.
#pragma once

#include "mesh_exchange/bricks.hpp"
#include "mesh_exchange/slab_limits.hpp"

namespace parhelion {

template <class N>
class HaloMesh final : public SharedMesh<N>
{
public:
    HaloMesh(const MeshSetup& setup, Communicator& comm);
    void after_repartition(const ParticleState<N>& state) override { limits_.follow(state, reach_); }
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) override;

private:
    BricksMesh<N> bricks_; // planes and spectra, and the way out
    mesh::PlaneRange planes_;
    double reach_;
    SlabLimits limits_;
    MeshAtoms<N> atoms_; // home and halo
};

} // namespace parhelion
