// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of 2, 3, 4, 5, 7 and 8 complex numbers, over an operations policy Ops. Two namespaces
// include this text, each with its own Ops: for vectors of an instruction set (line_fft-inl.hpp) and for lanes of a
// GPU (gpu/fft/block_fft.cuh). Each namespace defines PARHELION_BUTTERFLY as the specifier of its functions.
//
// Ops has Real, V, Complex {V re, im}, set(Real), add(a, b), sub(a, b), mul(a, b) and neg(a). It has
// mul_add(a, b, c) = a b + c and mul_sub(a, b, c) = a b - c, which round once if the processor can.

template <class Ops>
struct Butterflies
{
    using Real = typename Ops::Real;
    using V = typename Ops::V;
    using Complex = typename Ops::Complex;

    static PARHELION_BUTTERFLY Complex add(const Complex& a, const Complex& b)
    {
        return {Ops::add(a.re, b.re), Ops::add(a.im, b.im)};
    }
    static PARHELION_BUTTERFLY Complex sub(const Complex& a, const Complex& b)
    {
        return {Ops::sub(a.re, b.re), Ops::sub(a.im, b.im)};
    }
    static PARHELION_BUTTERFLY Complex minus_i_times(const Complex& a) { return {a.im, Ops::neg(a.re)}; }
    static PARHELION_BUTTERFLY Complex times(const Complex& a, V re, V im)
    {
        return {Ops::mul_sub(a.re, re, Ops::mul(a.im, im)), Ops::mul_add(a.re, im, Ops::mul(a.im, re))};
    }

    // Transforms `radix` numbers in place.
    template <int radix>
    static PARHELION_BUTTERFLY void transform(Complex (&a)[radix])
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
        else if constexpr (radix == 8)
        {
            Complex even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
            transform(even), transform(odd);
            const V root = Ops::set(static_cast<Real>(0.70710678118654752440));
            odd[1] = {Ops::mul(root, Ops::add(odd[1].re, odd[1].im)), Ops::mul(root, Ops::sub(odd[1].im, odd[1].re))};
            odd[2] = minus_i_times(odd[2]);
            odd[3] = {Ops::mul(root, Ops::sub(odd[3].im, odd[3].re)), Ops::neg(Ops::mul(root, Ops::add(odd[3].re, odd[3].im)))};
            PARHELION_UNROLL
            for (int k = 0; k < 4; ++k) { a[k] = add(even[k], odd[k]), a[k + 4] = sub(even[k], odd[k]); }
        }
        else // odd radix: numbers j and radix - j have conjugate roots
        {
            constexpr int pairs = radix / 2;
            Complex sums[pairs], differences[pairs], result[radix];
            result[0] = a[0];
            PARHELION_UNROLL
            for (int j = 0; j < pairs; ++j)
            {
                sums[j] = add(a[j + 1], a[radix - 1 - j]);
                differences[j] = minus_i_times(sub(a[j + 1], a[radix - 1 - j]));
                result[0] = add(result[0], sums[j]);
            }
            PARHELION_UNROLL
            for (int k = 1; k <= pairs; ++k)
            {
                Complex symmetric = a[0], antisymmetric = {Ops::set(0), Ops::set(0)};
                PARHELION_UNROLL
                for (int j = 1; j <= pairs; ++j)
                {
                    const V c = Ops::set(static_cast<Real>(cosine<radix>(j * k))),
                            s = Ops::set(static_cast<Real>(sine<radix>(j * k)));
                    symmetric = {Ops::mul_add(c, sums[j - 1].re, symmetric.re), Ops::mul_add(c, sums[j - 1].im, symmetric.im)};
                    antisymmetric = {Ops::mul_add(s, differences[j - 1].re, antisymmetric.re),
                                     Ops::mul_add(s, differences[j - 1].im, antisymmetric.im)};
                }
                result[k] = add(symmetric, antisymmetric), result[radix - k] = sub(symmetric, antisymmetric);
            }
            PARHELION_UNROLL
            for (int k = 0; k < radix; ++k) { a[k] = result[k]; }
        }
    }

private:
    // Returns the cosine (or sine, in the next function) of 2 pi i / radix.
    template <int radix>
    static PARHELION_BUTTERFLY constexpr double cosine(int i)
    {
        constexpr double of3[] = {1, -0.5}, of5[] = {1, 0.30901699437494742410, -0.80901699437494742410},
                         of7[] = {1, 0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624};
        const int reduced = i % radix > radix / 2 ? radix - i % radix : i % radix;
        return radix == 3 ? of3[reduced % 2] : radix == 5 ? of5[reduced % 3] : of7[reduced % 4];
    }
    template <int radix>
    static PARHELION_BUTTERFLY constexpr double sine(int i)
    {
        constexpr double of3[] = {0, 0.86602540378443864676}, of5[] = {0, 0.95105651629515357212, 0.58778525229247312917},
                         of7[] = {0, 0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048};
        const int reduced = i % radix > radix / 2 ? radix - i % radix : i % radix;
        const double size = radix == 3 ? of3[reduced % 2] : radix == 5 ? of5[reduced % 3] : of7[reduced % 4];
        return i % radix > radix / 2 ? -size : size;
    }
};
