// SPDX-License-Identifier: Apache-2.0
// The stand-in's version of src/device/gpu/cuda/instructions.cuh, which says what each function does.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

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
// Not as one: the epoch behind the elements, and looked at first. Nobody stores the next packet before this one is read.
struct alignas(16) Packet
{
    std::uint64_t elements, epoch;
};
inline void store_packet(Packet* to, Packet packet)
{
    store_relaxed_system(&to->elements, packet.elements);
    store_release_system(&to->epoch, packet.epoch);
}
inline Packet load_packet(Packet* from)
{
    const std::uint64_t epoch = load_acquire_system(&from->epoch);
    return {load_relaxed_system(&from->elements), epoch};
}
inline void store_and_count_release(std::uint64_t* word, std::uint64_t value, std::uint64_t* counter)
{
    store_release_system(word, value);
    std::atomic_ref(*counter).fetch_add(1, std::memory_order_release);
}

inline void sleep_about_200_ns() { __nanosleep(200); }

inline void await_kernel_before() {}
inline void let_next_kernel_begin() {}

inline std::uint64_t global_nanoseconds() { return standin::nanoseconds(); }
inline unsigned multiprocessor_number() { return standin::multiprocessor(); }

#define PARHELION_LAUNCH_BOUNDS(threads, ...) __launch_bounds__(threads, __VA_ARGS__)

#define PARHELION_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(standin::dynamic_shared_memory())

template <int bytes>
void begin_copy_to_shared(void* to, const void* from)
{
    std::memcpy(to, from, bytes);
}
inline void end_copies() {}
inline void await_copies() {}

inline float approximate_inverse_sqrt(float x) { return 1 / std::sqrt(x); }
inline float approximate_reciprocal(float x) { return 1 / x; }

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
    // A lane brings words l % 4 of rows l / 4 and l / 4 + 8, and of column l / 4.
    struct Part
    {
        _Float16 j[2][2], i[2];
        float* sums;
    };
    static constexpr standin::WarpOperation multiply{
        "multiply_halves()", [](standin::Lane* lanes, std::uint32_t) {
            float rows[16][8], columns[8][8];
            const auto part = [&](int l) { return reinterpret_cast<const Part*>(lanes[l].value); };
            for (int l = 0; l < 32; ++l)
            {
                for (int k = 0; k < 2; ++k)
                {
                    const int n = l % 4 * 2 + k;
                    for (int r = 0; r < 2; ++r) { rows[l / 4 + 8 * r][n] = static_cast<float>(part(l)->j[r][k]); }
                    columns[l / 4][n] = static_cast<float>(part(l)->i[k]);
                }
            }
            for (int l = 0; l < 32; ++l)
            {
                for (int k = 0; k < 4; ++k)
                {
                    float sum = 0;
                    for (int n = 0; n < 8; ++n) { sum += rows[l / 4 + k / 2 * 8][n] * columns[l % 4 * 2 + k % 2][n]; }
                    part(l)->sums[k] = sum;
                }
            }
        }};
    Part part;
    std::memcpy(part.j, j, sizeof part.j), std::memcpy(part.i, &i, sizeof part.i);
    part.sums = sums;
    standin::meet_warp(multiply, 0xffffffff, reinterpret_cast<std::uintptr_t>(&part), 0);
}

template <class T>
void keep(T&)
{
}

} // namespace parhelion
