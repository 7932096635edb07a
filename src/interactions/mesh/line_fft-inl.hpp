// SPDX-License-Identifier: Apache-2.0
// The transform of line_fft.hpp on vectors, one line in each lane. Highway includes this file once per instruction set.

#if defined(PARHELION_LINE_FFT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_LINE_FFT_INL
#undef PARHELION_LINE_FFT_INL
#else
#define PARHELION_LINE_FFT_INL
#endif

#include "interactions/mesh/line_fft.hpp"
#include "interactions/mesh/mesh_kernels.hpp"

#include "hwy/highway.h"

#include <utility>

HWY_BEFORE_NAMESPACE();
namespace parhelion::mesh {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Complex numbers [point][lane], real and imaginary parts apart. Every other pass writes to a second buffer of the same size.
template <class Real>
struct Lines
{
    Real *re, *im, *other_re, *other_im;

    // Exchanges real and imaginary parts. The inverse transform is the forward transform between two such exchanges.
    void exchange_parts() { std::swap(re, im), std::swap(other_re, other_im); }
    void swap_sides() { std::swap(re, other_re), std::swap(im, other_im); }
};

// The operations policy for fft_butterflies-inl.hpp.
template <class R>
struct LineOps
{
    using Real = R;
    using D = hn::CappedTag<Real, most_lanes>;
    using V = hn::Vec<D>;

    struct Complex
    {
        V re, im;
    };
    static HWY_INLINE V set(Real value) { return hn::Set(D(), value); }
    static HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
    static HWY_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
    static HWY_INLINE V mul(V a, V b) { return hn::Mul(a, b); }
    static HWY_INLINE V mul_add(V a, V b, V c) { return hn::MulAdd(a, b, c); }
    static HWY_INLINE V mul_sub(V a, V b, V c) { return hn::MulSub(a, b, c); }
    static HWY_INLINE V neg(V a) { return hn::Neg(a); }
};

#define PARHELION_BUTTERFLY HWY_INLINE
#define PARHELION_UNROLL
#include "interactions/mesh/fft_butterflies-inl.hpp"
#undef PARHELION_BUTTERFLY
#undef PARHELION_UNROLL

template <class Real>
struct LineTransform
{
    using Ops = LineOps<Real>;
    using B = Butterflies<Ops>;
    using D = typename Ops::D;
    using V = typename Ops::V;
    using Complex = typename Ops::Complex;
    static constexpr std::size_t lanes = hn::MaxLanes(D());

    static HWY_INLINE Complex times(const Complex& a, const Real* root)
    {
        return B::times(a, Ops::set(root[0]), Ops::set(root[1]));
    }
    static HWY_INLINE Complex load(const Real* re, const Real* im, std::size_t point)
    {
        return {hn::Load(D(), re + point * lanes), hn::Load(D(), im + point * lanes)};
    }
    static HWY_INLINE void store(const Complex& a, Real* re, Real* im, std::size_t point)
    {
        hn::Store(a.re, D(), re + point * lanes), hn::Store(a.im, D(), im + point * lanes);
    }

    template <int radix>
    static void pass(const typename LineFft<Real>::Pass& of, const Real* twiddles, const Lines<Real>& lines)
    {
        const auto rest = static_cast<std::size_t>(of.length / radix), stride = static_cast<std::size_t>(of.stride);
        for (std::size_t p = 0; p < rest; ++p)
        {
            for (std::size_t q = 0; q < stride; ++q)
            {
                Complex a[radix];
                for (std::size_t k = 0; k < radix; ++k) { a[k] = load(lines.re, lines.im, q + stride * (p + rest * k)); }
                B::template transform<radix>(a);
                store(a[0], lines.other_re, lines.other_im, q + stride * radix * p);
                for (std::size_t k = 1; k < radix; ++k)
                {
                    const Complex result = p == 0 ? a[k] : times(a[k], twiddles + 2 * (p * (radix - 1) + k - 1));
                    store(result, lines.other_re, lines.other_im, q + stride * (radix * p + k));
                }
            }
        }
    }

    // A pass whose factor has no butterfly. It computes sums of products.
    static void pass_of_prime(const typename LineFft<Real>::Pass& of, const Real* twiddles, const Real* roots,
                              const Lines<Real>& lines)
    {
        const auto radix = static_cast<std::size_t>(of.radix), rest = static_cast<std::size_t>(of.length) / radix,
                   stride = static_cast<std::size_t>(of.stride);
        for (std::size_t p = 0; p < rest; ++p)
        {
            for (std::size_t q = 0; q < stride; ++q)
            {
                for (std::size_t k = 0; k < radix; ++k)
                {
                    Complex sum = load(lines.re, lines.im, q + stride * p);
                    for (std::size_t j = 1; j < radix; ++j)
                    {
                        sum = B::add(sum,
                                     times(load(lines.re, lines.im, q + stride * (p + rest * j)), roots + 2 * (j * k % radix)));
                    }
                    if (k > 0) { sum = times(sum, twiddles + 2 * (p * (radix - 1) + k - 1)); }
                    store(sum, lines.other_re, lines.other_im, q + stride * (radix * p + k));
                }
            }
        }
    }

    // Replaces the lines by their transforms. May exchange the pointers in `lines`.
    static void forward(const LineFft<Real>& fft, Lines<Real>& lines)
    {
        for (const auto& of : fft.passes())
        {
            const Real* const twiddles = fft.twiddles(of);
            switch (of.radix)
            {
            case 2:
                pass<2>(of, twiddles, lines);
                break;
            case 3:
                pass<3>(of, twiddles, lines);
                break;
            case 4:
                pass<4>(of, twiddles, lines);
                break;
            case 5:
                pass<5>(of, twiddles, lines);
                break;
            case 7:
                pass<7>(of, twiddles, lines);
                break;
            case 8:
                pass<8>(of, twiddles, lines);
                break;
            default:
                pass_of_prime(of, twiddles, fft.radix_roots(of.radix), lines);
            }
            lines.swap_sides();
        }
    }
    static void backward(const LineFft<Real>& fft, Lines<Real>& lines)
    {
        lines.exchange_parts();
        forward(fft, lines);
        lines.exchange_parts();
    }
};

} // namespace HWY_NAMESPACE
} // namespace parhelion::mesh
HWY_AFTER_NAMESPACE();

#endif // end of the include guard, which is per instruction set
