// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/shared.hpp"

#include "trace/phases.hpp"

namespace parhelion {

template <class N>
HaloMesh<N>::HaloMesh(const MeshSetup& setup, Communicator& comm)
    : bricks_(setup, comm), planes_(setup.cut.planes[static_cast<std::size_t>(comm.rank())]), reach_(setup.reach),
      limits_(setup.cut, comm.rank()), atoms_(bricks_.planes().layout(), setup.cut.order, MeshCharges<N>(setup.parameters))
{
}

template <class N>
void HaloMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                          const MeshWeights& weights)
{
    if (weights.rest != 0)
    {
        bricks_.compute(queue, state, buffers, compute, weights);
        return;
    }
    Charges charges = Charges::Missing;
    {
        const ScopedPhase span(queue.clock(), Phase::Spread);
        if (limits_.are_kept(queue, state, atoms_.charges()))
        {
            charges = Charges::Here;
            atoms_.sort(queue, state, state.clusters(), planes_);
            bricks_.planes().spread(queue, state, atoms_);
        }
    }
    if (!bricks_.planes().find_potentials(queue, state, charges, buffers, compute))
    {
        bricks_.compute(queue, state, buffers, compute, weights);
        return;
    }
    const ScopedPhase span(queue.clock(), Phase::Gather);
    atoms_.gather(queue, state, bricks_.planes().potentials(), weights.first, buffers);
}

template <class N>
void HaloMesh<N>::add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state)
{
    bricks_.add_rest(queue, weights, state);
}

#define PARHELION_INSTANTIATE(N) template class HaloMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
