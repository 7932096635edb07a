// SPDX-License-Identifier: Apache-2.0
// Transposes a square of numbers, from a row in each vector to a column in each vector.
// Highway's foreach_target includes this file once per instruction set. Cost: 3 shuffles
// for each vector of 8 floats. Loads of single numbers would take ten times as long.

#if defined(PARHELION_TRANSPOSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_TRANSPOSE_INL
#undef PARHELION_TRANSPOSE_INL
#else
#define PARHELION_TRANSPOSE_INL
#endif

#include "hwy/highway.h"

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace parhelion::mesh {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Moves lane k of vector i to lane i of vector k. The number of vectors is that of lanes.
template <class D, std::size_t n, class V = hn::Vec<D>>
HWY_INLINE void transpose(D d, V (&v)[n])
{
    using Real = hn::TFromD<D>;
    constexpr std::size_t in_block = std::min(n, 16 / sizeof(Real)), blocks = n / in_block; // blocks of 128 bits
    static_assert(n == hn::MaxLanes(D()) && blocks <= 4);
    for (std::size_t i = 0; blocks > 1 && i < n / 2; ++i)
    {
        const V low = hn::ConcatLowerLower(d, v[i + n / 2], v[i]);
        v[i + n / 2] = hn::ConcatUpperUpper(d, v[i + n / 2], v[i]), v[i] = low;
    }
    for (std::size_t i = 0; blocks > 2 && i < n; ++i)
    {
        if ((i & n / 4) != 0) { continue; }
        const V even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[i + n / 4]), v[i]);
        v[i + n / 4] = hn::OddEvenBlocks(v[i + n / 4], hn::SwapAdjacentBlocks(v[i])), v[i] = even;
    }
    for (std::size_t i = 0; i < n; i += in_block)
    {
        if constexpr (in_block == 2)
        {
            const V low = hn::InterleaveLower(d, v[i], v[i + 1]);
            v[i + 1] = hn::InterleaveUpper(d, v[i], v[i + 1]), v[i] = low;
        }
        else if constexpr (in_block == 4)
        {
            const hn::Repartition<double, D> pairs;
            const auto of_pairs = [&](V a, V b, V& lower, V& upper) {
                const auto a2 = hn::BitCast(pairs, a), b2 = hn::BitCast(pairs, b);
                lower = hn::BitCast(d, hn::InterleaveLower(pairs, a2, b2));
                upper = hn::BitCast(d, hn::InterleaveUpper(pairs, a2, b2));
            };
            const V low_a = hn::InterleaveLower(d, v[i], v[i + 1]), up_a = hn::InterleaveUpper(d, v[i], v[i + 1]);
            const V low_b = hn::InterleaveLower(d, v[i + 2], v[i + 3]), up_b = hn::InterleaveUpper(d, v[i + 2], v[i + 3]);
            of_pairs(low_a, low_b, v[i], v[i + 1]);
            of_pairs(up_a, up_b, v[i + 2], v[i + 3]);
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::mesh
HWY_AFTER_NAMESPACE();

#endif // end of the include guard, which is per instruction set
