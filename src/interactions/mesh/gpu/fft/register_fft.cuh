// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of lines in two passes, for n = first * second points. A thread computes a butterfly with its
// numbers in registers. Between the passes numbers are exchanged once, through shared memory. The caller provides loads
// and stores, so the passes may access global memory directly. The bits of a line's result do not depend on the thread.
//
//   a(j + second k), k < first    -> butterfly j < second of pass 1, times exp(-2 pi i j k / n) -> b(j first + k)
//   b(j + first k), k < second    -> butterfly j < first of pass 2                              -> S(j + first k)
//
// Cost: a line of 128 points takes 8 butterflies of 16 numbers and 16 of 8. A thread holds up
// to 16 complex numbers. There is code for every radix in each pass; a line uses one of them.
#pragma once

#include "interactions/mesh/gpu/fft/block_fft.cuh"

#include <type_traits>

namespace parhelion {

// Calls body(std::integral_constant) for a radix of TwoPassFft up to `most`. Code for larger radices takes more registers.
template <int most, class Body>
__device__ void with_radix(int radix, Body&& body)
{
    const auto one = [&](auto constant) {
        if constexpr (constant <= most) { body(constant); }
    };
    switch (radix)
    {
    case 4:
        return one(std::integral_constant<int, 4>());
    case 5:
        return one(std::integral_constant<int, 5>());
    case 6:
        return one(std::integral_constant<int, 6>());
    case 7:
        return one(std::integral_constant<int, 7>());
    case 8:
        return one(std::integral_constant<int, 8>());
    case 9:
        return one(std::integral_constant<int, 9>());
    case 10:
        return one(std::integral_constant<int, 10>());
    case 12:
        return one(std::integral_constant<int, 12>());
    case 16:
        return one(std::integral_constant<int, 16>());
    default:
        return;
    }
}

// The roots exp(-2 pi i k / n), k < n, as compile-time constants.
template <int n>
struct ConstantRoots
{
    double re[n]{}, im[n]{};

    PARHELION_HD constexpr ConstantRoots()
    {
        for (int k = 0; k < n; ++k)
        {
            const double angle = -6.28318530717958647693 * (2 * k > n ? k - n : k) / n; // in [-pi, pi]
            double term = 1;
            for (int i = 0; i < 40; ++i) // the power series of exp(i angle)
            {
                (i % 2 == 0 ? re[k] : im[k]) += i % 4 < 2 ? term : -term;
                term *= angle / (i + 1);
            }
        }
    }
};

// Transforms n numbers in registers, in place. If n has no butterfly, it uses the butterflies of p and q = n / p.
template <class Real, int n>
__device__ void register_transform(GpuComplex<Real> (&a)[n])
{
    using B = lanes::Butterflies<LaneOps<Real>>;
    if constexpr (n <= 5 || n == 7 || n == 8) { B::transform(a); }
    else
    {
        constexpr int p = n % 4 == 0 ? 4 : n % 3 == 0 ? 3 : 2, q = n / p;
        constexpr ConstantRoots<n> roots;
        GpuComplex<Real> part[q][p];
#pragma unroll
        for (int j = 0; j < q; ++j)
        {
#pragma unroll
            for (int i = 0; i < p; ++i) { part[j][i] = a[j + q * i]; }
            B::transform(part[j]);
        }
#pragma unroll
        for (int i = 0; i < p; ++i)
        {
            GpuComplex<Real> line[q];
#pragma unroll
            for (int j = 0; j < q; ++j)
            {
                const int k = i * j;
                line[j] = k == 0       ? part[j][i]
                          : 4 * k == n ? B::minus_i_times(part[j][i])
                                       : B::times(part[j][i], static_cast<Real>(roots.re[k]), static_cast<Real>(roots.im[k]));
            }
            register_transform<Real>(line);
#pragma unroll
            for (int k = 0; k < q; ++k) { a[i + p * k] = line[k]; }
        }
    }
}

// Computes butterfly j of pass 1: transforms load(k), k < radix, and calls store(k, number) for each result.
template <int radix, class Real, class Load, class Store>
__device__ void first_pass(int j, const GpuComplex<Real>* roots, Load&& load, Store&& store)
{
    using B = lanes::Butterflies<LaneOps<Real>>;
    GpuComplex<Real> a[radix];
#pragma unroll
    for (int k = 0; k < radix; ++k) { a[k] = load(k); }
    register_transform<Real>(a);
    store(0, a[0]);
#pragma unroll
    for (int k = 1; k < radix; ++k)
    {
        const GpuComplex<Real> root = roots[j * k];
        store(k, B::times(a[k], root.re, root.im));
    }
}

// Computes a butterfly of pass 2 in the same way: transforms load(k), and calls store(k, number).
template <int radix, class Real, class Load, class Store>
__device__ void second_pass(Load&& load, Store&& store)
{
    GpuComplex<Real> a[radix];
#pragma unroll
    for (int k = 0; k < radix; ++k) { a[k] = load(k); }
    register_transform<Real>(a);
#pragma unroll
    for (int k = 0; k < radix; ++k) { store(k, a[k]); }
}

} // namespace parhelion
