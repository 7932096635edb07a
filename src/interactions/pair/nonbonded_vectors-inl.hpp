// SPDX-License-Identifier: Apache-2.0
// The vector types of the pair kernel, and operations on single vectors: the pair law, conversion to
// fixed-point sums, 1 / sqrt. Highway's foreach_target includes this file once per instruction set.

#if defined(PARHELION_NONBONDED_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_NONBONDED_VECTORS_INL
#undef PARHELION_NONBONDED_VECTORS_INL
#else
#define PARHELION_NONBONDED_VECTORS_INL
#endif

#include "interactions/pair/nonbonded_kernel.hpp"
#include "interactions/pair/pair_law.hpp"

#include "hwy/highway.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace parhelion::nonbonded {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The vector types of a policy. Reproducible sums have 64 bits, so their vectors have as many lanes as a vector of doubles.
template <class N>
struct Vectors
{
    static constexpr bool reproducible = N::summation == Summation::Reproducible;
    using Real = typename N::Real;
    using D64 = hn::CappedTag<double, cluster_size>;
    using D = std::conditional_t<reproducible, hn::Rebind<Real, D64>, hn::CappedTag<Real, 2 * cluster_size>>;
    using DSigned = hn::Rebind<std::make_signed_t<typename N::Fixed>, D>;
    using DFixed = hn::Rebind<typename N::Fixed, D>;
    using DSum = hn::Rebind<typename N::ForceSum, D>;
    using V = hn::Vec<D>;
    using VFixed = hn::Vec<DFixed>;
    using VSum = hn::Vec<DSum>; // vectors for sums of forces and of energies
};

// The operations policy for the pair law.
template <class N>
struct VectorOps
{
    using T = Vectors<N>;
    using Real = typename T::Real;
    using V = typename T::V;
    static HWY_INLINE V set(Real x) { return hn::Set(typename T::D(), x); }
    static HWY_INLINE V add(V x, V y) { return hn::Add(x, y); }
    static HWY_INLINE V sub(V x, V y) { return hn::Sub(x, y); }
    static HWY_INLINE V mul(V x, V y) { return hn::Mul(x, y); }
    static HWY_INLINE V mul_add(V x, V y, V z) { return hn::MulAdd(x, y, z); }
    static HWY_INLINE V mul_sub(V x, V y, V z) { return hn::MulSub(x, y, z); }
    static HWY_INLINE V max(V x, V y) { return hn::Max(x, y); }
    static HWY_INLINE V if_less(V x, V y, V z) { return hn::IfThenElseZero(hn::Lt(x, y), z); }
};

#define PARHELION_PAIR_LAW HWY_INLINE
#include "interactions/pair/pair_law-inl.hpp"
#undef PARHELION_PAIR_LAW

// The force of ScreenedCoulomb by segments, for vectors with one number of each segment. It takes a third of the operations.
template <class N>
struct SegmentedCoulomb
{
    using D = typename Vectors<N>::D;
    using V = hn::Vec<D>;
    static constexpr bool is_possible =
        N::summation == Summation::Fast && std::is_same_v<typename N::Real, float> && hn::MaxLanes(D()) >= 8;

    static HWY_INLINE V force(const Screening& screening, V qq, V r2, V rinv, V rinv2)
    {
        if constexpr (hn::MaxLanes(D()) == 16) { return of_segments(screening, screening.sixteen_segments, qq, r2, rinv, rinv2); }
        else { return of_segments(screening, screening.eight_segments, qq, r2, rinv, rinv2); }
    }

private:
    template <class Segments>
    static HWY_INLINE V of_segments(const Screening& screening, const Segments& segments, V qq, V r2, V rinv, V rinv2)
    {
        static_assert(Segments::count == hn::MaxLanes(D()));
        constexpr int mantissa_bits = Segments::count == 16 ? 3 : 2, shift = 23 - mantissa_bits;
        const D d;
        const hn::RebindToSigned<D> di;
        const V w = hn::MulAdd(r2, hn::Set(d, screening.segments_per_r2), hn::Set(d, 1.0f));
        const auto bits = hn::BitCast(di, w);
        const auto number = hn::And(hn::ShiftRight<shift>(bits), hn::Set(di, static_cast<std::int32_t>(Segments::count - 1)));
        const auto segment = hn::IndicesFromVec(d, number);
        const V begin = hn::BitCast(d, hn::And(bits, hn::Set(di, -(1 << shift)))), x = hn::Sub(w, begin);
        const auto coefficient = [&](std::size_t i) {
            return hn::TableLookupLanes(hn::Load(d, segments.force[i].data()), segment);
        };
        V sum = coefficient(Segments::terms - 1);
        for (std::size_t i = Segments::terms - 1; i > 0; --i) { sum = hn::MulAdd(sum, x, coefficient(i - 1)); }
        return hn::Mul(qq, hn::MulAdd(rinv, rinv2, sum));
    }
};

// Converts doubles as to_sum() of base/numerics.hpp does, with the same bits. The integer part, and the fractional part times
// 2^32, are rounded to integers by adding 1.5 * 2^52, which leaves an integer in the low bits. `limit` <= fixed_sum_limit.
template <class D64, class V64 = hn::Vec<D64>>
HWY_INLINE hn::Vec<hn::Rebind<std::int64_t, D64>> to_fixed_point(D64 d, V64 value, double limit)
{
    const hn::Rebind<std::int64_t, D64> di;
    const V64 magic = hn::Set(d, 6755399441055744.0), largest = hn::Set(d, limit);
    const V64 x = hn::Max(hn::Min(value, largest), hn::Neg(largest));
    const V64 whole_bits = hn::Add(x, magic);
    const V64 whole = hn::Sub(whole_bits, magic);
    const V64 rest_bits = hn::Add(hn::Mul(hn::Sub(x, whole), hn::Set(d, fixed_sum_scale)), magic);
    const auto zero = hn::BitCast(di, magic);
    return hn::Add(hn::ShiftLeft<32>(hn::Sub(hn::BitCast(di, whole_bits), zero)), hn::Sub(hn::BitCast(di, rest_bits), zero));
}
template <class N>
HWY_INLINE typename Vectors<N>::VSum to_sum_vector(typename Vectors<N>::V value, [[maybe_unused]] double limit)
{
    using T = Vectors<N>;
    if constexpr (!T::reproducible) { return value; }
    else if constexpr (std::is_same_v<typename T::Real, float>)
    {
        return to_fixed_point(typename T::D64(), hn::PromoteTo(typename T::D64(), value), limit);
    }
    else { return to_fixed_point(typename T::D64(), value, limit); }
}
template <class N>
HWY_INLINE typename Vectors<N>::VSum force_sum(typename Vectors<N>::V force)
{
    return to_sum_vector<N>(force, fixed_sum_limit);
}
template <class N>
HWY_INLINE typename Vectors<N>::VSum energy_sum(typename Vectors<N>::V energy)
{
    return to_sum_vector<N>(energy, fixed_sum_pair_limit);
}

// Computes 1 / sqrt(x) almost to the last bit. For floats it refines the hardware's estimate y by e = 1 - x y^2,
// which is cheaper than square root and division. With 16 lanes y has 14 bits, and y (1 + e / 2) has an error of 3
// e^2 / 8 < 1e-8. With fewer lanes y has 12 bits, and y (1 + e / 2 + 3 e^2 / 8) has an error of e^3 / 3 < 1e-10.
template <class D, std::size_t n, class V = hn::Vec<D>>
HWY_INLINE void inverse_sqrt(D d, const V (&x)[n], V (&result)[n])
{
    if constexpr (std::is_same_v<hn::TFromD<D>, float>)
    {
        V y[n], e[n];
        for (std::size_t u = 0; u < n; ++u) { y[u] = hn::ApproximateReciprocalSqrt(x[u]); }
        for (std::size_t u = 0; u < n; ++u) { e[u] = hn::NegMulAdd(hn::Mul(x[u], y[u]), y[u], hn::Set(d, 1.0f)); }
        for (std::size_t u = 0; u < n; ++u)
        {
            const V half = hn::Set(d, 0.5f);
            if constexpr (hn::MaxLanes(D()) == 16) { result[u] = hn::MulAdd(hn::Mul(y[u], half), e[u], y[u]); }
            else { result[u] = hn::MulAdd(hn::Mul(y[u], e[u]), hn::MulAdd(e[u], hn::Set(d, 0.375f), half), y[u]); }
        }
    }
    else
    {
        for (std::size_t u = 0; u < n; ++u) { result[u] = hn::Div(hn::Set(d, 1.0), hn::Sqrt(x[u])); }
    }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::nonbonded
HWY_AFTER_NAMESPACE();

#endif // end of the include guard, which is per instruction set
