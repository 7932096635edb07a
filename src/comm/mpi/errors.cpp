// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi/errors.hpp"

#include <cstdio>
#include <mutex>

namespace parhelion::mpi {

int told(MPI_Comm comm, int code, const char* sentence)
{
    if (sentence != nullptr) { std::fprintf(stderr, "partitioned communication: %s\n", sentence); }
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}
int told(const Served& served, int code, const char* sentence)
{
    static std::mutex one_at_a_time; // guards the error handler of `own`
    static MPI_Comm own = MPI_COMM_NULL;
    {
        const std::scoped_lock lock(one_at_a_time);
        if (own == MPI_COMM_NULL) { PMPI_Comm_dup(MPI_COMM_SELF, &own); }
        PMPI_Comm_set_errhandler(own, served.handler);
    }
    return told(own, code, sentence);
}

int code_of(Misuse misuse)
{
    switch (misuse)
    {
    case Misuse::Active:
    case Misuse::NotActive:
    case Misuse::Null:
        return MPI_ERR_REQUEST;
    case Misuse::BytesDiffer:
        return MPI_ERR_TRUNCATE;
    default:
        return MPI_ERR_ARG;
    }
}

} // namespace parhelion::mpi
