// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/mesh_memory.hpp"

#include "interactions/mesh/mesh_kernels.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// An exchange of a method: its label, slots of a message, and bytes of one.
struct Exchange
{
    using Bytes = std::size_t (*)(const MeshCut& cut, std::size_t source, std::size_t destination);

    const char* label;
    std::optional<GpuPeerEnds> GpuMeshMemory::*ends;
    int depth;
    Bytes bytes;
};

std::size_t size_of(const mesh::PlaneRange& range) { return static_cast<std::size_t>(range.count); }
std::size_t row_of(const MeshCut& cut) { return static_cast<std::size_t>(cut.points[2]); }
std::size_t rows_of_planes(const MeshCut& cut, std::size_t rank)
{
    return size_of(cut.planes[rank]) * static_cast<std::size_t>(cut.points[1]);
}
template <class Real>
std::size_t spectrum_bytes(const MeshCut& cut, std::size_t has_planes, std::size_t has_rows)
{
    const auto kz = static_cast<std::size_t>(cut.points[2] / 2 + 1);
    return size_of(cut.planes[has_planes]) * size_of(cut.rows[has_rows]) * kz * 2 * sizeof(Real);
}

template <class N>
std::vector<Exchange> exchanges_of(MeshMethod method)
{
    using Real = typename N::Real;
    using Message = ChargeMessage<mesh::ChargeSum<N>>;
    // Charges that follow themselves need two slots.
    const Exchange charges{"mesh charges", &GpuMeshMemory::charges, method == MeshMethod::Gathered ? 2 : 1,
                           [](const MeshCut& cut, std::size_t, std::size_t owner) {
                               return Message::bytes(rows_of_planes(cut, owner), row_of(cut));
                           }};
    const Exchange there{"mesh spectrum there", &GpuMeshMemory::there, 1, spectrum_bytes<Real>};
    const Exchange back{"mesh spectrum back", &GpuMeshMemory::back, 1,
                        [](const MeshCut& cut, std::size_t source, std::size_t destination) {
                            return spectrum_bytes<Real>(cut, destination, source);
                        }};
    const Exchange potentials{"mesh potentials", &GpuMeshMemory::potentials, 1,
                              [](const MeshCut& cut, std::size_t owner, std::size_t) {
                                  return rows_of_planes(cut, owner) * row_of(cut) * sizeof(Real);
                              }};
    switch (method)
    {
    case MeshMethod::Gathered:
        return {charges};
    case MeshMethod::Shared:
        return {there, back};
    default:
        return {charges, there, back, potentials};
    }
}

} // namespace

template <class N>
std::size_t gpu_mesh_bytes(const MeshSetup& setup)
{
    const auto ranks = static_cast<std::size_t>(setup.cut.ranks());
    if (setup.parameters.order == 0 || ranks == 1) { return 0; }
    std::size_t most = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank)
    {
        std::size_t bytes = 0;
        for (const Exchange& exchange : exchanges_of<N>(setup.method))
        {
            for (std::size_t peer = 0; peer < ranks; ++peer)
            {
                if (peer == rank) { continue; }
                bytes += static_cast<std::size_t>(exchange.depth) * round_up_window(exchange.bytes(setup.cut, peer, rank));
            }
        }
        most = std::max(most, bytes);
    }
    return most;
}

template <class N>
GpuMeshMemory make_gpu_mesh_memory(GpuWorld& world, const MeshSetup& setup)
{
    GpuMeshMemory memory{.setup = setup, .charges = {}, .there = {}, .back = {}, .potentials = {}};
    for (const Exchange& exchange : exchanges_of<N>(setup.method))
    {
        // Without credits: docs/design/communication.md; model mesh_exchange.pml.
        (memory.*exchange.ends).emplace(world, world.all_ranks(), exchange.label, [&](int source, int destination) {
            return ChannelOptions{
                exchange.depth, Credits::No,
                exchange.bytes(setup.cut, static_cast<std::size_t>(source), static_cast<std::size_t>(destination))};
        });
    }
    return memory;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::size_t gpu_mesh_bytes<N>(const MeshSetup&);                                                                    \
    template GpuMeshMemory make_gpu_mesh_memory<N>(GpuWorld&, const MeshSetup&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
