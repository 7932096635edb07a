// SPDX-License-Identifier: Apache-2.0
// Charges of a supercluster to the grid by way of shared memory. The 64 atoms of a supercluster are neighbours: the points that
// they touch are a box of some 12 x 12 x 16, which has fewer points than the atoms have weights, 64 * order^3. So a block adds up
// the box in shared memory, as integers, and adds each four points of it to the grid at once.
#pragma once

#include "device/gpu/atomics.cuh"
#include "device/gpu/instructions.cuh"
#include "interactions/mesh/gpu/mesh_atoms.cuh"
#include "interactions/mesh/mesh_kernels.hpp"

#include <climits>
#include <cmath>

namespace parhelion {

// --- charges as integers

// Charges in single precision are added as multiples of a quantum, a power of 2 so small that a float would round no better, and
// so large that the sum of 64 atoms cannot overflow: the largest weight of a point is 0.75 along each axis, that of order 3.
struct ChargeQuantum
{
    int bits = 0; // the quantum is 2^-bits e

    explicit ChargeQuantum(double largest_charge) // e
    {
        const double largest_sum = supercluster_size * 0.75 * 0.75 * 0.75 * largest_charge;
        bits = largest_charge > 0 ? static_cast<int>(std::floor(std::log2((INT_MAX - supercluster_size) / largest_sum))) : 0;
    }
    __device__ float per_e() const { return ldexpf(1, bits); }
};
// a * b quanta; one of them is a charge, or a part of it, times per_e(). A conversion that rounds: one instruction.
__device__ inline std::int32_t whole_quanta(float a, float b) { return __float2int_rn(a * b); }

__device__ inline void add_quanta(std::int64_t* at, std::int32_t charge, ChargeQuantum quantum)
{
    atomic_add(reinterpret_cast<unsigned long long*>(at),
               static_cast<unsigned long long>(std::int64_t{charge} << (mesh::charge_sum_bits - quantum.bits)));
}

// To four numbers, each by itself. Aligned to 16 bytes. One instruction on GPUs of compute capability 9.0 and later.
__device__ inline void atomic_add_each(float4* at, float4 value)
{
#if __CUDA_ARCH__ >= 900
    atomic_add(at, value);
#else
    atomic_add(&at->x, value.x), atomic_add(&at->y, value.y), atomic_add(&at->z, value.z), atomic_add(&at->w, value.w);
#endif
}

// Four points side by side, the first at a multiple of 4.
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

// a * b e, the second with the charge, to a point of the grid. A reproducible sum of single-precision charges is one of quanta,
// whether or not a box adds it up.
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

// add(jx, jy, a, b) for the points of a lane, `order` times `order` at its z, which get a * b of `charge`.
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
    static constexpr int capacity = 4096; // points

    std::int32_t x, y, z;    // its first point, on the grid; z is a multiple of 4
    std::int32_t nx, ny, nz; // points along each axis; nz is a multiple of 4. 0: no atom has a charge. nx < 0: it does not fit

    __device__ bool is_empty() const { return nx == 0; }
    __device__ bool fits() const { return nx > 0; }
    __device__ int quads() const { return nx * ny * (nz / 4); }
};

// Quotients of numbers below 2^10, those of a box, by one of them: made and used without a division. The reciprocal is 2^20 / by
// or at most 1 more, which makes i / by larger by less than 2^-10.
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

// From one grid point to another the shorter way round, in [-points / 2, points / 2).
__device__ inline std::int32_t steps_between(std::int32_t from, std::int32_t to, std::int32_t points)
{
    const std::int32_t d = to - from;
    return 2 * d >= points ? d - points : 2 * d < -points ? d + points : d;
}

// The least box around the points that the block's atoms touch. Steps are from the place of one of them, `origin`; others more
// than half the grid apart from it make the box large, not wrong.
class BoxBounds // in shared memory
{
public:
    // For whole warps, in all one thread for each atom, which is at `place`; charge == 0: none.
    template <class Place>
    __device__ void find(const std::int32_t (&origin)[3], const Place& place, const MeshPoints& points)
    {
        const std::int32_t n[3] = {points.x, points.y, points.z}, at[3] = {place.x, place.y, place.z};
        const int lane = static_cast<int>(threadIdx.x) % 32;
        std::int32_t mine = INT_MAX; // of lanes 0 to 5
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
    // When all have found.
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
    std::int32_t least_[2][6]; // of each warp: steps along each axis, then steps back
};

// Where a lane's first point is in the box.
template <class N, int order>
__device__ int first_in_box(const AtomLane<N, order>& lane, const PointBox& box, const MeshPoints& points)
{
    const auto inside = [](std::int32_t point, std::int32_t corner, std::int32_t n) {
        return point >= corner ? point - corner : point - corner + n;
    };
    return (inside(lane.x, box.x, points.x) * box.ny + inside(lane.y, box.y, points.y)) * box.nz +
           inside(lane.z, box.z, points.z);
}

// body(i, plane, at) for the box's quads of points, dealt out to the block's threads: quad i begins at plane + at. wanted(i):
// false for quads to leave out. plane: null where the planes are null.
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
