// SPDX-License-Identifier: Apache-2.0
// The atoms of the mesh. MeshAtoms sorts them by the first plane of the grid that they reach, spreads charges to planes, and
// gathers forces. A thread owns planes and adds the charges of all atoms that reach them, so no two threads write one number.
//
// The planes may be the whole grid or some neighbouring planes of it. Atoms add
// charges only to these planes, and get only the forces that these planes exert.
#pragma once

#include "interactions/force_buffers.hpp"
#include "interactions/mesh/mesh_charges.hpp"
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
    MeshAtoms(const mesh::Layout& layout, int order, const MeshCharges<N>& charges = {})
        : layout_(layout), order_(order), charge_(charges)
    {
    }

    const MeshCharges<N>& charges() const { return charge_; }

    // Selects the charged atoms of the first `clusters` clusters that reach the planes. The functions below use these atoms.
    void sort(CpuQueue& queue, const ParticleState<N>& state, std::size_t clusters, const mesh::PlaneRange& planes);
    const std::vector<std::int32_t>& slots() const { return sorted_; } // returns them sorted by plane, then by slot

    // Spreads charges to the numbers [planes][y][row]. It overwrites all of these numbers.
    void spread(CpuQueue& queue, const ParticleState<N>& state, ChargeSum* charges) const;
    // Adds the forces of potentials, times `weight`, to buffers.forces[thread] or, in the second function, to f, indexed by slot.
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
    MeshCharges<N> charge_;
    AlignedVector<Real> strengths_; // strengths of the atoms by slot, on a mesh of dispersion
    mesh::PlaneRange planes_;
    std::vector<std::int32_t> plane_of_slot_;        // by slot: first plane reached, within planes_; -1: none, or no charge
    std::vector<std::int32_t> sorted_;               // slots, sorted by plane, then by slot
    std::vector<std::size_t> first_of_plane_;        // index in sorted_ of each plane's first atom; one more than the planes
    std::vector<std::vector<std::size_t>> in_plane_; // [thread][plane]: number of atoms; later the place of the next atom
};

} // namespace parhelion
