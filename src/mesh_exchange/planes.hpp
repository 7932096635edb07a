// SPDX-License-Identifier: Apache-2.0
// A rank's planes of the grid, from their charges to their potentials. All methods that divide the mesh have this in common.
#pragma once

#include "interactions/mesh/mesh.hpp"
#include "mesh_exchange/mesh_setup.hpp"
#include "mesh_exchange/spectrum.hpp"

namespace parhelion {

template <class N>
class MeshPlanes
{
public:
    using Real = typename N::Real;

    MeshPlanes(const MeshSetup& setup, Communicator& comm);

    const mesh::Layout& layout() const { return transforms_.layout(); }
    MeshGrid<N>& grid() { return grid_; } // lets a caller sum charges into the grid
    // Spreads the charges of atoms that are sorted by these planes.
    void spread(CpuQueue& queue, const ParticleState<N>& state, const MeshAtoms<N>& atoms);
    // Replaces charges by potentials, with energies and virial on request. Returns false if a rank lacks charges. Collective.
    bool find_potentials(CpuQueue& queue, const ParticleState<N>& state, Charges charges, ForceBuffers<N>& buffers,
                         Compute compute);
    const Real* potentials() { return grid_.values(); }

private:
    bool adds_background_; // true on the rank that adds the energy of the neutralising background
    MeshTransforms<Real> transforms_;
    MeshSpectrum<Real> spectrum_;
    MeshGrid<N> grid_;
    std::size_t points_;
};

} // namespace parhelion
