// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the GPU's pair kernel that does not depend on pairs: common function names for all
// precisions, sums over the lanes of a warp, and hints by which the compiler chooses the intended
// registers and branches. Cost: one or two instructions each; scatter_sums() takes three shuffles.
#pragma once

#include "base/numerics.hpp"
#include "device/gpu/atomics.cuh"
#include "device/gpu/instructions.cuh"
#include "device/gpu/warp.cuh"

#include <cstdint>

namespace parhelion::nonbonded_gpu {

__device__ inline float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return fma(a, b, c); }
__device__ inline float inverse_sqrt(float x) { return approximate_inverse_sqrt(x); }
__device__ inline double inverse_sqrt(double x) { return 1.0 / sqrt(x); }

// Returns sum_i of[i] t^i by a multiply-add for each power of t.
template <class Real, int terms>
__device__ Real horner(const Real (&of)[terms], Real t)
{
    Real sum = of[terms - 1];
#pragma unroll
    for (int i = terms - 2; i >= 0; --i) { sum = fused(sum, t, of[i]); }
    return sum;
}

// The arithmetic of GPU lanes, as a policy (template argument) of the pair law (pair/pair_law-inl.hpp).
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

// Returns what to_sum() of base/numerics.hpp would return, but with a limit that the caller sets.
__device__ inline std::int64_t to_fixed_point(double value, double limit)
{
    if (!(fabs(value) < limit)) { value = value < 0 ? -limit : limit; }
    return __double2ll_rn(value * fixed_sum_scale);
}

__device__ inline void add_to(float* sum, float value) { atomic_add(sum, value); }
__device__ inline void add_to(double* sum, double value) { atomic_add(sum, value); }
__device__ inline void add_to(std::int64_t* sum, std::int64_t value)
{
    atomic_add(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

// Returns the sum of x, y or z over the lanes that differ in bits `first` and `second` of their number:
// the sum of x in lanes with neither bit set, of y with only `first` set, of z with `second` set.
template <int first, int second, class Sum>
__device__ Sum scatter_sums(Sum x, Sum y, Sum z, int lane)
{
    const bool upper = (lane & first) != 0, uppermost = (lane & second) != 0;
    Sum keep = upper ? y : x;
    const Sum give = upper ? x : y;
    keep += from_lane_across(give, first);
    z += from_lane_across(z, first);
    Sum mine = uppermost ? z : keep;
    const Sum others = uppermost ? keep : z;
    mine += from_lane_across(others, second);
    return mine;
}

} // namespace parhelion::nonbonded_gpu
