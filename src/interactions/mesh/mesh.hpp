// SPDX-License-Identifier: Apache-2.0
// The reciprocal-space part of smooth particle-mesh Ewald (Essmann et al., J. Chem. Phys. 103, 8577 (1995)) on CPUs.
//
//   spread   charges to a grid, by B-splines: a thread owns planes of the grid, and adds the charges of all atoms near them
//   fft      along z and y, a plane at a time
//   solve    along x: transform, multiply by the influence function, transform back
//   fft      back along y and z: the grid holds potentials
//   gather   forces, by the derivatives of the splines
//
// Tin-foil boundary; a net charge is neutralised by a uniform background. Excluded pairs and the self energy belong to the pair
// forces (interactions/pair/nonbonded.hpp). Forces do not add up to zero exactly: the error of the grid (Essmann et al., section
// 4).
#pragma once

#include "interactions/force_buffers.hpp"
#include "interactions/mesh/line_fft.hpp"
#include "interactions/mesh/mesh_kernels.hpp"
#include "interactions/mesh/mesh_parameters.hpp"

#include <array>
#include <vector>

namespace parhelion {

template <class N>
class Mesh
{
public:
    Mesh() = default; // of a run without PME
    Mesh(const Topology& topology, const RunParameters& run, const Vec3<double>& box);

    bool is_used() const { return parameters_.order > 0; }
    const std::array<int, 3>& points() const { return layout_.points; }

    // Adds the forces of home atoms to buffers.forces[thread] and, on request, the energy and virial to buffers.energies[0]. The
    // state holds all atoms of the system. In reproducible policies the result does not depend on threads or the order of atoms.
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute);

private:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    void follow_box(const Vec3<double>& box);
    void sort_atoms(CpuQueue& queue, const ParticleState<N>& state);
    void spread(CpuQueue& queue, const ParticleState<N>& state);
    void transform(CpuQueue& queue, Compute compute);
    void gather(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers);
    void add_energy(EnergySums<N>& energies) const;
    mesh::Atoms<N> atoms(const ParticleState<N>& state, std::size_t begin, std::size_t end) const;

    MeshParameters parameters_;
    Vec3<double> box_; // that influence_ is of
    mesh::Layout layout_;
    std::vector<LineFft<Real>> fft_; // x, y, z
    mesh::Influence<Real> influence_;

    AlignedVector<ChargeSum> charges_; // apart from grid_ in reproducible policies only
    AlignedVector<Real> grid_, re_, im_;
    std::vector<AlignedVector<Real>> work_;          // [thread]
    std::vector<mesh::LineSums> line_sums_;          // [y]
    std::vector<std::int32_t> plane_of_slot_;        // -1: no charge
    std::vector<std::int32_t> sorted_;               // slots with charge by plane, then by slot
    std::vector<std::size_t> first_of_plane_;        // in sorted_; one more than planes
    std::vector<std::vector<std::size_t>> in_plane_; // [thread][plane]: how many, then where they go
};

// Mesh::compute() where the run has PME.
template <class N>
void compute_mesh(CpuQueue& queue, Mesh<N>& mesh, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute)
{
    if (mesh.is_used()) { mesh.compute(queue, state, buffers, compute); }
}

} // namespace parhelion
