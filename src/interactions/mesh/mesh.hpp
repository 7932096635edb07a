// SPDX-License-Identifier: Apache-2.0
// The reciprocal-space part of smooth particle-mesh Ewald (Essmann et al., J. Chem. Phys. 103, 8577 (1995)) on CPUs.
//
//   spread   adds charges to a grid, by B-splines; a thread owns planes of the grid and adds the charges of all atoms near them
//   fft      transforms charges along z and y, a plane at a time
//   solve    transforms along x, multiplies by the influence function, and transforms back
//   fft      transforms back along y and z, so that the grid holds potentials
//   gather   computes forces from the potentials, by the derivatives of the splines
//
// The boundary condition is tin-foil. A uniform background neutralises a net charge. Excluded
// pairs and the self energy belong to the pair forces (interactions/pair/nonbonded.hpp). The sum
// of forces is not exactly zero, because of the error of the grid (Essmann et al., section 4).
#pragma once

#include "base/box.hpp"
#include "interactions/mesh/mesh_atoms.hpp"
#include "interactions/mesh/mesh_transforms.hpp"
#include "interactions/mesh/mesh_weights.hpp"

#include <array>
#include <vector>

namespace parhelion {

// The numbers on some planes of a grid, [plane][y][row]: first the charges, then the potentials that are computed from them.
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
    ChargeSum* charges(); // returns the array for charges, which is a separate one in reproducible policies
    Real* values() { return values_.data(); }
    // Converts the sums of charges at indices [begin, end) to numbers.
    void finish_charges(std::size_t begin, std::size_t end);

private:
    AlignedVector<ChargeSum> charges_; // unused unless the policy is reproducible
    AlignedVector<Real> values_;
};

// The mesh of a rank that has the whole grid.
template <class N>
class Mesh
{
public:
    Mesh() = default; // makes an empty object, for a run without PME
    explicit Mesh(const MeshParameters& parameters);
    Mesh(const Topology& topology, const RunParameters& run, const Box<double>& box);

    bool is_used() const { return order_ > 0; }
    const std::array<int, 3>& points() const { return transforms_.layout().points; }

    // Adds the forces on home atoms, times weights.first, to buffers.forces[thread]. On request adds
    // energy and virial, once, to buffers.energies[0]. The state holds all atoms of the system. In
    // reproducible policies the result depends neither on the number of threads nor on the order of atoms.
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights = {});
    // Adds the forces on home atoms that compute() found for this state, times weights.rest, to state.f.
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state);

    // The following are the parts of compute(), for callers that also add charges of atoms outside of the state: sort
    // the atoms that get forces, turn charges into potentials and sum some rows of the spectrum, and gather forces.
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
    std::vector<Real*> rows_, planes_; // rows of spectrum_, [x][y]; first number of each of its planes
};

// Calls compute() of Mesh<N> or RankMesh<N> if the run uses PME and the mesh is due in this step.
template <class N, template <class> class AnyMesh>
void compute_mesh(CpuQueue& queue, AnyMesh<N>& mesh, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                  const MeshWeights& weights = {})
{
    if (mesh.is_used() && weights.first != 0) { mesh.compute(queue, state, buffers, compute, weights); }
}

} // namespace parhelion
