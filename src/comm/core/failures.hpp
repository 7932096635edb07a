// SPDX-License-Identifier: Apache-2.0
// Exceptions for the ways in which a run of ranks can end early. Callers and other processes tell the ways apart by type.
#pragma once

#include "base/error.hpp"

namespace parhelion {

// The symmetric memory of a rank is too full for an allocation.
class MemoryFull : public CommError
{
    using CommError::CommError;
};

// A resource of the world whose number is fixed, for instance its signal slots, is used up.
class LimitReached : public CommError
{
    using CommError::CommError;
};

// The id or the environment variables of a process do not allow it to join other processes.
class JoinError : public CommError
{
    using CommError::CommError;
};

// A rank that other ranks wait for is lost: its process has died, or its program has ended.
class LostRank : public CommError
{
    using CommError::CommError;
};

// This rank ended because another rank was lost.
class AbortedByLoss : public PeerAborted
{
    using PeerAborted::PeerAborted;
};

// The program of a rank stopped the run by returning a number, as programs in C do.
class ProgramStopped : public SystemError
{
    using SystemError::SystemError;
};

} // namespace parhelion
