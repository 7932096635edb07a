// SPDX-License-Identifier: Apache-2.0
// The stand-in's version of src/device/instructions.cuh, which says what each function does.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace parhelion {

// Whoever looks again and again waits for others: each look lets them go on.
inline std::uint64_t load_acquire_system(std::uint64_t* word)
{
    standin::poll();
    return std::atomic_ref(*word).load(std::memory_order_acquire);
}
inline std::uint64_t load_relaxed_system(std::uint64_t* word)
{
    standin::poll();
    return std::atomic_ref(*word).load(std::memory_order_relaxed);
}
inline void store_release_system(std::uint64_t* word, std::uint64_t value)
{
    std::atomic_ref(*word).store(value, std::memory_order_release);
}
inline void store_relaxed_system(std::uint64_t* word, std::uint64_t value)
{
    std::atomic_ref(*word).store(value, std::memory_order_relaxed);
}
inline std::uint64_t exchange_relaxed_system(std::uint64_t* word, std::uint64_t value)
{
    return std::atomic_ref(*word).exchange(value, std::memory_order_relaxed);
}
inline std::uint64_t fetch_add_acq_rel_device(std::uint64_t* word, std::uint64_t n)
{
    return std::atomic_ref(*word).fetch_add(n, std::memory_order_acq_rel);
}

inline std::uint64_t global_nanoseconds() { return standin::nanoseconds(); }
inline unsigned multiprocessor_number() { return standin::multiprocessor(); }

#define PARHELION_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(standin::dynamic_shared_memory())

template <int bytes>
void begin_copy_to_shared(void* to, const void* from)
{
    std::memcpy(to, from, bytes);
}

inline float approximate_inverse_sqrt(float x) { return 1 / std::sqrt(x); }

inline void exchange_if_below(float a, float b, float scale, const float (&d)[3], float (&gains)[3], float (&loses)[3])
{
    for (int k = 0; k < 3 && a < b; ++k)
    {
        gains[k] = std::fma(scale, d[k], gains[k]);
        loses[k] = std::fma(-scale, d[k], loses[k]);
    }
}

inline void multiply_halves(const std::uint32_t (&j)[2], std::uint32_t i, float (&sums)[4])
{
    const int lane = standin::lane();
    // Eight halves, two a word, which four lanes bring.
    const auto row = [](std::uint32_t word, int first, float(&to)[8]) {
        for (int k = 0; k < 4; ++k)
        {
            const auto pair = standin::from_bits<std::uint64_t>(__shfl_sync(0xffffffff, word, first + k));
            _Float16 halves[2];
            std::memcpy(halves, &pair, sizeof halves);
            to[2 * k] = static_cast<float>(halves[0]), to[2 * k + 1] = static_cast<float>(halves[1]);
        }
    };
    float rows[2][8], columns[2][8];
    for (int r = 0; r < 2; ++r) { row(j[r], lane / 4 * 4, rows[r]); }
    for (int c = 0; c < 2; ++c) { row(i, (lane % 4 * 2 + c) * 4, columns[c]); }
    for (int k = 0; k < 4; ++k)
    {
        sums[k] = 0;
        for (int n = 0; n < 8; ++n) { sums[k] += rows[k / 2][n] * columns[k % 2][n]; }
    }
}

template <class T>
void keep(T&)
{
}

} // namespace parhelion
