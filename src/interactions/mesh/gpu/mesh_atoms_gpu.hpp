// SPDX-License-Identifier: Apache-2.0
// Spreads charges of atoms to planes of the mesh, and gathers forces from potentials, on a GPU. On CPUs: mesh/mesh_atoms.hpp.
//
// A table in device memory points to plane [y][z] of each x, or is null for a plane that gets
// no charge and exerts no force. The planes may be a whole grid, a rank's part of it, or parts
// of messages. Reproducible policies add charges as integers and round each plane's part of a
// force. Their results depend neither on the order of atoms nor on which rank has a plane.
//
// Cost per atom: order^3 sums in shared memory and as many loads; nothing for an atom without charge.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/mesh/mesh_kernels.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "interactions/mesh/plane_range.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace parhelion {

enum class MeshAtomsOf : std::uint8_t
{
    Home,
    Everybody // home and halo atoms
};

// Queues a kernel that makes the table of planes for `range`, and returns the table. `first` is the first of the adjacent planes.
template <class T>
DeviceBuffer<T*> mesh_planes(GpuQueue& queue, T* first, const std::array<int, 3>& points, const mesh::PlaneRange& range)
{
    std::vector<T*> planes(static_cast<std::size_t>(points[0]), nullptr);
    const std::size_t plane = static_cast<std::size_t>(points[1]) * static_cast<std::size_t>(points[2]);
    for (int i = 0; i < range.count; ++i)
    {
        planes[static_cast<std::size_t>(range.plane(i, points[0]))] = first + static_cast<std::size_t>(i) * plane;
    }
    DeviceBuffer<T*> table;
    table.upload(queue, planes);
    return table;
}

// `atoms` in the next functions: positions and numbers to spread, by slot; null: positions and charges of `state`.

// Queues a kernel that adds charges to the planes, in e or as integers. If `touched` is not
// null, the kernel stores 1 in touched[x][y] for every row with a point that some atom reaches.
template <class N>
void spread_charges(GpuQueue& queue, GpuState<N>& state, const MeshParameters& parameters, MeshAtomsOf whom,
                    mesh::ChargeSum<N>* const* planes, std::uint8_t* touched = nullptr, PositionCharge<N>* atoms = nullptr);

// Queues a kernel that adds the forces, times `weight`, to state.f. It uses atomic additions, as other
// kernels may add as well. begins_early is as in LaunchShape, behind the kernel that writes the potentials.
template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, const MeshParameters& parameters, MeshAtomsOf whom,
                   const typename N::Real* const* planes, int weight, bool begins_early = false,
                   PositionCharge<N>* atoms = nullptr);

} // namespace parhelion
