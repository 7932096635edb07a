// SPDX-License-Identifier: Apache-2.0
// The methods of halo exchange and their names. halo/halo.hpp and halo/gpu/halo_gpu.hpp describe them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parhelion {

enum class HaloMethod : std::uint8_t
{
    StagedHost,
    StagedDma,
    StagedFused,
    Direct
};
inline constexpr std::array<std::string_view, 4> halo_method_names = {"staged-host", "staged-dma", "staged-fused", "direct"};

constexpr bool runs_on_cpus(HaloMethod method) { return method != HaloMethod::StagedDma; }

} // namespace parhelion
