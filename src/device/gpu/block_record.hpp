// SPDX-License-Identifier: Apache-2.0
// What a block of a kernel leaves about when and where it ran.
#pragma once

#include <cstdint>

namespace parhelion {

// As the block's first thread saw it.
struct alignas(16) BlockRecord
{
    std::uint64_t begin = 0, end = 0; // ns of the GPU's clock
    std::int64_t step = 0;            // of the caller's
    std::uint32_t launch = 0;         // since BlockTracer::begin()
    std::uint16_t kernel = 0;         // by number
    std::uint16_t multiprocessor = 0;
};

} // namespace parhelion
