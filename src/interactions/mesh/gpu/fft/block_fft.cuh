// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of lines by a thread block. It transforms as many lines at once as fit into shared memory, pass
// by pass, with one butterfly per thread at a time. The bits of a line's result do not depend on other lines or on the
// block. The inverse transform is the forward transform with real and imaginary parts exchanged before and after it.
//
// Cost: a pass reads and writes each number once in shared memory and ends with a barrier. 64 points: two passes, 128: three.
#pragma once

#include "interactions/mesh/gpu/fft/line_fft_gpu.hpp"

namespace parhelion {

// Arithmetic on complex numbers of one lane, as a policy of fft_butterflies-inl.hpp.
template <class R>
struct LaneOps
{
    using Real = R;
    using V = R;
    using Complex = GpuComplex<R>;

    static __device__ V set(Real value) { return value; }
    static __device__ V add(V a, V b) { return a + b; }
    static __device__ V sub(V a, V b) { return a - b; }
    static __device__ V mul(V a, V b) { return a * b; }
    static __device__ V mul_add(V a, V b, V c) { return fma(a, b, c); }
    static __device__ V mul_sub(V a, V b, V c) { return fma(a, b, -c); }
    static __device__ V neg(V a) { return -a; }
};

namespace lanes {
#define PARHELION_BUTTERFLY __device__ inline
#define PARHELION_UNROLL _Pragma("unroll")
#include "interactions/mesh/fft_butterflies-inl.hpp"
#undef PARHELION_BUTTERFLY
#undef PARHELION_UNROLL
} // namespace lanes

// Several lines of numbers, which lie side by side in shared or global memory.
template <class Real>
struct Lines
{
    GpuComplex<Real>* first;
    int pitch;

    __device__ GpuComplex<Real>& at(int point, int line) const { return first[point * pitch + line]; }
};

// Calls store(i, load(i)) for i = first, first + stride, ... < end. Issues four loads before the first store.
template <class Load, class Store>
__device__ void move(int first, int end, int stride, Load&& load, Store&& store)
{
    constexpr int batch = 4;
    for (; first < end; first += batch * stride)
    {
        decltype(load(0)) value[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b)
        {
            if (first + b * stride < end) { value[b] = load(first + b * stride); }
        }
#pragma unroll
        for (int b = 0; b < batch; ++b)
        {
            if (first + b * stride < end) { store(first + b * stride, value[b]); }
        }
    }
}

// The share of a thread: its line, and every `members`-th of the line's n numbers, from `member` up to but not
// including end(n). Neighbouring threads of a warp have neighbouring lines. Excess threads have no numbers.
struct LineShare
{
    int line, member, members;

    __device__ explicit LineShare(int lines)
        : line(static_cast<int>(threadIdx.x) % lines), member(static_cast<int>(threadIdx.x) / lines),
          members(static_cast<int>(blockDim.x) / lines)
    {
    }
    __device__ int end(int n) const { return member < members ? n : 0; }
};

template <class Real>
struct LineWork // the two work areas of lines, between which passes alternate
{
    Lines<Real> a, b;
};

template <int radix, class Real>
__device__ void butterflies(const typename LineFftView<Real>::Pass& of, const GpuComplex<Real>* roots, const LineShare& share,
                            const Lines<Real>& in, const Lines<Real>& out)
{
    using B = lanes::Butterflies<LaneOps<Real>>;
    const int stride = of.stride.by, count = of.rest * stride;
    for (int j = share.member; j < share.end(count); j += share.members)
    {
        GpuComplex<Real> a[radix];
#pragma unroll
        for (int k = 0; k < radix; ++k) { a[k] = in.at(j + count * k, share.line); }
        B::transform(a);
        const int p = of.stride.quotient(j), to = j + p * stride * (radix - 1);
        const GpuComplex<Real>* const twiddles = roots + of.twiddles + p * (radix - 1);
        out.at(to, share.line) = a[0];
#pragma unroll
        for (int k = 1; k < radix; ++k)
        {
            out.at(to + stride * k, share.line) = p == 0 ? a[k] : B::times(a[k], twiddles[k - 1].re, twiddles[k - 1].im);
        }
    }
}

// A pass whose radix has no butterfly. It computes sums of products.
template <class Real>
__device__ void sums_of_products(const typename LineFftView<Real>::Pass& of, const GpuComplex<Real>* roots,
                                 const LineShare& share, const Lines<Real>& in, const Lines<Real>& out)
{
    using B = lanes::Butterflies<LaneOps<Real>>;
    const int stride = of.stride.by, count = of.rest * stride;
    for (int j = share.member; j < share.end(count); j += share.members)
    {
        const int p = of.stride.quotient(j), to = j + p * stride * (of.radix - 1);
        for (int k = 0; k < of.radix; ++k)
        {
            GpuComplex<Real> sum = in.at(j, share.line);
            for (int i = 1; i < of.radix; ++i)
            {
                const GpuComplex<Real> root = roots[of.radix_roots + i * k % of.radix];
                sum = B::add(sum, B::times(in.at(j + count * i, share.line), root.re, root.im));
            }
            if (k > 0)
            {
                const GpuComplex<Real> twiddle = roots[of.twiddles + p * (of.radix - 1) + k - 1];
                sum = B::times(sum, twiddle.re, twiddle.im);
            }
            out.at(to + stride * k, share.line) = sum;
        }
    }
}

// Transforms `lines` lines at `in`. All threads of the block must call it, after all have stored
// their numbers. The passes alternate between two `work` areas; the last pass writes to `result`
// unless that is null. Returns where the transforms are. All threads of the block see them.
template <class Real>
__device__ Lines<Real> transform_lines(const LineFftView<Real>& fft, const GpuComplex<Real>* roots, int lines, Lines<Real> in,
                                       const LineWork<Real>& work, const Lines<Real>* result = nullptr)
{
    const LineShare share(lines);
    for (int i = 0; i < fft.passes; ++i)
    {
        const typename LineFftView<Real>::Pass& pass = fft.pass[i];
        const Lines<Real> out = result != nullptr && i + 1 == fft.passes ? *result : in.first == work.a.first ? work.b : work.a;
        switch (pass.radix)
        {
        case 2:
            butterflies<2>(pass, roots, share, in, out);
            break;
        case 3:
            butterflies<3>(pass, roots, share, in, out);
            break;
        case 4:
            butterflies<4>(pass, roots, share, in, out);
            break;
        case 5:
            butterflies<5>(pass, roots, share, in, out);
            break;
        case 7:
            butterflies<7>(pass, roots, share, in, out);
            break;
        case 8:
            butterflies<8>(pass, roots, share, in, out);
            break;
        default:
            sums_of_products(pass, roots, share, in, out);
        }
        __syncthreads();
        in = out;
    }
    return in;
}

} // namespace parhelion
