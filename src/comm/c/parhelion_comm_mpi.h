/* SPDX-License-Identifier: Apache-2.0
 * Lets the ranks of an MPI communicator join; parhelion_comm.h says what that means. The program compiles this header with its
 * own mpi.h, so it works with any MPI. The library itself does not depend on MPI. */
#ifndef PARHELION_COMM_MPI_H
#define PARHELION_COMM_MPI_H

#include "parhelion_comm.h"

#include <mpi.h>

static inline int ph_all_gather_mpi(void* ranks, const void* mine, size_t bytes, void* all)
{
    return MPI_Allgather((void*)mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *(MPI_Comm*)ranks) != MPI_SUCCESS;
}

/* All ranks of the communicator call it, and keep their numbers. MPI is not used after that. */
static inline int ph_init_mpi(MPI_Comm ranks, const ph_options* options, ph_comm** comm)
{
    int rank = -1, size = 0;
    if (MPI_Comm_rank(ranks, &rank) != MPI_SUCCESS || MPI_Comm_size(ranks, &size) != MPI_SUCCESS) { return PH_ERROR_ARGUMENT; }
    return ph_init_exchange(rank, size, ph_all_gather_mpi, &ranks, options, comm);
}

#endif
