// SPDX-License-Identifier: Apache-2.0
// Turns errors of this library into errors of MPI: codes, and calls of the program's error handlers.
#pragma once

#include "comm/mpi/served.hpp"
#include "comm/partitioned/partitioned.hpp"

#include <exception>
#include <mpi.h>

namespace parhelion::mpi {

// Prints `sentence` on stderr, unless it is null. Then calls the error handler of a communicator, or the one that a request has
// from its communicator. Returns the code.
int told(MPI_Comm comm, int code, const char* sentence);
int told(const Served& served, int code, const char* sentence);

int code_of(Misuse misuse);

// Calls `call` and returns its code. If `call` throws, calls the error handler of `of`, a communicator or a request, with a code.
template <class Of, class Call>
int guarded(const Of& of, Call&& call)
{
    try
    {
        return call();
    }
    catch (const Refusal& refusal)
    {
        return told(of, refusal.code, refusal.sentence);
    }
    catch (const PartitionedError& error)
    {
        return told(of, code_of(error.misuse()), error.what());
    }
    catch (const std::exception& error)
    {
        return told(of, MPI_ERR_OTHER, error.what());
    }
}

} // namespace parhelion::mpi
