// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the GPU's pair kernel that knows nothing of pairs: one name for every precision, sums over the lanes of a warp,
// and what the compiler must be told to choose the registers and branches that are meant. Cost: an instruction or two each;
// scatter_sums three shuffles.
#pragma once

#include "base/numerics.hpp"
#include "device/gpu/instructions.cuh"
#include "pairs/gpu/pair_tiles.cuh"

#include <cstdint>

namespace parhelion::nonbonded_gpu {

using pair_tiles::all_lanes;

__device__ inline float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return fma(a, b, c); }
__device__ inline float inverse_sqrt(float x) { return approximate_inverse_sqrt(x); }
__device__ inline double inverse_sqrt(double x) { return 1.0 / sqrt(x); }

// sum_i of[i] t^i with as few operations as there are powers.
template <class Real, int terms>
__device__ Real horner(const Real (&of)[terms], Real t)
{
    Real sum = of[terms - 1];
#pragma unroll
    for (int i = terms - 2; i >= 0; --i) { sum = fused(sum, t, of[i]); }
    return sum;
}

// The operations of the pair law (pair/pair_law-inl.hpp).
template <class Real_>
struct LaneOps
{
    using Real = Real_;
    using V = Real_;
    __device__ static Real set(Real x) { return x; }
    __device__ static Real add(Real x, Real y) { return x + y; }
    __device__ static Real sub(Real x, Real y) { return x - y; }
    __device__ static Real mul(Real x, Real y) { return x * y; }
    __device__ static Real mul_add(Real x, Real y, Real z) { return fused(x, y, z); }
    __device__ static Real mul_sub(Real x, Real y, Real z) { return fused(x, y, -z); }
    __device__ static Real max(Real x, Real y) { return ::max(x, y); }
    __device__ static Real if_less(Real x, Real y, Real z) { return x < y ? z : 0; }
};

// to_sum() of base/numerics.hpp with a limit of its own.
__device__ inline std::int64_t to_fixed_point(double value, double limit)
{
    if (!(fabs(value) < limit)) { value = value < 0 ? -limit : limit; }
    return __double2ll_rn(value * fixed_sum_scale);
}

__device__ inline void add_to(float* sum, float value) { atomicAdd(sum, value); }
__device__ inline void add_to(double* sum, double value) { atomicAdd(sum, value); }
__device__ inline void add_to(std::int64_t* sum, std::int64_t value)
{
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

// Sums x, y and z over the lanes that differ in bits `first` and `second` of their number. Lanes with none of these bits set end
// with x, those with `first` alone with y, those with `second` with z.
template <int first, int second, class Sum>
__device__ Sum scatter_sums(Sum x, Sum y, Sum z, int lane)
{
    const bool upper = (lane & first) != 0, uppermost = (lane & second) != 0;
    Sum keep = upper ? y : x;
    const Sum give = upper ? x : y;
    keep += __shfl_xor_sync(all_lanes, give, first);
    z += __shfl_xor_sync(all_lanes, z, first);
    Sum mine = uppermost ? z : keep;
    const Sum others = uppermost ? keep : z;
    mine += __shfl_xor_sync(all_lanes, others, second);
    return mine;
}

} // namespace parhelion::nonbonded_gpu
