// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/reduction_cpu.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace parhelion {

namespace {

#if defined(__x86_64__)

// Marks functions that need AVX2 and F16C, and are called only if the processor has them. Intrinsics are those of Intel's guide.
#define PARHELION_SHORT_VECTORS __attribute__((target("avx2,f16c")))

bool detect()
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx2") != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

PARHELION_SHORT_VECTORS inline __m256 widened_eight(__m128i x, Half) { return _mm256_cvtph_ps(x); }
PARHELION_SHORT_VECTORS inline __m256 widened_eight(__m128i x, Bfloat16)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

// Does what as_half() does, for eight numbers. The instruction rounds alike, but keeps a NaN's payload, which this replaces.
PARHELION_SHORT_VECTORS inline __m128i narrowed_eight(__m256 x, Half)
{
    const __m128i rounded = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m128i magnitude = _mm_and_si128(rounded, _mm_set1_epi16(0x7FFF));
    const __m128i is_nan = _mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7C00));
    const __m128i nan = _mm_or_si128(_mm_andnot_si128(_mm_set1_epi16(0x7FFF), rounded), _mm_set1_epi16(0x7E00));
    return _mm_blendv_epi8(rounded, nan, is_nan);
}
// Does what as_bfloat16() does, for eight numbers.
PARHELION_SHORT_VECTORS inline __m128i narrowed_eight(__m256 x, Bfloat16)
{
    const __m256i bits = _mm256_castps_si256(x), upper = _mm256_srli_epi32(bits, 16);
    const __m256i is_odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), is_odd), 16);
    const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
    const __m256i is_nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7F800000));
    const __m256i nan = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
    const __m256i all = _mm256_blendv_epi8(rounded, nan, is_nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

// Does what combined() does, for eight numbers. The instructions return the second operand if one is NaN or both are zeros.
template <Reduction reduction>
PARHELION_SHORT_VECTORS inline __m256 combined_eight(__m256 a, __m256 b)
{
    if constexpr (reduction == Reduction::Min) { return _mm256_min_ps(b, a); }
    else if constexpr (reduction == Reduction::Max) { return _mm256_max_ps(b, a); }
    else if constexpr (reduction == Reduction::Product) { return _mm256_mul_ps(a, b); }
    else { return _mm256_add_ps(a, b); }
}
// As finished().
template <Reduction reduction>
PARHELION_SHORT_VECTORS inline __m256 finished_eight(__m256 combination, int n_terms)
{
    if constexpr (reduction == Reduction::Average)
    {
        return _mm256_div_ps(combination, _mm256_set1_ps(static_cast<float>(n_terms)));
    }
    else { return combination; }
}

// Combines the first elements, eight at a time, and returns the number of elements that it has combined.
template <class T, Reduction reduction>
PARHELION_SHORT_VECTORS std::size_t combine_eights(const T* const* terms, int n_terms, T* const* outs, int n_outs,
                                                   std::size_t count)
{
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
    {
        __m256 sum = widened_eight(_mm_loadu_si128(reinterpret_cast<const __m128i*>(terms[0] + i)), T{});
        for (int t = 1; t < n_terms; ++t)
        {
            const __m128i term = _mm_loadu_si128(reinterpret_cast<const __m128i*>(terms[t] + i));
            sum = combined_eight<reduction>(sum, widened_eight(term, T{}));
        }
        const __m128i narrow = narrowed_eight(finished_eight<reduction>(sum, n_terms), T{});
        for (int o = 0; o < n_outs; ++o) { _mm_storeu_si128(reinterpret_cast<__m128i*>(outs[o] + i), narrow); }
    }
    return i;
}

#else

bool detect() { return false; }

template <class T, Reduction reduction>
std::size_t combine_eights(const T* const*, int, T* const*, int, std::size_t)
{
    return 0;
}

#endif

// Combines two terms into one output as combine_terms() does, in a loop that compilers turn into vector instructions.
template <class T, Reduction reduction>
void combine_two(const T* a, const T* b, T* out, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i)
    {
        narrow(out[i], finished<reduction>(combined<reduction>(widened(a[i]), widened(b[i])), 2));
    }
}

// Does what for_elements() does, for all types but bytes, and all reductions.
template <class Work>
void for_all_elements(ElementType type, Reduction reduction, Work&& work)
{
    const auto with = [&]<class T>() {
        for_reduction<T, Reduction::Sum, Reduction::Min, Reduction::Max, Reduction::Product, Reduction::Average>(reduction, work);
    };
    if (for_floating_type(type, with)) { return; }
    switch (type)
    {
    case ElementType::Int32:
        return with.template operator()<std::int32_t>();
    case ElementType::Int64:
        return with.template operator()<std::int64_t>();
    case ElementType::Uint8:
        return with.template operator()<std::uint8_t>();
    default:
        PARHELION_EXPECTS(false);
    }
}

} // namespace

bool has_vectors_of_short_numbers()
{
    static const bool has = detect();
    return has;
}

void combine_on_cpu(ElementType type, Reduction reduction, const std::byte* const* terms, int n_terms, std::byte* const* outs,
                    int n_outs, std::size_t count, bool use_vectors)
{
    if (n_terms == 1)
    {
        for (int o = 0; o < n_outs; ++o)
        {
            if (count > 0 && outs[o] != terms[0]) { std::memcpy(outs[o], terms[0], count * bytes_of(type)); }
        }
        return;
    }
    for_all_elements(type, reduction, [&]<class T, Reduction r>() {
        const auto* from = reinterpret_cast<const T* const*>(terms);
        const auto* to = reinterpret_cast<T* const*>(outs);
        if constexpr (sizeof(T) == 2)
        {
            if (use_vectors)
            {
                const std::size_t done = combine_eights<T, r>(from, n_terms, to, n_outs, count);
                return combine_packs<T, 1, r>(from, n_terms, to, n_outs, done, count, 1);
            }
        }
        if (n_terms == 2 && n_outs == 1) { return combine_two<T, r>(from[0], from[1], to[0], count); }
        combine_terms<T, r>(from, n_terms, to, n_outs, count, 0, 1);
    });
}

} // namespace parhelion
