// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/mesh_atoms.hpp"

#include <algorithm>
#include <utility>

namespace parhelion {

// Returns whether an atom of this plane, x, reaches one of planes_. It reaches planes x ... x + order - 1.
template <class N>
bool MeshAtoms<N>::reaches_planes(int plane) const
{
    return plane < planes_.count || plane + order_ > layout_.points[0];
}

// Sorts by counting: each thread counts its slots by plane, and finds their places from the counts of all threads.
template <class N>
void MeshAtoms<N>::sort(CpuQueue& queue, const ParticleState<N>& state, std::size_t clusters, const mesh::PlaneRange& of_planes)
{
    planes_ = of_planes;
    const int points = layout_.points[0];
    const auto planes = static_cast<std::size_t>(points);
    plane_of_slot_.resize(clusters * cluster_size);
    in_plane_.resize(static_cast<std::size_t>(queue.threads()));
    if (charge_.are_of_types()) { strengths_.resize(clusters * cluster_size); }
    queue.run([&](int thread) {
        std::vector<std::size_t>& count = in_plane_[static_cast<std::size_t>(thread)];
        count.assign(planes, 0);
        const auto [begin, end] = queue.range(clusters, 1, thread);
        for (std::size_t slot = begin * cluster_size; slot < end * cluster_size; ++slot)
        {
            plane_of_slot_[slot] = -1;
            const Real charge = charge_(state, slot);
            if (charge_.are_of_types()) { strengths_[slot] = charge; }
            if (charge == 0) { continue; }
            const int plane =
                planes_.from_first(mesh_place(state.x.get(slot).x, static_cast<std::uint32_t>(points)).point, points);
            if (!reaches_planes(plane)) { continue; }
            plane_of_slot_[slot] = plane;
            ++count[static_cast<std::size_t>(plane)];
        }
    });
    first_of_plane_.assign(planes + 1, 0);
    std::size_t before = 0;
    for (std::size_t plane = 0; plane < planes; ++plane)
    {
        first_of_plane_[plane] = before;
        for (std::vector<std::size_t>& count : in_plane_) { before += std::exchange(count[plane], before); }
    }
    first_of_plane_[planes] = before;
    sorted_.resize(before);
    queue.run([&](int thread) {
        std::vector<std::size_t>& next = in_plane_[static_cast<std::size_t>(thread)];
        const auto [begin, end] = queue.range(clusters, 1, thread);
        for (std::size_t slot = begin * cluster_size; slot < end * cluster_size; ++slot)
        {
            if (plane_of_slot_[slot] < 0) { continue; }
            sorted_[next[static_cast<std::size_t>(plane_of_slot_[slot])]++] = static_cast<std::int32_t>(slot);
        }
    });
}

template <class N>
mesh::Atoms<N> MeshAtoms<N>::atoms(const ParticleState<N>& state, std::size_t begin, std::size_t end) const
{
    const Real* const charges = charge_.are_of_types() ? strengths_.data() : state.charge.data();
    return {&layout_, order_, planes_, state.x.values().data(), charges, sorted_.data() + begin, sorted_.data() + end};
}

template <class N>
void MeshAtoms<N>::spread(CpuQueue& queue, const ParticleState<N>& state, ChargeSum* charges) const
{
    const int planes = layout_.points[0];
    queue.for_range(static_cast<std::size_t>(planes_.count), 1, [&](int, std::size_t begin, std::size_t end) {
        std::fill(charges + begin * layout_.plane(), charges + end * layout_.plane(), ChargeSum{});
        // Atoms of these planes, and of the order - 1 planes before them, reach these planes. No plane may be processed twice.
        const int first = static_cast<int>(begin), last = static_cast<int>(end), own = last - first;
        const int ahead = std::min(order_ - 1, planes - own);
        const auto spread_range = [&](int from, int to) {
            mesh::spread<N>(
                atoms(state, first_of_plane_[static_cast<std::size_t>(from)], first_of_plane_[static_cast<std::size_t>(to)]),
                first, last, charges);
        };
        if (first - ahead < 0) { spread_range(first - ahead + planes, planes); }
        spread_range(std::max(0, first - ahead), last);
        // Charges behind the end of a row belong to the first points of the row.
        for (ChargeSum* row = charges + begin * layout_.plane(); row != charges + end * layout_.plane(); row += layout_.row)
        {
            const auto points = static_cast<std::size_t>(layout_.points[2]);
            for (std::size_t z = layout_.row - 1; z >= points; --z) { row[z - points] += row[z]; }
        }
    });
}

// forces(thread) returns the array to which a thread adds. Each atom belongs to one thread.
template <class N>
template <class ForcesOfThread>
void MeshAtoms<N>::gather_to(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight,
                             ForcesOfThread&& forces) const
{
    const Box<double>& box = state.box.edges();
    mesh::GradientScale scale{{}, box.shear()};
    for (int d = 0; d < 3; ++d) { scale.per_spacing[d] = layout_.points[static_cast<std::size_t>(d)] / box.diagonal()[d]; }
    queue.for_range(sorted_.size(), cluster_size, [&](int thread, std::size_t begin, std::size_t end) {
        mesh::gather<N>(atoms(state, begin, end), potentials, scale, weight, forces(thread));
    });
}

template <class N>
void MeshAtoms<N>::gather(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight,
                          ForceBuffers<N>& buffers) const
{
    gather_to(queue, state, potentials, weight,
              [&](int thread) { return buffers.forces[static_cast<std::size_t>(thread)].values().data(); });
}

template <class N>
void MeshAtoms<N>::gather(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight,
                          ClusterArray<typename N::ForceSum>& f) const
{
    gather_to(queue, state, potentials, weight, [&](int) { return f.values().data(); });
}

#define PARHELION_INSTANTIATE(N) template class MeshAtoms<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
