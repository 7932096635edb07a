// SPDX-License-Identifier: Apache-2.0
// Limits, keys and conversions that the two sources of the rendezvous share (comm/bootstraps/rendezvous.hpp).
#pragma once

#include "comm/core/bootstrap.hpp"

#include <chrono>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <type_traits>

namespace parhelion::rendezvous_parts {

using Clock = std::chrono::steady_clock;

// The time after a failure within which processes report the failure or are informed of it.
inline constexpr std::chrono::seconds grace{2};

// `first`: the first rank of a process.
inline std::string door_key(int first) { return fmt::format("door to the memory of rank {}", first); }

inline double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Returns the bytes of n values.
template <class T>
std::string text_of(const T* values, std::size_t n)
{
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const char*>(values), n * sizeof(T)};
}

inline std::string text_of(const Bytes& bytes) { return text_of(bytes.data(), bytes.size()); }

inline Bytes bytes_of(const std::string& text)
{
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

} // namespace parhelion::rendezvous_parts
