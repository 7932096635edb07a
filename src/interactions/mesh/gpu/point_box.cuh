// SPDX-License-Identifier: Apache-2.0
// Charges of a supercluster to the grid by way of shared memory. The 64 atoms of a supercluster are neighbours: the points that
// they touch are a box of some 12 x 12 x 16, which has fewer points than the atoms have weights, 64 * order^3. So a block adds up
// the box in shared memory, as integers, and adds each four points of it to the grid at once.
#pragma once

#include "device/gpu/atomics.cuh"
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
    __device__ std::int32_t of(float charge) const { return static_cast<std::int32_t>(rintf(charge * per_e())); }
};

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

// To a point of the grid. A reproducible sum of single-precision charges is one of quanta, whether or not a box adds it up.
__device__ inline void add_charge(float* at, float charge, ChargeQuantum) { atomic_add(at, charge); }
__device__ inline void add_charge(double* at, double charge, ChargeQuantum) { atomic_add(at, charge); }
__device__ inline void add_charge(std::int64_t* at, float charge, ChargeQuantum quantum)
{
    add_quanta(at, quantum.of(charge), quantum);
}
__device__ inline void add_charge(std::int64_t* at, double charge, ChargeQuantum)
{
    const long long whole = std::llrint(mesh::charge_sum_scale * charge);
    atomic_add(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(whole));
}

// add(jx, jy, charge) for the points of a lane, `order` times `order` at its z.
template <int order, class N, class Add>
__device__ void spread_one(const AtomLane<N, order>& atom, Add&& add)
{
#pragma unroll
    for (int jx = 0; jx < order; ++jx)
    {
        const typename N::Real of_plane = atom.charge * atom.x_weight[jx];
#pragma unroll
        for (int jy = 0; jy < order; ++jy) { add(jx, jy, of_plane * atom.y_weight[jy] * atom.z_weight); }
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

// From one grid point to another the shorter way round, in [-points / 2, points / 2).
__device__ inline std::int32_t steps_between(std::int32_t from, std::int32_t to, std::int32_t points)
{
    const std::int32_t d = to - from;
    return 2 * d >= points ? d - points : 2 * d < -points ? d + points : d;
}

// The points that the block's atoms touch. All threads of the block must call it, at most once in a kernel. first: the slot of
// the first atom. Atoms more than half the grid apart from it make the box large, not wrong.
template <class N, int order>
__device__ PointBox box_around(const GpuView<N>& state, const MeshPoints& points, std::int32_t first,
                               const AtomLane<N, order>& atom)
{
    __shared__ std::int32_t low[3], high[3];
    if (threadIdx.x < 3) { low[threadIdx.x] = INT_MAX, high[threadIdx.x] = INT_MIN; }
    __syncthreads();
    const std::int32_t n[3] = {points.x, points.y, points.z};
    const PositionCharge<N> reference = state.xq[first];
    const std::int32_t origin[3] = {mesh_place(reference.x, static_cast<std::uint32_t>(n[0])).point,
                                    mesh_place(reference.y, static_cast<std::uint32_t>(n[1])).point,
                                    mesh_place(reference.z, static_cast<std::uint32_t>(n[2])).point};
    const std::int32_t place[3] = {atom.x, atom.y, atom.first_z};
    for (int d = 0; d < 3; ++d)
    {
        const std::int32_t steps = steps_between(origin[d], place[d], n[d]);
        const std::int32_t least = least_of_lanes(atom.charge != 0 ? steps : INT_MAX);
        const std::int32_t greatest = greatest_of_lanes(atom.charge != 0 ? steps : INT_MIN);
        if (threadIdx.x % 32 == 0) { atomic_least(&low[d], least), atomic_greatest(&high[d], greatest); }
    }
    __syncthreads();
    if (low[0] > high[0]) { return {}; }
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

// All threads of the block, of which those with has_charge have points of an atom. Requires that the box fits.
template <class N, int order>
__device__ void spread_by_box(const AtomLane<N, order>& atom, bool has_charge, const MeshPoints& points, const PointBox& box,
                              ChargeQuantum quantum, mesh::ChargeSum<N>* const* planes)
{
    __shared__ int4 quads[PointBox::capacity / 4];
    auto* const cells = reinterpret_cast<std::int32_t*>(quads);
    for (int i = static_cast<int>(threadIdx.x); i < box.quads(); i += static_cast<int>(blockDim.x)) { quads[i] = {}; }
    __syncthreads();
    if (has_charge)
    {
        const auto inside = [](std::int32_t point, std::int32_t corner, std::int32_t n) {
            return point >= corner ? point - corner : point - corner + n;
        };
        const std::int32_t x = inside(atom.x, box.x, points.x), y = inside(atom.y, box.y, points.y),
                           z = inside(atom.z, box.z, points.z);
        spread_one<order>(atom, [&](int jx, int jy, float charge) {
            atomic_add(cells + ((x + jx) * box.ny + y + jy) * box.nz + z, quantum.of(charge));
        });
    }
    __syncthreads();
    const int in_line = box.nz / 4;
    for (int i = static_cast<int>(threadIdx.x); i < box.quads(); i += static_cast<int>(blockDim.x))
    {
        const int4 quad = quads[i];
        if ((quad.x | quad.y | quad.z | quad.w) == 0) { continue; }
        const int line = i / in_line, at = i % in_line;
        const std::int32_t y = wrapped(box.y + line % box.ny, points.y), z = wrapped(box.z + 4 * at, points.z);
        mesh::ChargeSum<N>* const plane = planes[wrapped(box.x + line / box.ny, points.x)];
        if (plane != nullptr) { add_quad(plane + y * points.z + z, quad, quantum); }
    }
}

} // namespace parhelion
