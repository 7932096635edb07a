// SPDX-License-Identifier: Apache-2.0
// The numbers that a mesh spreads and multiplies potentials by, on a GPU: charges or, on a mesh of dispersion (LJ-PME), the
// strengths of atom types. On CPUs it is interactions/mesh/mesh_charges.hpp.
//
// The idea: kernels that spread and gather load an atom's position and charge at once. For dispersion they get a copy of the
// atoms that has strengths in place of charges. Cost: nothing for charges; a copy of 16 bytes an atom and step for dispersion.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstddef>

namespace parhelion {

template <class N>
class GpuMeshCharges
{
public:
    GpuMeshCharges() = default; // of charges
    // Waits for the GPU if the mesh is of dispersion.
    GpuMeshCharges(GpuQueue& queue, const MeshParameters& parameters);

    // Allocates memory for `slots` slots. Call it before a take() that must not allocate.
    void make_room(std::size_t slots);
    // Queues the copy of the atoms for this step's positions, and returns it; null for charges, which `state` has.
    PositionCharge<N>* take(GpuQueue& queue, const GpuState<N>& state);
    // Returns what take() has returned.
    PositionCharge<N>* atoms() { return is_of_dispersion() ? atoms_.data() : nullptr; }

private:
    bool is_of_dispersion() const { return strength_of_type_.size() > 0; }

    DeviceBuffer<typename N::Real> strength_of_type_; // the last element belongs to fillers; empty for a mesh of charges
    DeviceBuffer<PositionCharge<N>> atoms_;           // by slot
};

} // namespace parhelion
