// SPDX-License-Identifier: Apache-2.0
// What a step of a collective does to elements, written once for threads and kernels: the same operations in the same order, so
// that CPUs and GPUs get the same bits. Numbers of 16 bits are combined as floats, in the order of the terms, and rounded once a
// step, to nearest, ties to even.
//
// Cost: terms loads and outs stores an element, 16 bytes at a time where all ends are aligned so.
#pragma once

#include "base/error.hpp"
#include "base/host_device.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace parhelion {

enum class ElementType : std::uint8_t
{
    Float,
    Double,
    Half,     // IEEE 754 binary16
    Bfloat16, // the upper half of a float
    Byte      // of any data: copied, never combined
};

enum class Reduction : std::uint8_t
{
    Sum,
    Min, // of numbers: where one is NaN the result is a term, the same one on all members
    Max
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
    if (magnitude < 0x0400) // zero or subnormal: units of 2^-24
    {
        const float value = static_cast<float>(magnitude) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
    }
    const std::uint32_t bias = magnitude >= 0x7C00 ? 255 - 31 : 127 - 15; // infinity and NaN, or a number
    return std::bit_cast<float>(sign | ((magnitude << 13) + (bias << 23)));
}

PARHELION_HD inline Bfloat16 as_bfloat16(float x)
{
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) { return {static_cast<std::uint16_t>(bits >> 16 | 0x40)}; } // NaN stays one
    return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}
PARHELION_HD inline Half as_half(float x)
{
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) { return {static_cast<std::uint16_t>(sign | 0x7E00U)}; }
    if (magnitude >= 0x477FF000U) { return {static_cast<std::uint16_t>(sign | 0x7C00U)}; } // 65520 and more
    if (magnitude < 0x38800000U) // below 2^-14: the sum with 0.5 rounds to units of 2^-24
    {
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U))};
    }
    const std::uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
    return {static_cast<std::uint16_t>(sign | ((rounded - (112U << 23)) >> 13))};
}

// In what elements are combined, and back.
PARHELION_HD inline float widened(float x) { return x; }
PARHELION_HD inline double widened(double x) { return x; }
PARHELION_HD inline float widened(Half x) { return as_float(x); }
PARHELION_HD inline float widened(Bfloat16 x) { return as_float(x); }
PARHELION_HD inline void narrow(float& to, float x) { to = x; }
PARHELION_HD inline void narrow(double& to, double x) { to = x; }
PARHELION_HD inline void narrow(Half& to, float x) { to = as_half(x); }
PARHELION_HD inline void narrow(Bfloat16& to, float x) { to = as_bfloat16(x); }

template <Reduction reduction, class W>
PARHELION_HD W combined(W a, W b)
{
    if constexpr (reduction == Reduction::Sum) { return a + b; }
    else if constexpr (reduction == Reduction::Min) { return b < a ? b : a; }
    else { return a < b ? b : a; }
}

constexpr std::size_t bytes_of(ElementType type)
{
    constexpr std::size_t bytes[] = {4, 8, 2, 2, 1};
    return bytes[static_cast<std::size_t>(type)];
}

// Calls work.template operator()<T, reduction>() for the type, which is no byte, and the reduction.
template <class Work>
void for_elements(ElementType type, Reduction reduction, Work&& work)
{
    const auto with_type = [&]<class T>() {
        switch (reduction)
        {
        case Reduction::Sum:
            return work.template operator()<T, Reduction::Sum>();
        case Reduction::Min:
            return work.template operator()<T, Reduction::Min>();
        case Reduction::Max:
            return work.template operator()<T, Reduction::Max>();
        }
        PARHELION_EXPECTS(false);
    };
    switch (type)
    {
    case ElementType::Float:
        return with_type.template operator()<float>();
    case ElementType::Double:
        return with_type.template operator()<double>();
    case ElementType::Half:
        return with_type.template operator()<Half>();
    case ElementType::Bfloat16:
        return with_type.template operator()<Bfloat16>();
    case ElementType::Byte:
        break;
    }
    PARHELION_EXPECTS(false);
}

// Elements that are loaded and stored at once.
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
        if (n_terms > 1) // one term is copied bit by bit
        {
            decltype(widened(T{})) sums[n];
            for (int k = 0; k < n; ++k) { sums[k] = widened(pack.of[k]); }
            for (int t = 1; t < n_terms; ++t)
            {
                const P term = reinterpret_cast<const P*>(terms[t])[i];
                for (int k = 0; k < n; ++k) { sums[k] = combined<reduction>(sums[k], widened(term.of[k])); }
            }
            for (int k = 0; k < n; ++k) { narrow(pack.of[k], sums[k]); }
        }
        for (int o = 0; o < n_outs; ++o) { reinterpret_cast<P*>(outs[o])[i] = pack; }
    }
}

// outs[...][i] = terms[0][i] combined with terms[1][i] and so on, for i below count; by thread `thread` of `threads`, each of
// which has elements of its own. An out may be one of the terms.
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
