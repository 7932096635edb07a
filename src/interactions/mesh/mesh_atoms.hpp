// SPDX-License-Identifier: Apache-2.0
// The mesh's atoms: sorted by the plane of the grid in which they begin, spread to planes and gathered from them. A thread owns
// planes and adds the charges of all atoms that reach them, so that no two threads write one number.
//
// The planes may be all of the grid or some neighbouring ones. Atoms add to those planes only and get what those contribute to
// their force.
#pragma once

#include "interactions/force_buffers.hpp"
#include "interactions/mesh/mesh_kernels.hpp"

#include <array>
#include <vector>

namespace parhelion {

template <class N>
class MeshAtoms
{
public:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    MeshAtoms() = default;
    MeshAtoms(const mesh::Layout& layout, int order) : layout_(layout), order_(order) {}

    // Takes the charged atoms of the first `clusters` clusters that reach the planes. What follows is of these atoms.
    void sort(CpuQueue& queue, const ParticleState<N>& state, std::size_t clusters, const mesh::PlaneRange& planes);
    const std::vector<std::int32_t>& slots() const { return sorted_; } // by plane, then by slot

    // charges: [planes][y][row], written whole.
    void spread(CpuQueue& queue, const ParticleState<N>& state, ChargeSum* charges) const;
    // Adds the forces of potentials, `weight` times, to buffers.forces[thread], or to f, which has the slots of all these atoms.
    void gather(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight,
                ForceBuffers<N>& buffers) const;
    void gather(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight,
                ClusterArray<typename N::ForceSum>& f) const;

private:
    template <class ForcesOfThread>
    void gather_to(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight,
                   ForcesOfThread&& forces) const;
    mesh::Atoms<N> atoms(const ParticleState<N>& state, std::size_t begin, std::size_t end) const;
    bool reaches_planes(int plane) const;

    mesh::Layout layout_;
    int order_ = 0;
    mesh::PlaneRange planes_;
    std::vector<std::int32_t> plane_of_slot_;        // counted from the first of planes_; -1: no charge, or elsewhere
    std::vector<std::int32_t> sorted_;               // slots by plane, then by slot
    std::vector<std::size_t> first_of_plane_;        // in sorted_; one more than planes of the box
    std::vector<std::vector<std::size_t>> in_plane_; // [thread][plane]: how many, then where they go
};

} // namespace parhelion
