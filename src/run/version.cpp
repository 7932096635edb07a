// SPDX-License-Identifier: Apache-2.0
#include "run/version.hpp"

#include "engine/simulation.hpp"

#include <fmt/format.h>

namespace parhelion {

std::string version_text()
{
#if defined(__clang__)
    constexpr const char* compiler = "clang " __clang_version__;
#else
    constexpr const char* compiler = "g++ " __VERSION__;
#endif
    return fmt::format("parhelion {} ({}), {}, {}", PARHELION_VERSION, PARHELION_COMMIT, compiler,
                       built_with_cuda() ? "CUDA" : "host only");
}

} // namespace parhelion
