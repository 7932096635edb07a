// SPDX-License-Identifier: Apache-2.0
// AMD's version of cuda/instructions.cuh, which says what each function does. Compiled, not run on hardware.
#pragma once

#include "device/gpu/hip/warp.cuh"

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstring>

namespace parhelion {

// --- memory that several blocks, GPUs or the host access at once. The compiler's scoped atomic operations write back and
// invalidate caches as order and scope require; the memory must be fine-grained (hip/driver.cuh).

__device__ inline std::uint64_t load_acquire_system(std::uint64_t* word)
{
    return __hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ inline std::uint64_t load_relaxed_system(std::uint64_t* word)
{
    return __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ inline void store_release_system(std::uint64_t* word, std::uint64_t value)
{
    __hip_atomic_store(word, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ inline void store_relaxed_system(std::uint64_t* word, std::uint64_t value)
{
    __hip_atomic_store(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ inline std::uint64_t exchange_relaxed_system(std::uint64_t* word, std::uint64_t value)
{
    return __hip_atomic_exchange(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ inline std::uint64_t fetch_add_acq_rel_device(std::uint64_t* word, std::uint64_t n)
{
    return __hip_atomic_fetch_add(word, n, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
}
// AMD's memory model has no single access of 16 bytes. The epoch is stored after the elements and loaded before them. Nobody
// stores the next packet before this one is read, so the elements that are loaded belong to the epoch or are not used.
struct alignas(16) Packet
{
    std::uint64_t elements, epoch;
};
__device__ inline void store_packet(Packet* to, Packet packet)
{
    store_relaxed_system(&to->elements, packet.elements);
    store_release_system(&to->epoch, packet.epoch);
}
__device__ inline Packet load_packet(Packet* from)
{
    const std::uint64_t epoch = load_acquire_system(&from->epoch);
    return {load_relaxed_system(&from->elements), epoch};
}
__device__ inline void store_and_count_release(std::uint64_t* word, std::uint64_t value, std::uint64_t* counter)
{
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, ""); // at system scope
    store_relaxed_system(word, value);
    __hip_atomic_fetch_add(counter, std::uint64_t{1}, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// s_sleep counts units of 64 cycles, which are 40 ns at 1.6 GHz.
__device__ inline void sleep_about_200_ns() { __builtin_amdgcn_s_sleep(5); }

// --- kernels that were launched early: AMD's runtime launches none

__device__ inline void await_kernel_before() {}
__device__ inline void let_next_kernel_begin() {}

// --- time and place

// The clock counts at 100 MHz. Its beginning differs among GPUs.
__device__ inline std::uint64_t global_nanoseconds() { return __builtin_amdgcn_s_memrealtime() * 10; }
__device__ inline unsigned multiprocessor_number() { return __smid(); }

// --- launches

// The numbers of blocks are chosen for the registers of NVIDIA's GPUs, so AMD's compiler chooses by itself.
#define PARHELION_LAUNCH_BOUNDS(threads, ...) __launch_bounds__(threads)

// --- shared memory

#define PARHELION_DYNAMIC_SHARED(T, name) HIP_DYNAMIC_SHARED(T, name)

// AMD's GPUs copy through registers, at once.
template <int bytes>
__device__ inline void begin_copy_to_shared(void* to, const void* from)
{
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    std::memcpy(__builtin_assume_aligned(to, bytes), __builtin_assume_aligned(from, bytes), bytes);
}
__device__ inline void end_copies() {}
__device__ inline void await_copies() {}

// --- arithmetic

// The errors are at most one unit in the last place.
__device__ inline float approximate_inverse_sqrt(float x) { return __builtin_amdgcn_rsqf(x); }
__device__ inline float approximate_reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }

__device__ inline void exchange_if_below(float a, float b, float scale, const float (&d)[3], float (&gains)[3], float (&loses)[3])
{
    if (!(a < b)) { return; }
    for (int k = 0; k < 3; ++k)
    {
        gains[k] = fmaf(scale, d[k], gains[k]);
        loses[k] = fmaf(-scale, d[k], loses[k]);
    }
}

// Does not use the matrix instructions, whose layout differs: each lane fetches the words of its rows and columns.
__device__ inline void multiply_halves(const std::uint32_t (&j)[2], std::uint32_t i, float (&sums)[4])
{
    const auto halves = [](std::uint32_t word) {
        __half2 both;
        std::memcpy(&both, &word, sizeof both);
        return __half22float2(both);
    };
    const int lane = static_cast<int>(__lane_id()) % lanes_of_warp;
    for (float& sum : sums) { sum = 0; }
    for (int word = 0; word < 4; ++word)
    {
        float2 rows[2], columns[2];
        for (int k = 0; k < 2; ++k)
        {
            rows[k] = halves(from_lane(j[k], lane / 4 * 4 + word));
            columns[k] = halves(from_lane(i, (lane % 4 * 2 + k) * 4 + word));
        }
        for (int k = 0; k < 4; ++k)
        {
            sums[k] = fmaf(rows[k / 2].x, columns[k % 2].x, fmaf(rows[k / 2].y, columns[k % 2].y, sums[k]));
        }
    }
}

__device__ inline void keep(int& value) { asm volatile("" : "+v"(value)); }
__device__ inline void keep(unsigned& value) { asm volatile("" : "+v"(value)); }
__device__ inline void keep(float& value) { asm volatile("" : "+v"(value)); }
__device__ inline void keep(double& value) { asm volatile("" : "+v"(value)); }

} // namespace parhelion
