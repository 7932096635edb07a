// SPDX-License-Identifier: Apache-2.0
// Machine instructions for which CUDA C++ has no function, or whose form the compiler would choose. Each has one function,
// so that no other file has machine code. For CPUs tests/standin/include has a file of this name; the include path chooses.
// For AMD's GPUs, hip/instructions.cuh has the same functions.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

namespace parhelion {

// --- memory that several blocks, GPUs or the host access at once; names give order and scope as in the PTX memory model

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
// exchange_relaxed_system() and the function after it return the old value.
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
// Two words that are stored and loaded as one 16-byte access, relaxed, at system scope.
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
// Stores `value` at system scope and adds 1 to `counter` at device scope, after all that this thread wrote or observed before.
__device__ inline void store_and_count_release(std::uint64_t* word, std::uint64_t value, std::uint64_t* counter)
{
    asm volatile("fence.acq_rel.sys;\n\t"
                 "st.relaxed.sys.u64 [%0], %1;\n\t"
                 "red.relaxed.gpu.add.u64 [%2], 1;" ::"l"(word),
                 "l"(value), "l"(counter)
                 : "memory");
}

__device__ inline void sleep_about_200_ns() { __nanosleep(200); }

// --- kernels that were launched early (LaunchShape::begins_early)

// Waits until the kernel before this one has ended and its writes are visible. Returns at once if not launched early.
__device__ inline void await_kernel_before()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// Lets the next kernel of the queue begin, if it is launched early, once every block has called this function or has ended.
__device__ inline void let_next_kernel_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// --- time and place

// Returns the time (ns) of this GPU's clock. The clocks of two GPUs of a host may differ (trace/align_clocks.hpp). The compiler
// does not move the reading across memory accesses.
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

// --- launches

// Says how many threads a block has, and, as second argument, how many blocks are to have room on a multiprocessor of an NVIDIA
// GPU. The compiler chooses the number of registers accordingly.
#define PARHELION_LAUNCH_BOUNDS(threads, ...) __launch_bounds__(threads, __VA_ARGS__)

// --- shared memory

// Declares an array of T in dynamic shared memory; the launch gives its size.
#define PARHELION_DYNAMIC_SHARED(T, name) extern __shared__ T name[]

// Begins an asynchronous copy of 4, 8 or 16 bytes to shared memory. It passes through the L1 cache even for 16 bytes,
// for which __pipeline_memcpy_async would bypass it. The thread may read the copy after end_copies() and await_copies().
template <int bytes>
__device__ inline void begin_copy_to_shared(void* to, const void* from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(bytes)
                 : "memory");
}
__device__ inline void end_copies() { __pipeline_commit(); }        // closes the group of copies begun so far
__device__ inline void await_copies() { __pipeline_wait_prior(0); } // waits for all closed groups of copies

// --- arithmetic

// Returns 1 / sqrt(x) with a relative error below 2^-22.9.
__device__ inline float approximate_inverse_sqrt(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
// Returns 1 / x with a relative error below 2^-23.
__device__ inline float approximate_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// If a < b, adds scale * d to `gains` and subtracts it from `loses`. It is written as predicated instructions,
// because the compiler would make a select for each addition, or branch around many additions under one condition.
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

// Multiplies matrices of half-precision numbers in a warp: j (16 x 8) times i (8 x 8), two numbers per word. A lane passes word
// lane % 4 of j's rows lane / 4 and lane / 4 + 8, and of i's column lane / 4. It gets columns lane % 4 * 2 and the next of these
// rows.
__device__ inline void multiply_halves(const std::uint32_t (&j)[2], std::uint32_t i, float (&sums)[4])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %7, %7, %7};"
        : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
        : "r"(j[0]), "r"(j[1]), "r"(i), "f"(0.0f));
}

// Makes the compiler compute the value once and keep it in a register, instead of computing it again at each use.
__device__ inline void keep(int& value) { asm volatile("" : "+r"(value)); }
__device__ inline void keep(unsigned& value) { asm volatile("" : "+r"(value)); }
__device__ inline void keep(float& value) { asm volatile("" : "+f"(value)); }
__device__ inline void keep(double& value) { asm volatile("" : "+d"(value)); }

} // namespace parhelion
