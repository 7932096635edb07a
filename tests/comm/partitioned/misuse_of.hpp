// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/partitioned/partitioned.hpp"

#include <optional>

namespace parhelion {

// The misuse that a call is refused for.
template <class Call>
std::optional<Misuse> misuse_of(Call&& call)
{
    try
    {
        call();
    }
    catch (const PartitionedError& e)
    {
        return e.misuse();
    }
    return std::nullopt;
}

} // namespace parhelion
