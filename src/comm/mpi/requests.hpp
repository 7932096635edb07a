// SPDX-License-Identifier: Apache-2.0
// Makes, starts, marks and completes the requests that MPI handles name. One lock guards all of that except pready().
#pragma once

#include "comm/mpi/served.hpp"

#include <mpi.h>
#include <optional>

namespace parhelion::mpi {

// Returns the request of a handle, or null if the handle belongs to the MPI library.
Served* ours(MPI_Request handle);

// Makes a request, or returns nothing if the MPI library must serve it. Errors go to the error handler of the communicator.
std::optional<int> make(bool is_send, void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
                        MPI_Comm comm, MPI_Request* handle);
int start(Served& served); // starts a request; throws Refusal and what requests throw
// Marks a partition of an active send as ready. Errors go to the error handler of the request.
int pready(Served& served, int partition);
// Completes a request and returns true, or returns false if it is not complete yet. Throws what requests throw.
bool complete(Served& served, MPI_Status* status);
bool is_complete(Served& served); // returns whether complete() would return true

} // namespace parhelion::mpi
