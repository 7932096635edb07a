// SPDX-License-Identifier: Apache-2.0
// Changes to a word that other threads of the GPU, or of the block if it is in shared memory, change at the same time. They order
// nothing but the word itself: who publishes data uses instructions.cuh. All return the old value. Cost: an instruction, without
// waiting where nobody uses the result.
#pragma once

#include <type_traits>

namespace parhelion {

// T: int, unsigned, unsigned long long, float, double; float4, each of whose numbers is changed by itself.
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
// Stores `value` if `expected` is there.
template <class T>
__device__ inline T atomic_replace(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value)
{
    return atomicCAS(at, expected, value);
}

} // namespace parhelion
