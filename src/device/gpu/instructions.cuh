// SPDX-License-Identifier: Apache-2.0
// What kernels ask of the machine and CUDA C++ has no word for, or does as the compiler likes: a function for each, so that no
// other file has machine code. A file of the same name in tests/standin/include has them for a CPU; the include path chooses.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

namespace parhelion {

// --- memory that several blocks, GPUs or the host use at once: order and scope as named, in the words of the PTX memory model

__device__ inline std::uint64_t load_acquire_system(std::uint64_t* word)
{
    std::uint64_t value;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}
__device__ inline std::uint64_t load_relaxed_system(std::uint64_t* word)
{
    std::uint64_t value;
    asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}
__device__ inline void store_release_system(std::uint64_t* word, std::uint64_t value)
{
    asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}
__device__ inline void store_relaxed_system(std::uint64_t* word, std::uint64_t value)
{
    asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}
// Both return the old value.
__device__ inline std::uint64_t exchange_relaxed_system(std::uint64_t* word, std::uint64_t value)
{
    std::uint64_t old;
    asm volatile("atom.relaxed.sys.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(word), "l"(value) : "memory");
    return old;
}
__device__ inline std::uint64_t fetch_add_acq_rel_device(std::uint64_t* word, std::uint64_t n)
{
    std::uint64_t old;
    asm volatile("atom.acq_rel.gpu.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(word), "l"(n) : "memory");
    return old;
}
// Two words that are stored and loaded as one, relaxed, at system scope.
struct alignas(16) Packet
{
    std::uint64_t elements, epoch;
};
__device__ inline void store_packet(Packet* to, Packet packet)
{
    asm volatile("{\n\t"
                 ".reg .b128 both;\n\t"
                 "mov.b128 both, {%1, %2};\n\t"
                 "st.relaxed.sys.b128 [%0], both;\n\t"
                 "}" ::"l"(to),
                 "l"(packet.elements), "l"(packet.epoch)
                 : "memory");
}
__device__ inline Packet load_packet(Packet* from)
{
    Packet packet;
    asm volatile("{\n\t"
                 ".reg .b128 both;\n\t"
                 "ld.relaxed.sys.b128 both, [%2];\n\t"
                 "mov.b128 {%0, %1}, both;\n\t"
                 "}"
                 : "=l"(packet.elements), "=l"(packet.epoch)
                 : "l"(from)
                 : "memory");
    return packet;
}
// A store at system scope and one more on a counter at device scope, both behind all that the thread has written or seen.
__device__ inline void store_and_count_release(std::uint64_t* word, std::uint64_t value, std::uint64_t* counter)
{
    asm volatile("fence.acq_rel.sys;\n\t"
                 "st.relaxed.sys.u64 [%0], %1;\n\t"
                 "red.relaxed.gpu.add.u64 [%2], 1;" ::"l"(word),
                 "l"(value), "l"(counter)
                 : "memory");
}

// --- where and when

// Of all GPUs of a host, ns. Not moved across other accesses to memory.
__device__ inline std::uint64_t global_nanoseconds()
{
    std::uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}
__device__ inline unsigned multiprocessor_number()
{
    unsigned number;
    asm("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

// --- shared memory

// Declares an array of T of the size that the launch asked for.
#define PARHELION_DYNAMIC_SHARED(T, name) extern __shared__ T name[]

// Begins to copy to shared memory, 4, 8 or 16 bytes. Through the first-level cache, also 16 bytes, which
// __pipeline_memcpy_async would bring past it. The thread has the copy after end_copies() and await_copies().
template <int bytes>
__device__ inline void begin_copy_to_shared(void* to, const void* from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(bytes)
                 : "memory");
}
__device__ inline void end_copies() { __pipeline_commit(); }        // of what has been begun, nothing more belongs to it
__device__ inline void await_copies() { __pipeline_wait_prior(0); } // all that have been ended

// --- arithmetic

// Within 2^-22.9 of 1 / sqrt(x).
__device__ inline float approximate_inverse_sqrt(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
// Within 2^-23 of 1 / x, relative.
__device__ inline float approximate_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// If a < b, adds scale * d to `gains` and takes it from `loses`. In the machine's words, since the compiler selects a summand or
// none, at an instruction each, or makes branches of so many additions under one condition.
__device__ inline void exchange_if_below(float a, float b, float scale, const float (&d)[3], float (&gains)[3], float (&loses)[3])
{
    asm("{\n\t"
        ".reg .pred below;\n\t"
        "setp.lt.f32 below, %6, %7;\n\t"
        "@below fma.rn.f32 %0, %8, %10, %0;\n\t"
        "@below fma.rn.f32 %1, %8, %11, %1;\n\t"
        "@below fma.rn.f32 %2, %8, %12, %2;\n\t"
        "@below fma.rn.f32 %3, %9, %10, %3;\n\t"
        "@below fma.rn.f32 %4, %9, %11, %4;\n\t"
        "@below fma.rn.f32 %5, %9, %12, %5;\n\t"
        "}"
        : "+f"(gains[0]), "+f"(gains[1]), "+f"(gains[2]), "+f"(loses[0]), "+f"(loses[1]), "+f"(loses[2])
        : "f"(a), "f"(b), "f"(scale), "f"(-scale), "f"(d[0]), "f"(d[1]), "f"(d[2]));
}

// sums = j * i, by all lanes of a warp: 16 rows of j, 8 columns of i, of 8 halves each, two a word. A lane gets columns
// lane % 4 * 2 and next of row lane / 4, and of 8 rows on. It brings words lane % 4 of these two rows, and of column lane / 4.
__device__ inline void multiply_halves(const std::uint32_t (&j)[2], std::uint32_t i, float (&sums)[4])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %7, %7, %7};"
        : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
        : "r"(j[0]), "r"(j[1]), "r"(i), "f"(0.0f));
}

// Has the value computed once and kept, where the compiler would rather compute it at each use.
__device__ inline void keep(int& value) { asm volatile("" : "+r"(value)); }
__device__ inline void keep(unsigned& value) { asm volatile("" : "+r"(value)); }
__device__ inline void keep(float& value) { asm volatile("" : "+f"(value)); }
__device__ inline void keep(double& value) { asm volatile("" : "+d"(value)); }

} // namespace parhelion
