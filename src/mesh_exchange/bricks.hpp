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

    BricksMesh(const MeshSetup& setup, Communicator& comm);
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) override;

    // Its parts, for who has the charges of its planes without a message: they are spread from atoms that are sorted by these
    // planes; potentials are found from them, with energies and virial on request, unless they are missing somewhere: false.
    const mesh::Layout& layout() const { return transforms_.layout(); }
    void spread(CpuQueue& queue, const ParticleState<N>& state, const MeshAtoms<N>& atoms);
    bool find_potentials(CpuQueue& queue, const ParticleState<N>& state, Charges charges, ForceBuffers<N>& buffers,
                         Compute compute);
    const Real* potentials() { return grid_.values(); }

private:
    int rank_;
    MeshTransforms<Real> transforms_;
    MeshPatch<N> patch_;
    MeshSpectrum<Real> spectrum_;
    MeshGrid<N> grid_; // this rank's planes
    std::size_t points_;
};

} // namespace parhelion
