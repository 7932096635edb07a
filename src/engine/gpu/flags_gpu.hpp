// SPDX-License-Identifier: Apache-2.0
// Lets ranks on GPUs agree on which flags are raised on any rank, and on whether the balances of all ranks add up to zero.
#pragma once

#include "base/host_device.hpp"

#include <cstdint>

namespace parhelion {

// Flags and a balance, exchanged as one value. Ranks combine flags by bitwise or, and add balances. If the balances do not
// add up to zero, the highest flag is raised. Afterwards all balances are zero, so a second exchange gives the same flags.
struct FlagsAndBalance
{
    static constexpr std::uint32_t unbalanced = 1u << 31;
    std::uint32_t flags = 0;
    std::int32_t balance = 0;
    friend bool operator==(const FlagsAndBalance&, const FlagsAndBalance&) = default;
};

// Returns the combination of the values of two ranks, for all_reduce (comm/gpu/collectives.hpp).
PARHELION_HD constexpr FlagsAndBalance combine(FlagsAndBalance a, FlagsAndBalance b)
{
    return {a.flags | b.flags, a.balance + b.balance};
}
PARHELION_HD constexpr FlagsAndBalance settled(FlagsAndBalance sum)
{
    return {sum.flags | (sum.balance != 0 ? FlagsAndBalance::unbalanced : 0), 0};
}

} // namespace parhelion
