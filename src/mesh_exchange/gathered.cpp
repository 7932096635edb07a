// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gathered.hpp"

namespace parhelion {

template <class N>
GatheredMesh<N>::GatheredMesh(const MeshSetup& setup, Communicator& comm)
    : rank_(comm.rank()), summed_(setup.cut.sums[static_cast<std::size_t>(rank_)]), mesh_(setup.parameters),
      patch_(setup, mesh_.layout(), comm, Potentials::StayThere)
{
}

template <class N>
void GatheredMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                              const MeshWeights& weights)
{
    patch_.spread(queue, state, mesh_.grid());
    mesh_.find_potentials(queue, state.box.edges(), summed_, compute);
    mesh_.sort(queue, state);
    mesh_.gather(queue, state, weights.first, buffers);
    if (compute == Compute::Forces) { return; }
    mesh_.transforms().add_energies(buffers.energies[0]);
    if (rank_ == 0) { mesh_.transforms().add_background(buffers.energies[0]); }
}

template <class N>
void GatheredMesh<N>::add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state)
{
    mesh_.add_rest(queue, weights, state);
}

#define PARHELION_INSTANTIATE(N) template class GatheredMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
