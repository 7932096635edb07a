// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/rank_mesh.hpp"

#include "base/error.hpp"
#include "mesh_exchange/bricks.hpp"
#include "mesh_exchange/gathered.hpp"
#include "mesh_exchange/shared.hpp"

#include <algorithm>

namespace parhelion {

namespace {

template <class N>
std::unique_ptr<SharedMesh<N>> make_shared_mesh(const MeshSetup& setup, Communicator& comm)
{
    switch (setup.method)
    {
    case MeshMethod::Gathered:
        return std::make_unique<GatheredMesh<N>>(setup, comm);
    case MeshMethod::Bricks:
        return std::make_unique<BricksMesh<N>>(setup, comm);
    case MeshMethod::Shared:
        return std::make_unique<HaloMesh<N>>(setup, comm);
    case MeshMethod::Auto:
        break;
    }
    throw ContractError("A way to share the mesh without a class for CPUs.");
}

} // namespace

template <class N>
RankMesh<N>::RankMesh(const MeshSetup& setup, Communicator& comm) : is_used_(setup.parameters.order > 0)
{
    if (!is_used_) { return; }
    if (comm.ranks() == 1) { lone_ = Mesh<N>(setup.parameters); }
    else { shared_ = make_shared_mesh<N>(setup, comm); }
}

template <class N>
void RankMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                          const MeshWeights& weights)
{
    if (shared_) { shared_->compute(queue, state, buffers, compute, weights); }
    else { lone_.compute(queue, state, buffers, compute, weights); }
}

template <class N>
void RankMesh<N>::add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state)
{
    if (shared_) { shared_->add_rest(queue, weights, state); }
    else { lone_.add_rest(queue, weights, state); }
}

template <class N>
std::size_t RankMesh<N>::payload_bytes(const MeshSetup& setup)
{
    if (setup.parameters.order == 0 || setup.cut.ranks() == 1) { return 0; }
    const mesh::Layout layout = MeshTransforms<typename N::Real>(setup.parameters).layout();
    const bool is_gathered = setup.method == MeshMethod::Gathered;
    std::size_t most = 0;
    for (int rank = 0; rank < setup.cut.ranks(); ++rank)
    {
        const std::size_t bytes = is_gathered ? MeshPatch<N>::payload_bytes(setup.cut, layout, rank, Potentials::StayThere)
                                              : MeshPatch<N>::payload_bytes(setup.cut, layout, rank, Potentials::ComeBack) +
                                                    MeshSpectrum<typename N::Real>::payload_bytes(setup.cut, layout, rank);
        most = std::max(most, bytes);
    }
    return most;
}

#define PARHELION_INSTANTIATE(N) template class RankMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
