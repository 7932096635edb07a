// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/rank_mesh.hpp"

#include "base/error.hpp"
#include "mesh_exchange/bricks.hpp"
#include "mesh_exchange/gathered.hpp"

#include <algorithm>

namespace parhelion {

MeshMethod method_for(MeshMethod asked) { return asked == MeshMethod::Auto ? MeshMethod::Bricks : asked; }

template <class N>
RankMesh<N>::RankMesh(const MeshParameters& parameters, MeshMethod method, Communicator& comm) : is_used_(parameters.order > 0)
{
    if (!is_used_) { return; }
    if (comm.ranks() == 1)
    {
        lone_ = Mesh<N>(parameters);
        return;
    }
    switch (method_for(method))
    {
    case MeshMethod::Gathered:
        shared_ = std::make_unique<GatheredMesh<N>>(parameters, comm);
        return;
    case MeshMethod::Bricks:
        shared_ = std::make_unique<BricksMesh<N>>(parameters, comm);
        return;
    case MeshMethod::Auto:
        break;
    }
    throw ContractError("A way to share the mesh without a class for CPUs.");
}

template <class N>
void RankMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute)
{
    if (shared_) { shared_->compute(queue, state, buffers, compute); }
    else { lone_.compute(queue, state, buffers, compute); }
}

template <class N>
std::size_t RankMesh<N>::payload_bytes(const MeshParameters& parameters, MeshMethod method, int ranks)
{
    if (parameters.order == 0 || ranks == 1) { return 0; }
    const mesh::Layout layout = MeshTransforms<typename N::Real>(parameters).layout();
    if (method_for(method) == MeshMethod::Gathered)
    {
        const MeshCut cut = gathered_cut(parameters.points, parameters.order, ranks);
        return MeshPatch<N>::payload_bytes(cut, layout, 0, Potentials::StayThere);
    }
    const MeshCut cut = dealt_cut(parameters.points, parameters.order, ranks);
    std::size_t most = 0;
    for (int rank = 0; rank < ranks; ++rank)
    {
        most = std::max(most, MeshPatch<N>::payload_bytes(cut, layout, rank, Potentials::ComeBack) +
                                  MeshSpectrum<typename N::Real>::payload_bytes(cut, layout, rank));
    }
    return most;
}

#define PARHELION_INSTANTIATE(N) template class RankMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
