// SPDX-License-Identifier: Apache-2.0
// The atoms of the mesh and the grid points that they reach, for the kernels that spread
// charges and gather forces. A few lanes share an atom. Each lane has the points at one z.
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

// The number of lanes that share an atom: one for each of its points along z. They access neighbouring numbers of the grid.
template <int order>
constexpr int lanes_of_atom = order <= 4 ? 4 : 8;

__device__ inline std::int32_t wrapped(std::int32_t i, std::int32_t points) { return i >= points ? i - points : i; }

// The atoms of a block, which are those of one supercluster, in shared memory. One thread computes what an atom's lanes all need.
template <class N, int order>
struct BlockAtoms
{
    using Real = typename N::Real;
    struct alignas(4 * sizeof(Real)) Place
    {
        std::int32_t x, y, z; // the first grid point that the atom reaches
        Real charge;          // e; 0: the atom is skipped
    };
    Place place[supercluster_size];
    Real weight[3][supercluster_size][order];

    // Computes the spline weights of an atom at p. Calls derivative(axis, j, value)
    // for each derivative of a weight. An atom without charge gets no weights.
    template <class Derivative>
    __device__ void find(int atom, const PositionCharge<N>& p, const MeshPoints& points, Derivative&& derivative)
    {
        const MeshPlace<Real> at[3] = {mesh_place(p.x, static_cast<std::uint32_t>(points.x)),
                                       mesh_place(p.y, static_cast<std::uint32_t>(points.y)),
                                       mesh_place(p.z, static_cast<std::uint32_t>(points.z))};
        place[atom] = {at[0].point, at[1].point, at[2].point, p.charge};
        if (p.charge == 0) { return; }
#pragma unroll
        for (int d = 0; d < 3; ++d)
        {
            Real w[order], slope[order];
            spline_weights<order, Real>(at[d].offset, w, slope);
#pragma unroll
            for (int j = 0; j < order; ++j) { weight[d][atom][j] = w[j], derivative(d, j, slope[j]); }
        }
    }
};

// The part of an atom that one lane works on. The lane is thread threadIdx.x of a block.
template <class N, int order>
struct AtomLane
{
    using Real = typename N::Real;

    int atom, jz; // index of the atom in the block; index of the lane's point along z (jz >= order: it has none)
    std::int32_t x, y, first_z, z;
    Real charge; // e; 0: the lane has no work

    __device__ AtomLane(const BlockAtoms<N, order>& atoms, const MeshPoints& points)
        : atom(static_cast<int>(threadIdx.x) / lanes_of_atom<order>), jz(static_cast<int>(threadIdx.x) % lanes_of_atom<order>)
    {
        const auto place = atoms.place[atom];
        x = place.x, y = place.y, first_z = place.z, z = wrapped(first_z + min(jz, order - 1), points.z), charge = place.charge;
    }
    __device__ bool has_points() const { return charge != 0 && jz < order; }
    __device__ std::int32_t plane(const MeshPoints& points, int jx) const { return wrapped(x + jx, points.x); }
    __device__ std::int32_t row(const MeshPoints& points, int jy) const { return wrapped(y + jy, points.y); }
    // Returns the index of the lane's point in row jy, counted from the first point of the plane.
    __device__ std::int32_t point(const MeshPoints& points, int jy) const { return row(points, jy) * points.z + z; }
};

} // namespace parhelion
