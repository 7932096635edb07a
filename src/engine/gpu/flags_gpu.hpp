// SPDX-License-Identifier: Apache-2.0
// GPU ranks agree on flags: which are up anywhere, and whether the balances of all ranks add up to zero.
#pragma once

#include "base/host_device.hpp"

#include <cstdint>

namespace parhelion {

// Exchanged as one value: flags, of which the bitwise or is taken, and a balance. If the balances of all ranks do not add up to
// zero, the highest flag is raised; they are zero afterwards, so that it makes no difference how often ranks agree.
struct FlagsAndBalance
{
    static constexpr std::uint32_t unbalanced = 1u << 31;
    std::uint32_t flags = 0;
    std::int32_t balance = 0;
    friend bool operator==(const FlagsAndBalance&, const FlagsAndBalance&) = default;
};

// For all_reduce (comm/gpu/collectives.hpp).
PARHELION_HD constexpr FlagsAndBalance combine(FlagsAndBalance a, FlagsAndBalance b)
{
    return {a.flags | b.flags, a.balance + b.balance};
}
PARHELION_HD constexpr FlagsAndBalance settled(FlagsAndBalance sum)
{
    return {sum.flags | (sum.balance != 0 ? FlagsAndBalance::unbalanced : 0), 0};
}

} // namespace parhelion
