// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/planes.hpp"

namespace parhelion {

template <class N>
MeshPlanes<N>::MeshPlanes(const MeshSetup& setup, Communicator& comm)
    : adds_background_(comm.rank() == setup.cut.first_mesh_rank), transforms_(setup.parameters),
      spectrum_(setup.cut, layout(), comm, setup.label),
      points_(static_cast<std::size_t>(setup.cut.planes[static_cast<std::size_t>(comm.rank())].count) * layout().plane())
{
    grid_.resize(points_);
}

template <class N>
void MeshPlanes<N>::spread(CpuQueue& queue, const ParticleState<N>& state, const MeshAtoms<N>& atoms)
{
    atoms.spread(queue, state, grid_.charges());
    queue.for_range(points_, layout().row, [&](int, std::size_t begin, std::size_t end) { grid_.finish_charges(begin, end); });
}

template <class N>
bool MeshPlanes<N>::find_potentials(CpuQueue& queue, const ParticleState<N>& state, Charges charges, ForceBuffers<N>& buffers,
                                    Compute compute)
{
    transforms_.follow_box(state.box.edges());
    if (!spectrum_.find_potentials(queue, transforms_, charges, grid_.values(), compute)) { return false; }
    if (compute == Compute::ForcesEnergiesVirial)
    {
        transforms_.add_energies(buffers.energies[0]);
        if (adds_background_) { transforms_.add_background(buffers.energies[0]); }
    }
    return true;
}

#define PARHELION_INSTANTIATE(N) template class MeshPlanes<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
