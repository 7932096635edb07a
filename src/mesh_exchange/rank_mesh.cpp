// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/rank_mesh.hpp"

#include "base/error.hpp"
#include "mesh_exchange/bricks.hpp"
#include "mesh_exchange/dedicated.hpp"
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
    case MeshMethod::Dedicated:
        if (setup.cut.has_mesh(comm.rank())) { return std::make_unique<VisitorsMesh<N>>(setup, comm); }
        return std::make_unique<MeshElsewhere<N>>(setup, comm);
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
    const auto add = [&](const MeshSetup& of_one) {
        if (comm.ranks() == 1) { lone_.emplace_back(of_one.parameters); }
        else { shared_.push_back(make_shared_mesh<N>(of_one, comm)); }
    };
    add(setup);
    for (std::size_t i = 0; i < setup.dispersion.size(); ++i) { add(setup.of_dispersion(i)); }
}

template <class N>
void RankMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                          const MeshWeights& weights)
{
    for (Mesh<N>& mesh : lone_) { mesh.compute(queue, state, buffers, compute, weights); }
    for (const auto& mesh : shared_) { mesh->compute(queue, state, buffers, compute, weights); }
}

template <class N>
void RankMesh<N>::add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state)
{
    for (Mesh<N>& mesh : lone_) { mesh.add_rest(queue, weights, state); }
    for (const auto& mesh : shared_) { mesh->add_rest(queue, weights, state); }
}

template <class N>
std::size_t RankMesh<N>::payload_bytes(const MeshSetup& setup)
{
    if (setup.parameters.order == 0 || setup.cut.ranks() == 1) { return 0; }
    const mesh::Layout layout = MeshTransforms<typename N::Real>(setup.parameters).layout();
    using Spectrum = MeshSpectrum<typename N::Real>;
    const auto of_rank = [&](int rank) -> std::size_t {
        switch (setup.method)
        {
        case MeshMethod::Gathered:
            return MeshPatch<N>::payload_bytes(setup.cut, layout, rank, Potentials::StayThere);
        case MeshMethod::Dedicated: // messages of atoms fit into memory that is counted for halos
            return setup.cut.has_mesh(rank) ? Spectrum::payload_bytes(setup.cut, layout, rank) : 0;
        default:
            return MeshPatch<N>::payload_bytes(setup.cut, layout, rank, Potentials::ComeBack) +
                   Spectrum::payload_bytes(setup.cut, layout, rank);
        }
    };
    std::size_t most = 0;
    for (int rank = 0; rank < setup.cut.ranks(); ++rank) { most = std::max(most, of_rank(rank)); }
    return most * (1 + setup.dispersion.size());
}

template <class N>
std::size_t RankMesh<N>::bytes(const MeshSetup& setup, int rank, int cells_x, std::size_t slots, int threads)
{
    return bytes_of_one(setup, rank, cells_x, slots, threads) * (1 + setup.dispersion.size());
}

// Counts grids, spectra, work areas and lists of atoms. Neglects tables whose length is that of one row.
template <class N>
std::size_t RankMesh<N>::bytes_of_one(const MeshSetup& setup, int rank, int cells_x, std::size_t slots, int threads)
{
    using Real = typename N::Real;
    if (setup.parameters.order == 0) { return 0; }
    const mesh::Layout layout = MeshTransforms<Real>(setup.parameters).layout();
    const auto points = static_cast<std::size_t>(layout.points[0]), all_rows = static_cast<std::size_t>(layout.points[1]);
    const auto grid = [&](std::size_t planes) { return MeshGrid<N>::bytes(planes * layout.plane()); };
    const auto spectrum = [&](std::size_t planes, std::size_t rows) {
        return planes * rows * layout.spectrum_row() * sizeof(Real);
    };
    const std::size_t of_threads = static_cast<std::size_t>(threads) * mesh::work_size(layout) * sizeof(Real);
    const std::size_t atoms = 2 * slots * sizeof(std::int32_t); // the atoms' planes, and the order of atoms
    const std::size_t whole = grid(points) + spectrum(points, all_rows) + of_threads + atoms;
    if (setup.cut.ranks() == 1) { return whole; }
    // The planes of a cell, plus the planes that the splines of its atoms reach.
    const std::size_t patch_planes =
        std::min(points, points / static_cast<std::size_t>(cells_x) + 1 + static_cast<std::size_t>(setup.parameters.order));
    const std::size_t patch_charges = patch_planes * layout.plane() * sizeof(mesh::ChargeSum<N>);
    if (setup.method == MeshMethod::Gathered) { return whole + patch_charges + atoms; }
    const auto r = static_cast<std::size_t>(rank);
    const auto planes = static_cast<std::size_t>(setup.cut.planes[r].count),
               rows = static_cast<std::size_t>(setup.cut.rows[r].count);
    const std::size_t own = grid(planes) + spectrum(planes, rows) + of_threads + atoms;
    if (setup.method == MeshMethod::Dedicated)
    {
        return setup.cut.has_mesh(rank) ? own + slots * VisitorsMesh<N>::bytes_of_visitor : atoms;
    }
    // With `shared` the patch is used only in steps in which atoms are too far outside of their cells.
    return setup.method == MeshMethod::Shared ? own : own + patch_charges + patch_planes * layout.plane() * sizeof(Real);
}

#define PARHELION_INSTANTIATE(N) template class RankMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
