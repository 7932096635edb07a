// SPDX-License-Identifier: Apache-2.0
// Helpers of the C interface's calls: they turn exceptions into error codes and sentences, and numbers into types.
#pragma once

#include "comm/c/parhelion_comm.h"
#include "comm/core/failures.hpp"
#include "comm/launch/run_ranks.hpp"
#include "comm/partitioned/collectives.hpp"

#include <chrono>
#include <new>
#include <string>

namespace parhelion::c_interface {

// Stores the sentence for ph_error_message() of this thread, and returns the code. If the exception being handled ended a wait,
// it becomes the error of the rank.
int remember(int code, const std::string& sentence);

inline int code_of(Misuse misuse)
{
    switch (misuse)
    {
    case Misuse::Null:
        return PH_ERROR_NULL;
    case Misuse::NotActive:
        return PH_ERROR_NOT_ACTIVE;
    case Misuse::Active:
        return PH_ERROR_ACTIVE;
    case Misuse::PartitionOutOfRange:
        return PH_ERROR_PARTITION;
    case Misuse::ReadyTwice:
        return PH_ERROR_READY_TWICE;
    case Misuse::BadArgument:
        return PH_ERROR_ARGUMENT;
    case Misuse::NotSymmetric:
        return PH_ERROR_NOT_SYMMETRIC;
    case Misuse::BytesDiffer:
        return PH_ERROR_BYTES_DIFFER;
    case Misuse::PeerFreed:
        return PH_ERROR_PEER_FREED;
    case Misuse::NotMatched:
        return PH_ERROR_NOT_MATCHED;
    case Misuse::InUse:
        return PH_ERROR_IN_USE;
    }
    return PH_ERROR_INTERNAL;
}

// Calls `call` and returns PH_SUCCESS, or the code of the exception that it throws.
template <class Call>
int guarded(Call&& call) noexcept
{
    try
    {
        call();
        return PH_SUCCESS;
    }
    catch (const PartitionedError& e)
    {
        return remember(code_of(e.misuse()), e.what());
    }
    catch (const ProgramStopped& e)
    {
        return remember(PH_ERROR_STOPPED, e.what());
    }
    catch (const AbortedByLoss& e)
    {
        return remember(PH_ERROR_PEER_LOST, e.what());
    }
    catch (const PeerAborted& e)
    {
        return remember(PH_ERROR_STOPPED, e.what());
    }
    catch (const InputError& e) // thrown if a launcher's environment variables are wrong
    {
        return remember(PH_ERROR_ARGUMENT, e.message());
    }
    catch (const JoinError& e)
    {
        return remember(PH_ERROR_ARGUMENT, e.what());
    }
    catch (const MemoryFull& e)
    {
        return remember(PH_ERROR_MEMORY, e.what());
    }
    catch (const LimitReached& e)
    {
        return remember(PH_ERROR_LIMIT, e.what());
    }
    catch (const LostRank& e)
    {
        return remember(PH_ERROR_PEER_LOST, e.what());
    }
    catch (const CommError& e)
    {
        return remember(PH_ERROR_TIMEOUT, e.what());
    }
    catch (const DeviceError& e)
    {
        return remember(PH_ERROR_DEVICE, e.what());
    }
    catch (const SystemError& e)
    {
        return remember(PH_ERROR_SYSTEM, e.what());
    }
    catch (const std::bad_alloc&)
    {
        return remember(PH_ERROR_MEMORY, "The process has no memory left.");
    }
    catch (const std::exception& e)
    {
        return remember(PH_ERROR_INTERNAL, e.what());
    }
}

inline void expect_argument(bool is_right, const char* sentence)
{
    if (!is_right) { throw PartitionedError(Misuse::BadArgument, sentence); }
}

inline void expect_pointer(const void* pointer, const char* sentence)
{
    if (pointer == nullptr) { throw PartitionedError(Misuse::Null, sentence); }
}

inline std::chrono::nanoseconds deadline_of(double seconds)
{
    expect_argument(seconds > 0 && seconds < 1e9, "The deadline is a number of seconds above 0 and below 1e9.");
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

inline ElementType type_of(ph_type type)
{
    expect_argument(type >= PH_FLOAT && type <= PH_UINT8, "There is no such type of elements.");
    constexpr ElementType types[] = {ElementType::Float, ElementType::Double, ElementType::Half,  ElementType::Bfloat16,
                                     ElementType::Byte,  ElementType::Int32,  ElementType::Int64, ElementType::Uint8};
    return types[type];
}

inline Elements elements_of(ph_type type, int partitions, size_t count) { return {type_of(type), partitions, count}; }

inline Reduction reduction_of(ph_reduction reduction)
{
    expect_argument(reduction >= PH_SUM && reduction <= PH_AVERAGE, "There is no such reduction.");
    constexpr Reduction reductions[] = {Reduction::Sum, Reduction::Min, Reduction::Max, Reduction::Product, Reduction::Average};
    return reductions[reduction];
}

} // namespace parhelion::c_interface
