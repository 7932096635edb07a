// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/bricks.hpp"

#include "base/error.hpp"

namespace parhelion {

template <class N>
BricksMesh<N>::BricksMesh(const MeshSetup& setup, Communicator& comm)
    : planes_(setup, comm), patch_(setup, planes_.layout(), comm, Potentials::ComeBack)
{
}

template <class N>
void BricksMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                            const MeshWeights& weights)
{
    patch_.spread(queue, state, planes_.grid());
    const bool are_here = planes_.find_potentials(queue, state, Charges::Here, buffers, compute);
    PARHELION_EXPECTS(are_here);
    patch_.gather(queue, state, planes_.potentials(), weights.first, buffers);
}

template <class N>
void BricksMesh<N>::add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state)
{
    patch_.gather_again(queue, weights.rest, state);
}

#define PARHELION_INSTANTIATE(N) template class BricksMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
