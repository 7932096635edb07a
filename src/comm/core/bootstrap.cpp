// SPDX-License-Identifier: Apache-2.0
#include "comm/core/bootstrap.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <thread>
#include <utility>

namespace parhelion {

Bytes wait_for(Bootstrap& bootstrap, const std::string& key, std::chrono::nanoseconds deadline)
{
    const auto begin = std::chrono::steady_clock::now();
    for (;;)
    {
        const bool is_last_look = std::chrono::steady_clock::now() - begin > deadline;
        if (std::optional<Bytes> value = bootstrap.get(key)) { return *std::move(value); }
        if (is_last_look)
        {
            throw CommError(
                fmt::format("Timed out after {:g} s waiting for the {}.", std::chrono::duration<double>(deadline).count(), key));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace parhelion
