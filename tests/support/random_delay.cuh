// SPDX-License-Identifier: Apache-2.0
// Pauses inside kernels at random, so that what hardware nearly always does in one order is done in others.
#pragma once

#include <cstdint>

namespace parhelion::test {

__host__ __device__ inline std::uint64_t hash(std::uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

// Mostly none; one in 16 up to 2 us, one in 4096 up to 100 us.
__device__ inline void random_delay(std::uint64_t seed)
{
    const std::uint64_t r = hash(seed);
    if (r % 16 == 0) { __nanosleep(static_cast<unsigned>((r >> 8) % 2000)); }
    if (r % 4096 == 1) { __nanosleep(static_cast<unsigned>((r >> 16) % 100000)); }
}

} // namespace parhelion::test
