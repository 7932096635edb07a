// SPDX-License-Identifier: Apache-2.0
#include "comm/core/copy_to_peer.hpp"

#include <cstdint>
#include <cstring>

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__) // the thread sanitizer does not see non-temporal stores
#include <emmintrin.h>
#endif

namespace parhelion {

namespace {

// Messages or pieces below these sizes are copied by plain stores, since fetching the lines is faster then. Measured between
// cores that share a cache (bench/cores/log.md). Between other cores the limit is 4 KiB, which would gain 0.5 us at most.
[[maybe_unused]] constexpr std::size_t least_message = 16384, least_piece = 1024;
[[maybe_unused]] constexpr std::size_t line = 64;

} // namespace

void copy_to_peer(std::byte* to, const std::byte* from, std::size_t bytes, [[maybe_unused]] std::size_t message)
{
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
    if (message >= least_message && bytes >= least_piece)
    {
        const std::size_t before = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line, lines = (bytes - before) / line;
        std::memcpy(to, from, before);
        auto* const target = reinterpret_cast<__m128i*>(to + before);
        const auto* const source = reinterpret_cast<const __m128i*>(from + before);
        constexpr std::size_t of_line = line / sizeof(__m128i);
        for (std::size_t i = 0; i < lines * of_line; i += of_line)
        {
            const __m128i a = _mm_loadu_si128(source + i), b = _mm_loadu_si128(source + i + 1),
                          c = _mm_loadu_si128(source + i + 2), d = _mm_loadu_si128(source + i + 3);
            _mm_stream_si128(target + i, a);
            _mm_stream_si128(target + i + 1, b);
            _mm_stream_si128(target + i + 2, c);
            _mm_stream_si128(target + i + 3, d);
        }
        const std::size_t done = before + lines * line;
        std::memcpy(to + done, from + done, bytes - done);
        _mm_sfence();
        return;
    }
#endif
    if (bytes > 0) { std::memcpy(to, from, bytes); }
}

} // namespace parhelion
