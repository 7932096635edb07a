// SPDX-License-Identifier: Apache-2.0
// Declares what CUDA adds to C++ inside kernels, as words and functions of C++.
#pragma once

#include <standin/threads.hpp>
#include <standin/vectors.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <type_traits>

#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)
#define __restrict__
// One host thread runs a block and no other at that time: its variables are the block's.
#define __shared__ thread_local

// Objects, not macros: structures of the runtime have members of these names.
namespace standin {
template <const Index& (*of)(), unsigned Index::*member>
struct Coordinate
{
    operator unsigned() const { return of().*member; }
};
template <const Index& (*of)()>
struct Coordinates
{
    Coordinate<of, &Index::x> x;
    Coordinate<of, &Index::y> y;
    Coordinate<of, &Index::z> z;
};
} // namespace standin
inline constexpr standin::Coordinates<standin::thread_index> threadIdx{};
inline constexpr standin::Coordinates<standin::block_index> blockIdx{};
inline constexpr standin::Coordinates<standin::block_size> blockDim{};
inline constexpr standin::Coordinates<standin::grid_size> gridDim{};
inline constexpr int warpSize = 32;

// --- barriers

inline void __syncthreads() { standin::meet_block(standin::BlockMeeting::Barrier, false); }
inline int __syncthreads_or(int vote) { return standin::meet_block(standin::BlockMeeting::Or, vote != 0); }
inline int __syncthreads_and(int vote) { return standin::meet_block(standin::BlockMeeting::And, vote != 0); }
inline int __syncthreads_count(int vote) { return standin::meet_block(standin::BlockMeeting::Count, vote != 0); }
inline void __syncwarp(unsigned mask = 0xffffffff) { standin::meet_warp(standin::barrier, mask, 0, 0); }
// The stand-in reorders nothing.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { standin::poll(); }
inline void __trap() { standin::trap(); }
inline long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// --- shuffles, votes, reductions

namespace standin {
template <class T>
T shuffled(unsigned mask, T value, int from)
{
    return from_bits<T>(meet_warp(shuffle, mask, bits(value), from));
}
// The lane's group of `width`.
inline int group_begin(int width) { return lane() / width * width; }
template <class T>
T sum_of(T a, T b)
{
    return a + b;
}
template <class T>
T least_of(T a, T b)
{
    return std::min(a, b);
}
template <class T>
T greatest_of(T a, T b)
{
    return std::max(a, b);
}
template <class T>
T bits_of_either(T a, T b)
{
    return a | b;
}
template <class T>
T bits_of_both(T a, T b)
{
    return a & b;
}
template <class T, T combine(T, T)>
T reduced(unsigned mask, T value)
{
    return from_bits<T>(meet_warp(reduce<T, combine>, mask, bits(value), 0));
}
} // namespace standin

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    return standin::shuffled(mask, value, standin::group_begin(width) + (from & (width - 1)));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int differs, int width = 32)
{
    const int from = standin::lane() ^ differs;
    return standin::shuffled(mask, value, from < standin::group_begin(width) + width ? from : standin::lane());
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    const int from = standin::lane() - static_cast<int>(distance);
    return standin::shuffled(mask, value, from >= standin::group_begin(width) ? from : standin::lane());
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    const int from = standin::lane() + static_cast<int>(distance);
    return standin::shuffled(mask, value, from < standin::group_begin(width) + width ? from : standin::lane());
}
inline unsigned __ballot_sync(unsigned mask, int vote)
{
    return static_cast<unsigned>(standin::meet_warp(standin::ballot, mask, vote != 0 ? 1 : 0, 0));
}
inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0 ? 1 : 0; }
inline int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote == 0) == 0 ? 1 : 0; }
template <class T>
T __reduce_add_sync(unsigned mask, T value)
{
    return standin::reduced<T, standin::sum_of<T>>(mask, value);
}
template <class T>
T __reduce_min_sync(unsigned mask, T value)
{
    return standin::reduced<T, standin::least_of<T>>(mask, value);
}
template <class T>
T __reduce_max_sync(unsigned mask, T value)
{
    return standin::reduced<T, standin::greatest_of<T>>(mask, value);
}
template <class T>
T __reduce_or_sync(unsigned mask, T value)
{
    return standin::reduced<T, standin::bits_of_either<T>>(mask, value);
}
template <class T>
T __reduce_and_sync(unsigned mask, T value)
{
    return standin::reduced<T, standin::bits_of_both<T>>(mask, value);
}

// --- atomics: of the machine, since the host may look on

namespace standin {
template <class T, class Change>
T changed(T* at, Change&& change)
{
    std::atomic_ref<T> word(*at);
    T old = word.load();
    while (!word.compare_exchange_weak(old, change(old))) {}
    return old;
}
} // namespace standin

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value)
{
    return standin::changed(at, [&](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMin(T* at, std::type_identity_t<T> value)
{
    return standin::changed(at, [&](T old) { return std::min(old, value); });
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value)
{
    return standin::changed(at, [&](T old) { return std::max(old, value); });
}
template <class T>
T atomicOr(T* at, std::type_identity_t<T> value)
{
    return std::atomic_ref<T>(*at).fetch_or(value);
}
template <class T>
T atomicAnd(T* at, std::type_identity_t<T> value)
{
    return std::atomic_ref<T>(*at).fetch_and(value);
}
template <class T>
T atomicExch(T* at, std::type_identity_t<T> value)
{
    return std::atomic_ref<T>(*at).exchange(value);
}
// A kernel that tries in a loop waits for others.
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value)
{
    if (!std::atomic_ref<T>(*at).compare_exchange_strong(expected, value)) { standin::poll(); }
    return expected;
}
template <class T>
T atomicAdd_system(T* at, std::type_identity_t<T> value)
{
    return atomicAdd(at, value);
}

// --- bits and arithmetic

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __ffs(unsigned v) { return __builtin_ffs(static_cast<int>(v)); }
inline int __ffsll(unsigned long long v) { return __builtin_ffsll(static_cast<long long>(v)); }
inline int __clz(unsigned v) { return v == 0 ? 32 : __builtin_clz(v); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline int __float2int_rn(float v) { return static_cast<int>(std::nearbyint(v)); }
inline unsigned __float_as_uint(float v) { return standin::from_bits<unsigned>(standin::bits(v)); }
inline float __uint_as_float(unsigned v) { return standin::from_bits<float>(v); }
inline long long __double2ll_rn(double v) { return std::llrint(v); }
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float v) { return 1 / std::sqrt(v); }
inline double rsqrt(double v) { return 1 / std::sqrt(v); }
// Four of the eight bytes of b and a, each named by a digit of `which`; with 8 added to it, its sign in all bits.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned which)
{
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i)
    {
        const unsigned digit = which >> 4 * i & 15;
        unsigned byte = static_cast<unsigned>(both >> 8 * (digit & 7)) & 255;
        if ((digit & 8) != 0) { byte = (byte & 128) != 0 ? 255 : 0; }
        result |= byte << 8 * i;
    }
    return result;
}
template <class T>
T __ldg(const T* at)
{
    return *at;
}

template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr auto min(A a, B b)
{
    using Both = std::common_type_t<A, B>;
    return static_cast<Both>(b) < static_cast<Both>(a) ? static_cast<Both>(b) : static_cast<Both>(a);
}
template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr auto max(A a, B b)
{
    using Both = std::common_type_t<A, B>;
    return static_cast<Both>(a) < static_cast<Both>(b) ? static_cast<Both>(b) : static_cast<Both>(a);
}
