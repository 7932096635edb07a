// SPDX-License-Identifier: Apache-2.0
// Atoms among the points of the mesh, as the kernels that spread charges and gather forces see them: a few lanes share an atom,
// each with the points at its z.
#pragma once

#include "base/host_device.hpp"
#include "device/gpu/warp.cuh"
#include "interactions/mesh/mesh_parameters.hpp"
#include "interactions/mesh/spline.hpp"
#include "state/gpu/view.cuh"

#include <cstddef>
#include <cstdint>

namespace parhelion {

struct MeshPoints
{
    std::int32_t x, y, z;

    PARHELION_HD std::int32_t kz() const { return z / 2 + 1; }
    std::size_t grid() const { return static_cast<std::size_t>(x) * y * z; }
    std::size_t transform() const { return static_cast<std::size_t>(x) * y * kz(); }
};

inline MeshPoints points_of(const MeshParameters& parameters)
{
    return {parameters.points[0], parameters.points[1], parameters.points[2]};
}

// Lanes that share an atom: one for each of its points along z, so that they load and add numbers that are neighbours.
template <int order>
constexpr int lanes_of_atom = order <= 4 ? 4 : 8;

template <int n, class Real>
__device__ Real element(const Real (&of)[n], int i) // 0 beyond the last; the array stays in registers
{
    Real value = 0;
#pragma unroll
    for (int j = 0; j < n; ++j) { value = j == i ? of[j] : value; }
    return value;
}

__device__ inline std::int32_t wrapped(std::int32_t i, std::int32_t points) { return i >= points ? i - points : i; }

// What a lane knows of its atom. Lanes beyond the order have weights of 0 and a point on the grid all the same.
template <class N, int order>
struct AtomLane
{
    using Real = typename N::Real;

    std::int32_t slot;
    int jz;
    Real charge;                                   // e; 0: nothing to do
    std::int32_t x = 0, y = 0, z = 0, first_z = 0; // the lane's first point; z of the atom's
    Real x_weight[order], y_weight[order], x_derivative[order], y_derivative[order], z_weight, z_derivative;

    // Of thread threadIdx.x of a block whose first atom is in slot `first`.
    __device__ AtomLane(const GpuView<N>& state, const MeshPoints& points, std::int32_t first)
        : slot(first + static_cast<std::int32_t>(threadIdx.x) / lanes_of_atom<order>),
          jz(static_cast<int>(threadIdx.x) % lanes_of_atom<order>)
    {
        const PositionCharge<N> atom = state.xq[slot];
        charge = atom.charge;
        if (charge == 0) { return; }
        const MeshPlace<Real> in_x = mesh_place(atom.x, static_cast<std::uint32_t>(points.x)),
                              in_y = mesh_place(atom.y, static_cast<std::uint32_t>(points.y)),
                              in_z = mesh_place(atom.z, static_cast<std::uint32_t>(points.z));
        x = in_x.point, y = in_y.point, first_z = in_z.point, z = wrapped(first_z + jz, points.z);
        Real weight[order], derivative[order];
        spline_weights<order, Real>(in_x.offset, x_weight, x_derivative);
        spline_weights<order, Real>(in_y.offset, y_weight, y_derivative);
        spline_weights<order, Real>(in_z.offset, weight, derivative);
        z_weight = element(weight, jz), z_derivative = element(derivative, jz);
    }
    __device__ std::int32_t plane(const MeshPoints& points, int jx) const { return wrapped(x + jx, points.x); }
    __device__ std::int32_t row(const MeshPoints& points, int jy) const { return wrapped(y + jy, points.y); }
    // The lane's point of a row, counted from the first of its plane.
    __device__ std::int32_t point(const MeshPoints& points, int jy) const { return row(points, jy) * points.z + z; }
};

} // namespace parhelion
