// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace parhelion {

// The instruction set the SIMD kernels use on this machine, as Highway calls it: "SSE4", "AVX2", "AVX3" (AVX-512).
std::string simd_target_name();

} // namespace parhelion
