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

#include "base/box.hpp"
#include "interactions/mesh/mesh_atoms.hpp"
#include "interactions/mesh/mesh_transforms.hpp"
#include "interactions/mesh/mesh_weights.hpp"

#include <array>
#include <vector>

namespace parhelion {

// The numbers on some planes of a grid, [plane][y][row]: charges, from which potentials are made.
template <class N>
class MeshGrid
{
public:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    void resize(std::size_t points);
    static std::size_t bytes(std::size_t points)
    {
        return points * (sizeof(Real) + (N::summation == Summation::Reproducible ? sizeof(ChargeSum) : 0));
    }
    ChargeSum* charges(); // reproducible policies keep sums of their own
    Real* values() { return values_.data(); }
    // Makes numbers of the sums of charges [begin, end).
    void finish_charges(std::size_t begin, std::size_t end);

private:
    AlignedVector<ChargeSum> charges_; // of reproducible policies only
    AlignedVector<Real> values_;
};

// The whole grid.
template <class N>
class Mesh
{
public:
    Mesh() = default; // of a run without PME
    explicit Mesh(const MeshParameters& parameters);
    Mesh(const Topology& topology, const RunParameters& run, const Box<double>& box);

    bool is_used() const { return order_ > 0; }
    const std::array<int, 3>& points() const { return transforms_.layout().points; }

    // Adds the forces of home atoms, weights.first times, to buffers.forces[thread] and, on request, the energy and virial, once,
    // to buffers.energies[0]. The state holds all atoms of the system. In reproducible policies the result does not depend on
    // threads or the order of atoms.
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights = {});
    // Adds the forces of home atoms that compute() found for this state to state.f, weights.rest times.
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state);

    // Its parts, for who adds charges of atoms that are not in the state: which atoms get forces, from charges to potentials,
    // with the sums of some rows of the spectrum, and forces.
    const mesh::Layout& layout() const { return transforms_.layout(); }
    MeshGrid<N>& grid() { return grid_; }
    void sort(CpuQueue& queue, const ParticleState<N>& state);
    void find_potentials(CpuQueue& queue, const Box<double>& box, const mesh::PlaneRange& summed, Compute compute);
    void gather(CpuQueue& queue, const ParticleState<N>& state, int weight, ForceBuffers<N>& buffers);
    const MeshTransforms<typename N::Real>& transforms() const { return transforms_; }

private:
    using Real = typename N::Real;

    int order_ = 0;
    MeshAtoms<N> atoms_;
    MeshTransforms<Real> transforms_;
    MeshGrid<N> grid_;
    AlignedVector<Real> spectrum_;
    std::vector<Real*> rows_, planes_; // of spectrum_: [x][y], and where planes begin
};

// compute() of Mesh<N> or RankMesh<N> where the run has PME and the step its mesh.
template <class N, template <class> class AnyMesh>
void compute_mesh(CpuQueue& queue, AnyMesh<N>& mesh, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                  const MeshWeights& weights = {})
{
    if (mesh.is_used() && weights.first != 0) { mesh.compute(queue, state, buffers, compute, weights); }
}

} // namespace parhelion
