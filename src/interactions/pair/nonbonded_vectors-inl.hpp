// SPDX-License-Identifier: Apache-2.0
// The vectors of the pair kernel and what it does with single ones: the pair law, conversion to fixed-point sums, 1 / sqrt.
// Included once per instruction set by Highway's foreach_target.

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

// The vectors of a policy. Reproducible sums are 64 bits wide, so there as many numbers are taken as fit a vector of doubles.
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
    using VSum = hn::Vec<DSum>; // sums of forces; of energies as well
};

// The operations of the pair law.
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

// to_sum() of base/numerics.hpp, bit for bit, for a vector of doubles: the whole and the fractional part are rounded to integers
// by adding 1.5 * 2^52, which leaves the integer in the low bits of the number. `limit` is at most fixed_sum_limit.
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

// 1 / sqrt(x) to the last bit or so. Floats: the hardware's estimate y and a step in e = 1 - x y^2; cheaper than square root and
// division. From the 14 bits that 16 lanes have, y (1 + e / 2) leaves an error of 3 e^2 / 8 < 1e-8; from 12 bits y (1 + e / 2 + 3
// e^2 / 8) one of e^3 / 3 < 1e-10.
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

#endif // per-target include guard
