// SPDX-License-Identifier: Apache-2.0
// The reciprocal-space part of smooth particle-mesh Ewald on one GPU: what interactions/mesh/mesh.hpp is on CPUs, for any grid
// and spline order, one kernel after another:
//
//   spread   charges to a grid: of a supercluster's atoms in shared memory, then by atomic sums (point_box.cuh)
//   fft      of planes, along z and y, by cuFFT (fft_gpu.hpp); in reproducible policies by our own kernel, as on several GPUs
//   solve    along x, times the influence function, and back; energy and virial where they are asked for
//   fft      of planes, back: the grid holds potentials
//   gather   forces, by the derivatives of the splines
//
// Charges are cleared when they have been read, for the next step, so that spreading begins with the step.
//
// Positions are fractions of the box, and the box is read from device memory: nothing here follows the box on the host, so that
// the chain may be captured in a graph and replayed under pressure coupling. In reproducible policies charges are added as
// integers and a force is a sum of planes, each rounded by itself: the result does not depend on the order of atoms.
//
// Cost: about 10 passes over the grid in some seven launches, which is what small grids wait for; order^3 sums in shared memory
// and as many loads per atom.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/force_buffers.hpp"
#include "interactions/mesh/gpu/fft_gpu.hpp"
#include "interactions/mesh/gpu/mesh_atoms_gpu.hpp"
#include "interactions/mesh/gpu/mesh_transforms.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "interactions/mesh/mesh_weights.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <array>

namespace parhelion {

template <class N>
class GpuMesh
{
public:
    GpuMesh() = default; // of a run without PME
    // Waits. Throws DeviceError.
    GpuMesh(GpuQueue& queue, const MeshParameters& parameters);

    bool is_used() const { return parameters_.order > 0; }

    // Adds the forces of all atoms, which are a lone rank's, weights.first times, to state.f, and on request energy and virial,
    // once, to state.energies. Queued; on one queue at a time.
    void compute(GpuQueue& queue, GpuState<N>& state, Compute compute, const MeshWeights& weights = {});
    // Adds the forces that compute() has found for these positions to state.f, weights.rest times. Likewise.
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state);

private:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    static constexpr bool uses_cufft = N::summation != Summation::Reproducible;

    MeshParameters parameters_;
    GpuMeshTransforms<N> transforms_;
    GpuFft<Real> fft_;                         // if it is used
    DeviceBuffer<ChargeSum> charges_;          // [x][y][z]; nothing between one use and the next
    DeviceBuffer<Real> potentials_;            // [x][y][z]
    DeviceBuffer<ChargeSum*> charge_planes_;   // by x
    DeviceBuffer<Real*> potential_planes_;     // by x
    DeviceBuffer<GpuComplex<Real>> spectrum_;  // [x][y][kz]
    DeviceBuffer<PlaneRow<Real>> rows_;        // of the spectrum, by y
    DeviceBuffer<GpuComplex<Real>*> x_planes_; // of the spectrum, by x
};

} // namespace parhelion
