// SPDX-License-Identifier: Apache-2.0
// Charges of atoms to planes of the mesh, and forces of potentials on planes to atoms, on a GPU: what mesh_atoms.hpp is on CPUs.
//
// Where planes lie is a table in device memory: of each x the first number of [y][z], or null, and then nothing is spread on that
// plane and no force is exerted by it. So planes may be a whole grid, a rank's share of it, or lie in messages. In reproducible
// policies charges are added as integers, and what each plane adds to a force is rounded by itself: the result depends neither on
// the order of atoms nor on who has which planes.
//
// Cost: order^3 sums in shared memory and as many loads per atom; nothing where an atom has no charge.
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
    Everybody // halo atoms, too
};

// The table of `range`, whose planes lie one behind the other. Queued.
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

// Adds charges to what is there, in e or as integers. touched: null, or [x][y], where 1 is stored for every row with a point that
// some atom has. Queued.
template <class N>
void spread_charges(GpuQueue& queue, GpuState<N>& state, const MeshParameters& parameters, MeshAtomsOf whom,
                    mesh::ChargeSum<N>* const* planes, std::uint8_t* touched = nullptr);

// Adds the forces, `weight` times, to state.f, while other kernels may do so. Queued.
template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, const MeshParameters& parameters, MeshAtomsOf whom,
                   const typename N::Real* const* planes, int weight);

} // namespace parhelion
