// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/spectrum.cuh"

#include "interactions/mesh/gpu/fft/mesh_transforms.cuh"
#include "mesh_exchange/gpu/peer_exchange.cuh"

namespace parhelion {

namespace {

// The kernels that exchange messages.
enum Kernel : std::size_t
{
    forward,
    along_x,
    backward,
    kernels
};

std::size_t size_of(const mesh::PlaneRange& range) { return static_cast<std::size_t>(range.count); }

// The exchange policy of kernels that are launched early.
struct EarlyPeers : PeerExchange
{
};

} // namespace

template <>
struct ExchangeGrants<EarlyPeers>
{
    static constexpr int most_radix = mesh_transforms::small_radix;
    static constexpr bool begins_early = true;
};

template <class N>
GpuMeshSpectrum<N>::GpuMeshSpectrum(GpuQueue& queue, const GpuMeshMemory& memory, int rank)
    : memory_(memory), rank_(rank),
      transforms_(queue, memory.setup.parameters, memory.setup.cut.planes[static_cast<std::size_t>(rank)].count)
{
    // A kernel that is launched early keeps its places while it waits, which a rank on the same GPU may need to send.
    begins_early_ = !memory.shares_gpus && queue.launches_early() && transforms_.has_radices_up_to(mesh_transforms::small_radix);
    const MeshCut& cut = memory.setup.cut;
    const auto here = static_cast<std::size_t>(rank);
    const auto nx = static_cast<std::size_t>(cut.points[0]), kz = static_cast<std::size_t>(cut.points[2] / 2 + 1);
    queue.make_current();
    own_.resize(size_of(cut.planes[here]) * size_of(cut.rows[here]) * kz);
    done_.resize(kernels);
    done_.clear(queue);
    const auto sent = [&](const std::optional<GpuPeerEnds>& ends, int peer) {
        return peer == rank ? own_.data() : reinterpret_cast<Complex*>(ends->stored(rank, peer));
    };
    const auto received = [&](const std::optional<GpuPeerEnds>& ends, int peer) {
        return peer == rank ? own_.data() : reinterpret_cast<Complex*>(ends->arrived(peer, rank));
    };
    std::vector<PlaneRow<Real>> there(static_cast<std::size_t>(cut.points[1])), back(there.size());
    std::vector<const Complex*> from(nx);
    std::vector<Complex*> to(nx);
    for (int peer = 0; peer < cut.ranks(); ++peer)
    {
        if (peer != rank && !memory.there) { continue; } // no messages: this rank has all planes and rows
        const auto p = static_cast<std::size_t>(peer);
        const mesh::PlaneRange &rows = cut.rows[p], &planes = cut.planes[p];
        for (std::size_t i = 0; i < size_of(rows); ++i)
        {
            const std::size_t y = static_cast<std::size_t>(rows.first) + i;
            const auto per_plane = static_cast<std::int64_t>(size_of(rows) * kz);
            there[y] = {sent(memory.there, peer) + i * kz, per_plane};
            back[y] = {received(memory.back, peer) + i * kz, per_plane};
        }
        for (int i = 0; i < planes.count; ++i)
        {
            const auto x = static_cast<std::size_t>(planes.plane(i, cut.points[0]));
            const std::size_t first = static_cast<std::size_t>(i) * size_of(cut.rows[here]) * kz;
            from[x] = received(memory.there, peer) + first;
            to[x] = sent(memory.back, peer) + first;
        }
    }
    there_.upload(queue, there), back_.upload(queue, back), from_.upload(queue, from), to_.upload(queue, to);
    queue.synchronize(); // waits until the host's tables are copied
}

// Returns the argument by which a kernel receives the messages of one exchange and sends those of another, if each is given.
template <class N>
PeerExchange GpuMeshSpectrum<N>::exchange(std::size_t kernel, const std::optional<GpuPeerEnds>& receives,
                                          const std::optional<GpuPeerEnds>& sends)
{
    PeerExchange result{.done = done_.data() + kernel};
    if (sends) { result.ends = sends->of(rank_), result.senders = result.ends.senders; }
    if (receives) { result.ends = receives->of(rank_), result.receivers = result.ends.receivers; }
    return result;
}

template <class N>
template <class Body>
void GpuMeshSpectrum<N>::with_policy(const PeerExchange& exchange, Body&& body)
{
    if constexpr (GpuMeshTransforms<N>::has_two_passes)
    {
        if (begins_early_) { return body(EarlyPeers{exchange}); }
    }
    body(exchange);
}

template <class N>
void GpuMeshSpectrum<N>::send(GpuQueue& queue, ChargeSum* charges)
{
    with_policy(exchange(forward, {}, memory_.there),
                [&](const auto& policy) { transforms_.forward(queue, charges, there_.data(), policy); });
}

template <class N>
void GpuMeshSpectrum<N>::solve(GpuQueue& queue, GpuState<N>& state, Compute compute)
{
    const MeshCut& cut = memory_.setup.cut;
    const auto here = static_cast<std::size_t>(rank_);
    with_policy(exchange(along_x, memory_.there, memory_.back), [&](const auto& policy) {
        transforms_.solve(queue, {cut.rows[here], cut.sums[here], from_.data(), to_.data()}, state, compute, policy);
    });
}

template <class N>
void GpuMeshSpectrum<N>::find_potentials(GpuQueue& queue, Real* potentials)
{
    with_policy(exchange(backward, memory_.back, {}),
                [&](const auto& policy) { transforms_.backward(queue, back_.data(), potentials, policy); });
}

#define PARHELION_INSTANTIATE(N) template class GpuMeshSpectrum<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
