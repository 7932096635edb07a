// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a collective's step, written once for threads and kernels. Both do the same operations in the same order, so
// that CPUs and GPUs get the same bits. Numbers of 16 bits are combined as floats, in the order of the terms, and rounded once
// per step, to nearest, ties to even.
//
// Cost: each element is loaded once per term and stored once per output, 16 bytes at a time if all addresses are so aligned.
#pragma once

#include "base/error.hpp"
#include "base/host_device.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parhelion {

enum class ElementType : std::uint8_t
{
    Float,
    Double,
    Half,     // IEEE 754 binary16
    Bfloat16, // the upper half of a float
    Byte,     // a byte of any data: copied, never combined
    Int32,    // this type and the next are for CPU ranks only
    Int64,
    Uint8
};

enum class Reduction : std::uint8_t
{
    Sum,
    Min, // if a term is NaN, the result is one of the terms, the same on all members
    Max,
    Product, // this and the next are for CPU ranks only; integers wrap, as in sums
    Average  // the sum of all terms, divided by their number; of integers towards zero
};

struct Half
{
    std::uint16_t bits;
};
struct Bfloat16
{
    std::uint16_t bits;
};

PARHELION_HD inline float as_float(Bfloat16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }
PARHELION_HD inline float as_float(Half x)
{
    const std::uint32_t sign = (x.bits & 0x8000U) << 16, magnitude = x.bits & 0x7FFFU;
    if (magnitude < 0x0400) // zero or subnormal, in units of 2^-24
    {
        const float value = static_cast<float>(magnitude) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
    }
    const std::uint32_t bias = magnitude >= 0x7C00 ? 255 - 31 : 127 - 15; // first for infinity and NaN, then for numbers
    return std::bit_cast<float>(sign | ((magnitude << 13) + (bias << 23)));
}

PARHELION_HD inline Bfloat16 as_bfloat16(float x)
{
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) { return {static_cast<std::uint16_t>(bits >> 16 | 0x40)}; } // NaN stays NaN
    return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}
PARHELION_HD inline Half as_half(float x)
{
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) { return {static_cast<std::uint16_t>(sign | 0x7E00U)}; }
    if (magnitude >= 0x477FF000U) { return {static_cast<std::uint16_t>(sign | 0x7C00U)}; } // 65520 and more become infinity
    if (magnitude < 0x38800000U) // below 2^-14: the sum with 0.5 rounds to units of 2^-24
    {
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U))};
    }
    const std::uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
    return {static_cast<std::uint16_t>(sign | ((rounded - (112U << 23)) >> 13))};
}

// Convert elements to the type in which they are combined, and back.
PARHELION_HD inline float widened(float x) { return x; }
PARHELION_HD inline double widened(double x) { return x; }
PARHELION_HD inline std::int64_t widened(std::int32_t x) { return x; }
PARHELION_HD inline std::int64_t widened(std::int64_t x) { return x; }
PARHELION_HD inline std::int64_t widened(std::uint8_t x) { return x; }
PARHELION_HD inline float widened(Half x) { return as_float(x); }
PARHELION_HD inline float widened(Bfloat16 x) { return as_float(x); }
PARHELION_HD inline void narrow(float& to, float x) { to = x; }
PARHELION_HD inline void narrow(double& to, double x) { to = x; }
PARHELION_HD inline void narrow(std::int32_t& to, std::int64_t x) { to = static_cast<std::int32_t>(x); }
PARHELION_HD inline void narrow(std::int64_t& to, std::int64_t x) { to = x; }
PARHELION_HD inline void narrow(std::uint8_t& to, std::int64_t x) { to = static_cast<std::uint8_t>(x); }
PARHELION_HD inline void narrow(Half& to, float x) { to = as_half(x); }
PARHELION_HD inline void narrow(Bfloat16& to, float x) { to = as_bfloat16(x); }

template <Reduction reduction, class W>
PARHELION_HD W combined(W a, W b)
{
    if constexpr (reduction == Reduction::Min) { return b < a ? b : a; }
    else if constexpr (reduction == Reduction::Max) { return a < b ? b : a; }
    else if constexpr (std::is_integral_v<W>) // combines integers as unsigned numbers, which may wrap
    {
        const auto x = static_cast<std::make_unsigned_t<W>>(a), y = static_cast<std::make_unsigned_t<W>>(b);
        return static_cast<W>(reduction == Reduction::Product ? x * y : x + y);
    }
    else if constexpr (reduction == Reduction::Product) { return a * b; }
    else { return a + b; }
}

// Returns the result of a reduction of n_terms terms from their combination: an average is divided by the number of terms.
template <Reduction reduction, class W>
PARHELION_HD W finished(W combination, int n_terms)
{
    if constexpr (reduction == Reduction::Average) { return combination / static_cast<W>(n_terms); }
    else { return combination; }
}

constexpr std::size_t bytes_of(ElementType type)
{
    constexpr std::size_t bytes[] = {4, 8, 2, 2, 1, 4, 8, 1};
    return bytes[static_cast<std::size_t>(type)];
}

// Calls work.template operator()<T, reduction>() with `reduction` as a constant. Precondition: it is one of `all`.
template <class T, Reduction... all, class Work>
void for_reduction(Reduction reduction, Work&& work)
{
    const bool is_found = ((reduction == all && (work.template operator()<T, all>(), true)) || ...);
    PARHELION_EXPECTS(is_found);
}

// Calls with.template operator()<T>() for a floating-point type. Returns false for other types.
template <class With>
bool for_floating_type(ElementType type, With&& with)
{
    switch (type)
    {
    case ElementType::Float:
        return with.template operator()<float>(), true;
    case ElementType::Double:
        return with.template operator()<double>(), true;
    case ElementType::Half:
        return with.template operator()<Half>(), true;
    case ElementType::Bfloat16:
        return with.template operator()<Bfloat16>(), true;
    default:
        return false;
    }
}

// Calls work.template operator()<T, reduction>() for a type and a reduction for which is_for_kernels() is true.
template <class Work>
void for_elements(ElementType type, Reduction reduction, Work&& work)
{
    const bool is_found = for_floating_type(
        type, [&]<class T>() { for_reduction<T, Reduction::Sum, Reduction::Min, Reduction::Max>(reduction, work); });
    PARHELION_EXPECTS(is_found);
}
constexpr bool is_for_kernels(ElementType type) { return type <= ElementType::Bfloat16; }
constexpr bool is_for_kernels(Reduction reduction) { return reduction <= Reduction::Max; }

// n elements of type T, which one instruction loads or stores.
template <class T, int n>
struct alignas(sizeof(T) * n) Pack
{
    T of[n];
};

template <class T, int n, Reduction reduction>
PARHELION_HD void combine_packs(const T* const* terms, int n_terms, T* const* outs, int n_outs, std::size_t begin,
                                std::size_t end, std::size_t step)
{
    using P = Pack<T, n>;
    for (std::size_t i = begin; i < end; i += step)
    {
        P pack = reinterpret_cast<const P*>(terms[0])[i];
        if (n_terms > 1) // a single term is copied bit by bit
        {
            decltype(widened(T{})) sums[n];
            for (int k = 0; k < n; ++k) { sums[k] = widened(pack.of[k]); }
            for (int t = 1; t < n_terms; ++t)
            {
                const P term = reinterpret_cast<const P*>(terms[t])[i];
                for (int k = 0; k < n; ++k) { sums[k] = combined<reduction>(sums[k], widened(term.of[k])); }
            }
            for (int k = 0; k < n; ++k) { narrow(pack.of[k], finished<reduction>(sums[k], n_terms)); }
        }
        for (int o = 0; o < n_outs; ++o) { reinterpret_cast<P*>(outs[o])[i] = pack; }
    }
}

// Computes element i of each of the outputs as terms[0][i] combined with terms[1][i] and so on, for i below count. Thread
// `thread` of `threads` threads handles elements of its own. An output may be one of the terms.
template <class T, Reduction reduction>
PARHELION_HD void combine_terms(const T* const* terms, int n_terms, T* const* outs, int n_outs, std::size_t count,
                                std::size_t thread, std::size_t threads)
{
    constexpr int wide = 16 / sizeof(T);
    std::uintptr_t ends = 0;
    for (int t = 0; t < n_terms; ++t) { ends |= reinterpret_cast<std::uintptr_t>(terms[t]); }
    for (int o = 0; o < n_outs; ++o) { ends |= reinterpret_cast<std::uintptr_t>(outs[o]); }
    const std::size_t packs = ends % 16 == 0 ? count / wide : 0;
    combine_packs<T, wide, reduction>(terms, n_terms, outs, n_outs, thread, packs, threads);
    combine_packs<T, 1, reduction>(terms, n_terms, outs, n_outs, packs * wide + thread, count, threads);
}

} // namespace parhelion
