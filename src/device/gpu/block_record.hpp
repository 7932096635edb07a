// SPDX-License-Identifier: Apache-2.0
// A record of when and where one block of a kernel ran.
#pragma once

#include <cstdint>

namespace parhelion {

// When and where a block ran, as its first thread saw it.
struct alignas(16) BlockRecord
{
    std::uint64_t begin = 0, end = 0; // ns of the GPU's clock
    std::int64_t step = 0;            // the caller's step number
    std::uint32_t launch = 0;         // number of the launch since BlockTracer::begin()
    std::uint16_t kernel = 0;         // index in launched_kernels()
    std::uint16_t multiprocessor = 0;
};

} // namespace parhelion
