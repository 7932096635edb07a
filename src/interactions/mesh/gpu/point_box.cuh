// SPDX-License-Identifier: Apache-2.0
// Adds charges of a supercluster to the grid through shared memory. The 64 atoms of a supercluster are neighbours, so the
// grid points that they reach form a box of about 12 x 12 x 16. These points are fewer than the atoms' weights, 64 *
// order^3. A thread block therefore sums the box in shared memory, as integers, and adds four points at a time to the grid.
#pragma once

#include "device/gpu/atomics.cuh"
#include "device/gpu/instructions.cuh"
#include "interactions/mesh/gpu/mesh_atoms.cuh"
#include "interactions/mesh/mesh_kernels.hpp"

#include <climits>
#include <cmath>

namespace parhelion {

// --- charges as integers

// Charges in single precision are added as multiples of a quantum, a power of 2. It is as small as the rounding of floats, and so
// large that the sum of 64 atoms cannot overflow 32 bits. The largest weight of a point is 0.75 along each axis (order 3).
struct ChargeQuantum
{
    int bits = 0; // the quantum is 2^-bits e

    explicit ChargeQuantum(double largest_charge) // e, largest charge of an atom
    {
        const double largest_sum = supercluster_size * 0.75 * 0.75 * 0.75 * largest_charge;
        bits = largest_charge > 0 ? static_cast<int>(std::floor(std::log2((INT_MAX - supercluster_size) / largest_sum))) : 0;
    }
    __device__ float per_e() const { return ldexpf(1, bits); }
};
// Returns a * b as a number of quanta; a or b has the factor charge * per_e(). Rounding takes one instruction.
__device__ inline std::int32_t whole_quanta(float a, float b) { return __float2int_rn(a * b); }

__device__ inline void add_quanta(std::int64_t* at, std::int32_t charge, ChargeQuantum quantum)
{
    atomic_add(reinterpret_cast<unsigned long long*>(at),
               static_cast<unsigned long long>(std::int64_t{charge} << (mesh::charge_sum_bits - quantum.bits)));
}

// Adds to each of four numbers atomically. They must be aligned to 16 bytes. It is one instruction from compute capability 9.0.
__device__ inline void atomic_add_each(float4* at, float4 value)
{
#if __CUDA_ARCH__ >= 900
    atomic_add(at, value);
#else
    atomic_add(&at->x, value.x), atomic_add(&at->y, value.y), atomic_add(&at->z, value.z), atomic_add(&at->w, value.w);
#endif
}

// Adds q to four consecutive grid points. The index of the first point is a multiple of 4.
__device__ inline void add_quad(float* at, const int4& q, ChargeQuantum quantum)
{
    const float e = ldexpf(1, -quantum.bits);
    atomic_add_each(reinterpret_cast<float4*>(at), make_float4(static_cast<float>(q.x) * e, static_cast<float>(q.y) * e,
                                                               static_cast<float>(q.z) * e, static_cast<float>(q.w) * e));
}
__device__ inline void add_quad(std::int64_t* at, const int4& q, ChargeQuantum quantum)
{
    add_quanta(at, q.x, quantum), add_quanta(at + 1, q.y, quantum);
    add_quanta(at + 2, q.z, quantum), add_quanta(at + 3, q.w, quantum);
}

// Adds a * b, in e, to a point of the grid; b contains the charge. In reproducible sums a single-precision
// charge is a number of quanta, so that the sum is the same with and without a box in shared memory.
__device__ inline void add_charge(float* at, float a, float b, ChargeQuantum) { atomic_add(at, a * b); }
__device__ inline void add_charge(double* at, double a, double b, ChargeQuantum) { atomic_add(at, a * b); }
__device__ inline void add_charge(std::int64_t* at, float a, float b, ChargeQuantum quantum)
{
    add_quanta(at, whole_quanta(a, b * quantum.per_e()), quantum);
}
__device__ inline void add_charge(std::int64_t* at, double a, double b, ChargeQuantum)
{
    const long long whole = std::llrint(mesh::charge_sum_scale * (a * b));
    atomic_add(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(whole));
}

// Calls add(jx, jy, a, b) for the `order` times `order` points at the lane's z. A point gets a * b, its part of `charge`.
template <class N, int order, class Add>
__device__ void spread_one(const BlockAtoms<N, order>& atoms, const AtomLane<N, order>& lane, typename N::Real charge, Add&& add)
{
    const typename N::Real along_z = charge * atoms.weight[2][lane.atom][lane.jz];
    typename N::Real of_line[order];
#pragma unroll
    for (int jy = 0; jy < order; ++jy) { of_line[jy] = atoms.weight[1][lane.atom][jy] * along_z; }
#pragma unroll
    for (int jx = 0; jx < order; ++jx)
    {
#pragma unroll
        for (int jy = 0; jy < order; ++jy) { add(jx, jy, atoms.weight[0][lane.atom][jx], of_line[jy]); }
    }
}

// --- the box

struct PointBox
{
    static constexpr int capacity = 4096; // number of points that a box can hold

    std::int32_t x, y, z;    // the first grid point of the box; z is a multiple of 4
    std::int32_t nx, ny, nz; // number of points along each axis; nz: a multiple of 4; 0: no charges; nx < 0: too large

    __device__ bool is_empty() const { return nx == 0; }
    __device__ bool fits() const { return nx > 0; }
    __device__ int quads() const { return nx * ny * (nz / 4); }
};

// Computes quotients of two numbers below 2^10, the sizes of a box, without dividing. The stored reciprocal is at most 2^20 /
// `by` + 1, so i / `by` becomes too large by less than 2^-10.
class BoxDivisor
{
public:
    __device__ explicit BoxDivisor(int by)
        : reciprocal_(static_cast<int>(0x1p20f * approximate_reciprocal(static_cast<float>(by))) + 1)
    {
    }
    __device__ int quotient(int i) const { return i * reciprocal_ >> 20; }

private:
    int reciprocal_;
};

// Returns the shortest signed distance from one grid point to another, in [-points / 2, points / 2).
__device__ inline std::int32_t steps_between(std::int32_t from, std::int32_t to, std::int32_t points)
{
    const std::int32_t d = to - from;
    return 2 * d >= points ? d - points : 2 * d < -points ? d + points : d;
}

// Finds the smallest box around the grid points that the block's atoms reach. Steps are counted from `origin`,
// the point of one atom. Atoms more than half the grid away from it enlarge the box, but do not make it wrong.
class BoxBounds // the object is in shared memory
{
public:
    // Adds the atom at `place`. Whole warps call it, with one thread per atom of the block. Ignores an atom with charge == 0.
    template <class Place>
    __device__ void find(const std::int32_t (&origin)[3], const Place& place, const MeshPoints& points)
    {
        const std::int32_t n[3] = {points.x, points.y, points.z}, at[3] = {place.x, place.y, place.z};
        const int lane = static_cast<int>(threadIdx.x) % 32;
        std::int32_t mine = INT_MAX; // lanes 0 to 5 have the six least steps
#pragma unroll
        for (int d = 0; d < 3; ++d)
        {
            const std::int32_t steps = steps_between(origin[d], at[d], n[d]);
            const std::int32_t forth = least_of_lanes(place.charge != 0 ? steps : INT_MAX),
                               back = least_of_lanes(place.charge != 0 ? -steps : INT_MAX);
            mine = lane == d ? forth : lane == d + 3 ? back : mine;
        }
        if (lane < 6) { least_[threadIdx.x / 32][lane] = mine; }
    }
    // Returns the box. Call it after all threads have called find().
    __device__ PointBox box(const std::int32_t (&origin)[3], const MeshPoints& points, int order) const
    {
        const std::int32_t n[3] = {points.x, points.y, points.z};
        std::int32_t low[3], high[3];
#pragma unroll
        for (int d = 0; d < 3; ++d)
        {
            low[d] = min(least_[0][d], least_[1][d]), high[d] = -min(least_[0][d + 3], least_[1][d + 3]);
        }
        if (low[0] == INT_MAX) { return {}; }
        PointBox box{};
        const auto on_grid = [](std::int32_t i, std::int32_t of) { return i < 0 ? i + of : i >= of ? i - of : i; };
        const std::int32_t z = (origin[2] + low[2]) & ~3;
        box.nx = high[0] - low[0] + order, box.ny = high[1] - low[1] + order;
        box.nz = (origin[2] + high[2] + order - z + 3) & ~3;
        box.x = on_grid(origin[0] + low[0], n[0]), box.y = on_grid(origin[1] + low[1], n[1]), box.z = on_grid(z, n[2]);
        const bool is_on_grid = n[2] % 4 == 0 && box.nx <= n[0] && box.ny <= n[1] && box.nz <= n[2];
        if (!is_on_grid || box.nx * box.ny * box.nz > PointBox::capacity) { box.nx = -1; }
        return box;
    }

private:
    static_assert(supercluster_size == 64);
    std::int32_t least_[2][6]; // [warp]: least steps along each axis, then least steps in the opposite direction
};

// Returns the index in the box of a lane's first point.
template <class N, int order>
__device__ int first_in_box(const AtomLane<N, order>& lane, const PointBox& box, const MeshPoints& points)
{
    const auto inside = [](std::int32_t point, std::int32_t corner, std::int32_t n) {
        return point >= corner ? point - corner : point - corner + n;
    };
    return (inside(lane.x, box.x, points.x) * box.ny + inside(lane.y, box.y, points.y)) * box.nz +
           inside(lane.z, box.z, points.z);
}

// Calls body(i, plane, at) for the groups of four points in the box, distributed over the block's threads. Group i
// begins at plane + at. It skips groups for which wanted(i) is false. `plane` is null where the table has no plane.
template <int threads, class Value, class Wanted, class Body>
__device__ void for_quads(const PointBox& box, const MeshPoints& points, Value* const* planes, Wanted&& wanted, Body&& body)
{
    const int in_line = box.nz / 4;
    const BoxDivisor by_line(in_line), by_ny(box.ny);
    for (int i = static_cast<int>(threadIdx.x); i < box.quads(); i += threads)
    {
        if (!wanted(i)) { continue; }
        const int line = by_line.quotient(i), at = i - line * in_line, x = by_ny.quotient(line);
        const std::int32_t y = wrapped(box.y + line - x * box.ny, points.y), z = wrapped(box.z + 4 * at, points.z);
        body(i, planes[wrapped(box.x + x, points.x)], y * points.z + z);
    }
}

} // namespace parhelion
