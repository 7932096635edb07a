// SPDX-License-Identifier: Apache-2.0
// The reciprocal-space part of smooth particle-mesh Ewald on one GPU, for any grid and
// spline order. On CPUs it is interactions/mesh/mesh.hpp. Kernels run one after the other:
//
//   spread   adds charges to a grid: a supercluster's atoms in shared memory, then by atomic sums (point_box.cuh)
//   fft      transforms planes along z and y, by cuFFT (fft_gpu.hpp) or, in reproducible policies, by our own kernel
//   solve    transforms along x, multiplies by the influence function, transforms back; sums energy and virial on request
//   fft      transforms planes back, so that the grid holds potentials
//   gather   computes forces, by the derivatives of the splines
//
// With few atoms this chain lasts as long as the concurrent pair kernel, and mostly waits for free multiprocessors. A kernel gets
// them only when the kernel before it has ended. With few atoms, therefore, the transforms are our own kernels, and each occupies
// its multiprocessors while the kernel before runs (LaunchShape::begins_early). With more atoms cuFFT's kernels cost less.
//
// Charges are cleared when they have been read, so the next step can begin with spreading.
//
// Positions are fractions of the box, which is in device memory. Nothing on the host depends on the box, so
// the chain may be captured in a graph and replayed under pressure coupling. Reproducible policies add charges
// as integers and round each plane's part of a force, so their results do not depend on the order of atoms.
//
// Cost: about 10 passes over the grid in some seven launches, whose latency dominates
// for small grids. Per atom it takes order^3 sums in shared memory and as many loads.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/force_buffers.hpp"
#include "interactions/mesh/gpu/fft/fft_gpu.hpp"
#include "interactions/mesh/gpu/fft/mesh_transforms.hpp"
#include "interactions/mesh/gpu/mesh_atoms_gpu.hpp"
#include "interactions/mesh/gpu/mesh_charges_gpu.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "interactions/mesh/mesh_weights.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <array>

namespace parhelion {

template <class N>
class GpuMesh
{
public:
    GpuMesh() = default; // makes an empty object, for a run without PME
    // Makes the mesh and waits for uploads. Throws DeviceError.
    GpuMesh(GpuQueue& queue, const MeshParameters& parameters);

    bool is_used() const { return parameters_.order > 0; }

    // Allocates memory for `slots` slots. Call it before a compute() that must not allocate.
    void make_room(std::size_t slots) { charges_of_.make_room(slots); }
    // Queues kernels that add the forces on all atoms of a single rank, times weights.first, to state.f. On
    // request they add energy and virial, once, to state.energies. Only one queue at a time may use the object.
    void compute(GpuQueue& queue, GpuState<N>& state, Compute compute, const MeshWeights& weights = {});
    // Queues a kernel that adds the forces of compute() at these positions, times weights.rest, to state.f. One queue at a time.
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state);

private:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    static constexpr std::size_t few_atoms = 30'000; // our kernels win at 24 000 atoms, cuFFT at 45 000 (bench/gpu/mesh/log.md)
    static constexpr bool uses_cufft = N::summation != Summation::Reproducible;

    // Queues our own kernels that turn charges into potentials. Does nothing if the numeric policy has no such kernel.
    template <class Exchange>
    void transform(GpuQueue& queue, const SolvedRows<Real>& rows, GpuState<N>& state, Compute compute, const Exchange& exchange);

    MeshParameters parameters_;
    GpuMeshCharges<N> charges_of_;
    GpuMeshTransforms<N> transforms_;
    GpuFft<Real> fft_;                         // unused if the transforms are our own
    DeviceBuffer<ChargeSum> charges_;          // [x][y][z]; zero between two uses
    DeviceBuffer<Real> potentials_;            // [x][y][z]
    DeviceBuffer<ChargeSum*> charge_planes_;   // indexed by x
    DeviceBuffer<Real*> potential_planes_;     // indexed by x
    DeviceBuffer<GpuComplex<Real>> spectrum_;  // [x][y][kz]
    DeviceBuffer<PlaneRow<Real>> rows_;        // rows of the spectrum, by y
    DeviceBuffer<GpuComplex<Real>*> x_planes_; // planes of the spectrum, by x
};

} // namespace parhelion
