// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/bricks.hpp"

#include "base/error.hpp"

namespace parhelion {

template <class N>
BricksMesh<N>::BricksMesh(const MeshSetup& setup, Communicator& comm)
    : rank_(comm.rank()), transforms_(setup.parameters), patch_(setup.cut, layout(), comm, Potentials::ComeBack),
      spectrum_(setup.cut, layout(), comm),
      points_(static_cast<std::size_t>(setup.cut.planes[static_cast<std::size_t>(rank_)].count) * layout().plane())
{
    grid_.resize(points_);
}

template <class N>
void BricksMesh<N>::spread(CpuQueue& queue, const ParticleState<N>& state, const MeshAtoms<N>& atoms)
{
    atoms.spread(queue, state, grid_.charges());
    queue.for_range(points_, layout().row, [&](int, std::size_t begin, std::size_t end) { grid_.finish_charges(begin, end); });
}

template <class N>
bool BricksMesh<N>::find_potentials(CpuQueue& queue, const ParticleState<N>& state, Charges charges, ForceBuffers<N>& buffers,
                                    Compute compute)
{
    transforms_.follow_box(state.box.length());
    if (!spectrum_.find_potentials(queue, transforms_, charges, grid_.values(), compute)) { return false; }
    if (compute == Compute::ForcesEnergiesVirial)
    {
        transforms_.add_energies(buffers.energies[0]);
        if (rank_ == 0) { transforms_.add_background(buffers.energies[0]); }
    }
    return true;
}

template <class N>
void BricksMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                            const MeshWeights& weights)
{
    patch_.spread(queue, state, grid_);
    const bool are_here = find_potentials(queue, state, Charges::Here, buffers, compute);
    PARHELION_EXPECTS(are_here);
    patch_.gather(queue, state, grid_.values(), weights.first, buffers);
}

template <class N>
void BricksMesh<N>::add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state)
{
    patch_.gather_again(queue, weights.rest, state);
}

#define PARHELION_INSTANTIATE(N) template class BricksMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
