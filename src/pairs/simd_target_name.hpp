// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace parhelion {

// Returns the instruction set of the SIMD kernels on this machine, as Highway names it: "SSE4", "AVX2", "AVX3" (AVX-512).
std::string simd_target_name();

} // namespace parhelion
