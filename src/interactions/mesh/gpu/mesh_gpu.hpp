// SPDX-License-Identifier: Apache-2.0
// The reciprocal-space part of smooth particle-mesh Ewald on one GPU: what interactions/mesh/mesh.hpp is on CPUs, for any grid
// and spline order, one kernel after another:
//
//   spread   charges to a grid: of a supercluster's atoms in shared memory, then by atomic sums (point_box.cuh)
//   fft      forward, by cuFFT (fft_gpu.hpp)
//   solve    multiply by the influence function; energy and virial where they are asked for
//   fft      backward: the grid holds potentials
//   gather   forces, by the derivatives of the splines
//
// The kernel that has read the charges last clears them for the next step, so that spreading begins with the step.
//
// Positions are fractions of the box, and the box is read from device memory: nothing here follows the box on the host, so that
// the chain may be captured in a graph and replayed under pressure coupling. In reproducible policies charges are added as
// integers and a force is a sum of planes, each rounded by itself: the result does not depend on the order of atoms.
//
// Cost: about 14 passes over the grid in seven launches, which is what small grids wait for; order^3 sums in shared memory and as
// many loads per atom.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/force_buffers.hpp"
#include "interactions/mesh/gpu/fft_gpu.hpp"
#include "interactions/mesh/gpu/mesh_atoms_gpu.hpp"
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

    void spread(GpuQueue& queue, GpuState<N>& state);
    void solve(GpuQueue& queue, GpuState<N>& state, Compute compute);

    MeshParameters parameters_;
    GpuFft<Real> fft_;
    DeviceBuffer<double> inverse_moduli_;        // of x, y and z, one after another
    DeviceBuffer<ChargeSum> charges_;            // [x][y][z]; nothing between one use and the next
    DeviceBuffer<Real> grid_;                    // [x][y][z]: charges in reproducible policies, then potentials
    DeviceBuffer<ChargeSum*> charge_planes_;     // of charges_, by x
    DeviceBuffer<Real*> potential_planes_;       // of grid_
    DeviceBuffer<GpuComplex<Real>> transformed_; // [x][y][kz]
};

} // namespace parhelion
