// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/bricks.hpp"

namespace parhelion {

template <class N>
BricksMesh<N>::BricksMesh(const MeshParameters& parameters, Communicator& comm)
    : rank_(comm.rank()), cut_(dealt_cut(parameters.points, parameters.order, comm.ranks())), transforms_(parameters),
      patch_(cut_, transforms_.layout(), comm, Potentials::ComeBack), spectrum_(cut_, transforms_.layout(), comm)
{
    grid_.resize(static_cast<std::size_t>(cut_.planes[static_cast<std::size_t>(rank_)].count) * transforms_.layout().plane());
}

template <class N>
void BricksMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute)
{
    transforms_.follow_box(state.box.length());
    patch_.spread(queue, state, grid_);
    spectrum_.find_potentials(queue, transforms_, grid_.values(), compute);
    patch_.gather(queue, state, grid_.values(), buffers);
    if (compute == Compute::Forces) { return; }
    transforms_.add_energies(buffers.energies[0]);
    if (rank_ == 0) { transforms_.add_background(buffers.energies[0]); }
}

#define PARHELION_INSTANTIATE(N) template class BricksMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
