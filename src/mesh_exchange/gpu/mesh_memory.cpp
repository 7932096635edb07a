// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/mesh_memory.hpp"

#include "base/error.hpp"
#include "interactions/mesh/mesh_kernels.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace parhelion {

namespace {

// An exchange of a method: what it carries, the slots per channel, and the bytes of a message.
struct Exchange
{
    using Bytes = std::size_t (*)(const MeshCut& cut, std::size_t source, std::size_t destination);

    const char* content;
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
    // If each exchange of charges follows another one of charges directly, two slots are needed.
    const Exchange charges{"charges", &GpuMeshMemory::charges, method == MeshMethod::Gathered ? 2 : 1,
                           [](const MeshCut& cut, std::size_t, std::size_t owner) {
                               return Message::bytes(rows_of_planes(cut, owner), row_of(cut));
                           }};
    const Exchange there{"spectrum there", &GpuMeshMemory::there, 1, spectrum_bytes<Real>};
    const Exchange back{"spectrum back", &GpuMeshMemory::back, 1,
                        [](const MeshCut& cut, std::size_t source, std::size_t destination) {
                            return spectrum_bytes<Real>(cut, destination, source);
                        }};
    const Exchange potentials{"potentials", &GpuMeshMemory::potentials, 1,
                              [](const MeshCut& cut, std::size_t owner, std::size_t) {
                                  return rows_of_planes(cut, owner) * row_of(cut) * sizeof(Real);
                              }};
    switch (method)
    {
    case MeshMethod::Gathered:
        return {charges};
    case MeshMethod::Shared:
    case MeshMethod::Dedicated: // an exchange among mesh ranks
        return {there, back};
    default:
        return {charges, there, back, potentials};
    }
}

std::vector<int> ranks_from(int first, int end)
{
    std::vector<int> ranks(static_cast<std::size_t>(end - first));
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
}

bool has_visits(const MeshSetup& setup) { return setup.cut.first_mesh_rank > 0; }

template <class N>
std::size_t inbox_bytes(const MeshCut& cut, std::size_t slots)
{
    return static_cast<std::size_t>(cut.first_mesh_rank) * (slots * sizeof(PositionCharge<N>) + slots / supercluster_size);
}
template <class N>
std::size_t answer_bytes(const MeshCut& cut, std::size_t slots)
{
    return static_cast<std::size_t>(cut.ranks() - cut.first_mesh_rank) * slots * sizeof(ForceSlot<N>);
}

} // namespace

template <class N>
std::size_t gpu_visit_bytes(const MeshSetup& setup, std::size_t slots)
{
    if (!has_visits(setup)) { return 0; }
    return round_up_window(std::max(inbox_bytes<N>(setup.cut, slots), answer_bytes<N>(setup.cut, slots)));
}

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
    return (1 + setup.dispersion.size()) * most; // all have the same grid
}

namespace {

// Lays out the memory of the mesh of setup.parameters.
template <class N>
GpuMeshMemory memory_of_one(GpuWorld& world, const MeshSetup& setup, std::size_t slots)
{
    GpuMeshMemory memory{.setup = setup,
                         .shares_gpus = world.ranks_share_gpus(),
                         .charges = {},
                         .there = {},
                         .back = {},
                         .potentials = {},
                         .visits = {}};
    const std::vector<int> with_atoms = ranks_from(0, setup.cut.first_mesh_rank),
                           with_mesh = ranks_from(setup.cut.first_mesh_rank, setup.cut.ranks());
    // The channels have no credits: docs/design/communication.md says why; models mesh_exchange.pml, mesh_dedicated.pml.
    for (const Exchange& exchange : exchanges_of<N>(setup.method))
    {
        (memory.*exchange.ends)
            .emplace(world, with_mesh, fmt::format("{} {}", setup.label, exchange.content), [&](int source, int destination) {
                return ChannelOptions{
                    exchange.depth, Credits::No,
                    exchange.bytes(setup.cut, static_cast<std::size_t>(source), static_cast<std::size_t>(destination))};
            });
    }
    if (!has_visits(setup)) { return memory; }
    const auto signals_alone = [](int, int) { return ChannelOptions{1, Credits::No}; };
    memory.visits.emplace(GpuVisits{.world = &world,
                                    .cut = setup.cut,
                                    .atoms = GpuPeerEnds(world, with_atoms, with_mesh, "mesh atoms", signals_alone),
                                    .forces = GpuPeerEnds(world, with_mesh, with_atoms, "mesh forces", signals_alone),
                                    .inbox = {},
                                    .answers = {}});
    make_room_for_visits<N>(memory, slots);
    return memory;
}

} // namespace

template <class N>
std::vector<GpuMeshMemory> make_gpu_mesh_memory(GpuWorld& world, const MeshSetup& setup, std::size_t slots)
{
    PARHELION_EXPECTS(setup.dispersion.empty() || !has_visits(setup));
    std::vector<GpuMeshMemory> memory;
    memory.push_back(memory_of_one<N>(world, setup, slots));
    for (std::size_t i = 0; i < setup.dispersion.size(); ++i)
    {
        memory.push_back(memory_of_one<N>(world, setup.of_dispersion(i), slots));
    }
    return memory;
}

template <class N>
void make_room_for_visits(GpuMeshMemory& memory, std::size_t slots)
{
    if (!memory.visits) { return; }
    GpuVisits& visits = *memory.visits;
    PARHELION_EXPECTS(slots % supercluster_size == 0);
    const auto replace = [&](std::optional<Window>& window, int first, int end, std::size_t bytes) {
        const std::vector<int> group = ranks_from(first, end);
        if (window) { visits.world->release(group, *window); }
        window = visits.world->allocate(group, bytes);
    };
    const int border = visits.cut.first_mesh_rank;
    replace(visits.inbox, border, visits.cut.ranks(), inbox_bytes<N>(visits.cut, slots));
    replace(visits.answers, 0, border, answer_bytes<N>(visits.cut, slots));
    visits.capacity = slots;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::size_t gpu_mesh_bytes<N>(const MeshSetup&);                                                                    \
    template std::size_t gpu_visit_bytes<N>(const MeshSetup&, std::size_t);                                                      \
    template std::vector<GpuMeshMemory> make_gpu_mesh_memory<N>(GpuWorld&, const MeshSetup&, std::size_t);                       \
    template void make_room_for_visits<N>(GpuMeshMemory&, std::size_t);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
