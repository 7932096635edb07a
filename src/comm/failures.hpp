// SPDX-License-Identifier: Apache-2.0
// Failures between ranks that callers tell from a wait that timed out.
#pragma once

#include "base/error.hpp"

namespace parhelion {

// The symmetric memory of a rank has no room for what was asked.
class MemoryFull : public CommError
{
    using CommError::CommError;
};

// A number that the world has been made with is used up: signal slots, for instance.
class LimitReached : public CommError
{
    using CommError::CommError;
};

// A rank has gone that others need: its process has died, or its program has ended.
class LostRank : public CommError
{
    using CommError::CommError;
};

// This rank ended because another one was lost.
class AbortedByLoss : public PeerAborted
{
    using PeerAborted::PeerAborted;
};

} // namespace parhelion
