// SPDX-License-Identifier: Apache-2.0
// The method shared: a rank's planes are those that its home and halo atoms reach, so charges need no message. Forces on halo
// atoms return with all others. If an atom is too far out of its cell, all ranks do that step as `bricks` does: each message with
// a spectrum has a flag for this. They also do so if MeshWeights::rest adds forces, on home atoms only.
#pragma once

#include "mesh_exchange/bricks.hpp"
#include "mesh_exchange/slab_limits.hpp"

namespace parhelion {

template <class N>
class HaloMesh final : public SharedMesh<N>
{
public:
    HaloMesh(const MeshSetup& setup, Communicator& comm);
    void after_repartition(const ParticleState<N>& state, std::span<const std::uint32_t> lower_x) override
    {
        limits_.follow(state, reach_, lower_x);
    }
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) override;

private:
    BricksMesh<N> bricks_; // has the planes and spectra, and does the steps that `shared` cannot do
    mesh::PlaneRange planes_;
    double reach_;
    SlabLimits limits_;
    MeshAtoms<N> atoms_; // home and halo atoms that reach the planes
};

} // namespace parhelion
