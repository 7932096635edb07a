// SPDX-License-Identifier: Apache-2.0
// The transform of line_fft.hpp on vectors, one line in each lane. Included once per instruction set by Highway's foreach_target.

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

// Complex numbers [point][lane], real and imaginary parts apart, and as much room again for every other pass.
template <class Real>
struct Lines
{
    Real *re, *im, *other_re, *other_im;

    // The inverse transform is the forward one with real and imaginary parts exchanged.
    void exchange_parts() { std::swap(re, im), std::swap(other_re, other_im); }
    void swap_sides() { std::swap(re, other_re), std::swap(im, other_im); }
};

template <class Real>
struct LineTransform
{
    using D = hn::CappedTag<Real, most_lanes>;
    using V = hn::Vec<D>;
    static constexpr std::size_t lanes = hn::MaxLanes(D());

    struct Complex
    {
        V re, im;
    };
    static HWY_INLINE V set(Real value) { return hn::Set(D(), value); }
    static HWY_INLINE Complex add(const Complex& a, const Complex& b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
    static HWY_INLINE Complex sub(const Complex& a, const Complex& b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
    static HWY_INLINE Complex minus_i_times(const Complex& a) { return {a.im, hn::Neg(a.re)}; }
    static HWY_INLINE Complex times(const Complex& a, const Real* root)
    {
        const V c = set(root[0]), s = set(root[1]);
        return {hn::MulSub(a.re, c, hn::Mul(a.im, s)), hn::MulAdd(a.re, s, hn::Mul(a.im, c))};
    }
    static HWY_INLINE Complex load(const Real* re, const Real* im, std::size_t point)
    {
        return {hn::Load(D(), re + point * lanes), hn::Load(D(), im + point * lanes)};
    }
    static HWY_INLINE void store(const Complex& a, Real* re, Real* im, std::size_t point)
    {
        hn::Store(a.re, D(), re + point * lanes), hn::Store(a.im, D(), im + point * lanes);
    }

    // The discrete transform of `radix` numbers in place.
    template <int radix>
    static HWY_INLINE void butterfly(Complex (&a)[radix])
    {
        if constexpr (radix == 2)
        {
            const Complex sum = add(a[0], a[1]);
            a[1] = sub(a[0], a[1]), a[0] = sum;
        }
        else if constexpr (radix == 4)
        {
            const Complex even = add(a[0], a[2]), even_less = sub(a[0], a[2]), odd = add(a[1], a[3]),
                          odd_less = minus_i_times(sub(a[1], a[3]));
            a[0] = add(even, odd), a[1] = add(even_less, odd_less), a[2] = sub(even, odd), a[3] = sub(even_less, odd_less);
        }
        else // odd: numbers j and radix - j have conjugate roots
        {
            constexpr int pairs = radix / 2;
            Complex sums[pairs], differences[pairs], result[radix];
            result[0] = a[0];
            for (int j = 0; j < pairs; ++j)
            {
                sums[j] = add(a[j + 1], a[radix - 1 - j]);
                differences[j] = minus_i_times(sub(a[j + 1], a[radix - 1 - j]));
                result[0] = add(result[0], sums[j]);
            }
            for (int k = 1; k <= pairs; ++k)
            {
                Complex symmetric = a[0], antisymmetric = {hn::Zero(D()), hn::Zero(D())};
                for (int j = 1; j <= pairs; ++j)
                {
                    const V c = set(static_cast<Real>(cosine<radix>(j * k))), s = set(static_cast<Real>(sine<radix>(j * k)));
                    symmetric = {hn::MulAdd(c, sums[j - 1].re, symmetric.re), hn::MulAdd(c, sums[j - 1].im, symmetric.im)};
                    antisymmetric = {hn::MulAdd(s, differences[j - 1].re, antisymmetric.re),
                                     hn::MulAdd(s, differences[j - 1].im, antisymmetric.im)};
                }
                result[k] = add(symmetric, antisymmetric), result[radix - k] = sub(symmetric, antisymmetric);
            }
            for (int k = 0; k < radix; ++k) { a[k] = result[k]; }
        }
    }
    // cos and sin of 2 pi i / radix.
    template <int radix>
    static constexpr double cosine(int i)
    {
        constexpr double of3[] = {1, -0.5}, of5[] = {1, 0.30901699437494742410, -0.80901699437494742410},
                         of7[] = {1, 0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624};
        const int reduced = i % radix > radix / 2 ? radix - i % radix : i % radix;
        return radix == 3 ? of3[reduced % 2] : radix == 5 ? of5[reduced % 3] : of7[reduced % 4];
    }
    template <int radix>
    static constexpr double sine(int i)
    {
        constexpr double of3[] = {0, 0.86602540378443864676}, of5[] = {0, 0.95105651629515357212, 0.58778525229247312917},
                         of7[] = {0, 0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048};
        const int reduced = i % radix > radix / 2 ? radix - i % radix : i % radix;
        const double size = radix == 3 ? of3[reduced % 2] : radix == 5 ? of5[reduced % 3] : of7[reduced % 4];
        return i % radix > radix / 2 ? -size : size;
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
                butterfly<radix>(a);
                store(a[0], lines.other_re, lines.other_im, q + stride * radix * p);
                for (std::size_t k = 1; k < radix; ++k)
                {
                    const Complex result = p == 0 ? a[k] : times(a[k], twiddles + 2 * (p * (radix - 1) + k - 1));
                    store(result, lines.other_re, lines.other_im, q + stride * (radix * p + k));
                }
            }
        }
    }

    // A factor without a butterfly: sums of products.
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
                        sum = add(sum, times(load(lines.re, lines.im, q + stride * (p + rest * j)), roots + 2 * (j * k % radix)));
                    }
                    if (k > 0) { sum = times(sum, twiddles + 2 * (p * (radix - 1) + k - 1)); }
                    store(sum, lines.other_re, lines.other_im, q + stride * (radix * p + k));
                }
            }
        }
    }

    // The result replaces the lines; pointers may have been exchanged.
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

#endif // per-target include guard
