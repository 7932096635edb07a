// SPDX-License-Identifier: Apache-2.0
// Atomic changes to a word. Other threads of the GPU may change the word at the same time, or, if the word is in
// shared memory, other threads of the block. Only the word itself is ordered: to publish data, use instructions.cuh.
// All functions return the old value. Cost: one instruction, which does not wait if the result is unused.
#pragma once

#include "device/gpu/runtime.cuh"

#include <type_traits>

namespace parhelion {

// Adds `value`. T: int, unsigned, unsigned long long, float, double or float4, whose four numbers are changed one by one.
template <class T>
__device__ inline T atomic_add(T* at, std::type_identity_t<T> value)
{
    return atomicAdd(at, value);
}
template <class T>
__device__ inline T atomic_least(T* at, std::type_identity_t<T> value)
{
    return atomicMin(at, value);
}
template <class T>
__device__ inline T atomic_greatest(T* at, std::type_identity_t<T> value)
{
    return atomicMax(at, value);
}
template <class T>
__device__ inline T atomic_or(T* at, std::type_identity_t<T> bits)
{
    return atomicOr(at, bits);
}
template <class T>
__device__ inline T atomic_and(T* at, std::type_identity_t<T> bits)
{
    return atomicAnd(at, bits);
}
// Stores `value` if the word equals `expected` (compare and swap).
template <class T>
__device__ inline T atomic_replace(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value)
{
    return atomicCAS(at, expected, value);
}

} // namespace parhelion
