/* SPDX-License-Identifier: Apache-2.0
 * Collectives of one call beside those of the MPI that has started the ranks, in the same processes, in turn:
 *   mpicc -O2 -Isrc/comm/c bench/comm/calls.c build/libparhelion_comm_c.so -Wl,-rpath,$PWD/build -o calls && mpirun -n 2 ./calls
 * Of each the least of rounds, in us a call: bytes are those of a block. */
#include <mpi.h>
#include <parhelion_comm_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    most_ranks = 16,
    rounds = 12
};

static ph_comm* comm;
static int ranks, count; /* of doubles in a block */
static double *in, *out;
static size_t sizes[most_ranks], places[most_ranks];
static int mpi_sizes[most_ranks], mpi_places[most_ranks];

struct Call
{
    const char* name;
    int (*ours)(void);
    int (*theirs)(void);
};

#define PAIR(call, ours, theirs)                                                                                                 \
    static int call##_ph(void) { return ours; }                                                                                  \
    static int call##_mpi(void) { return theirs; }

PAIR(barrier, ph_barrier(comm), MPI_Barrier(MPI_COMM_WORLD))
PAIR(allreduce, ph_allreduce(comm, in, out, (size_t)count, PH_DOUBLE, PH_SUM),
     MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
PAIR(reduce, ph_reduce(comm, in, out, (size_t)count, PH_DOUBLE, PH_SUM, 0),
     MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD))
PAIR(scan, ph_scan(comm, in, out, (size_t)count, PH_DOUBLE, PH_SUM),
     MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
PAIR(allgather, ph_allgather(comm, in, out, (size_t)count, PH_DOUBLE),
     MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD))
PAIR(gather, ph_gather(comm, in, out, (size_t)count, PH_DOUBLE, 0),
     MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD))
PAIR(scatter, ph_scatter(comm, in, out, (size_t)count, PH_DOUBLE, 0),
     MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD))
PAIR(broadcast, ph_broadcast(comm, in, (size_t)count, PH_DOUBLE, 0), MPI_Bcast(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD))
PAIR(alltoall, ph_alltoall(comm, in, out, (size_t)count, PH_DOUBLE),
     MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD))
PAIR(alltoall_v, ph_alltoall_v(comm, in, sizes, places, out, sizes, places, PH_DOUBLE),
     MPI_Alltoallv(in, mpi_sizes, mpi_places, MPI_DOUBLE, out, mpi_sizes, mpi_places, MPI_DOUBLE, MPI_COMM_WORLD))

#define CALL(name)                                                                                                               \
    {                                                                                                                            \
#name, name##_ph, name##_mpi                                                                                             \
    }
static const struct Call calls[] = {CALL(barrier), CALL(allreduce), CALL(reduce),    CALL(scan),     CALL(allgather),
                                    CALL(gather),  CALL(scatter),   CALL(broadcast), CALL(alltoall), CALL(alltoall_v)};

static double seconds_of(int (*call)(void), int times)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < times; ++i)
    {
        if (call() != 0) { abort(); }
    }
    double mine = MPI_Wtime() - begin, longest;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest / times;
}

int main(int argc, char** argv)
{
    static const int blocks[] = {1, 1024, 131072};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ranks > most_ranks || ph_init_mpi(MPI_COMM_WORLD, NULL, &comm) != PH_SUCCESS) { return 1; }
    in = calloc((size_t)ranks * 131072, sizeof(double));
    out = calloc((size_t)ranks * 131072, sizeof(double));
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; ++b)
    {
        count = blocks[b];
        for (int r = 0; r < ranks; ++r)
        {
            mpi_sizes[r] = count;
            mpi_places[r] = r * count;
            sizes[r] = (size_t)count;
            places[r] = (size_t)(r * count);
        }
        for (size_t c = 0; c < sizeof calls / sizeof *calls; ++c)
        {
            double ours = 1, theirs = 1;
            for (int round = 0; round < rounds; ++round)
            {
                const int times = count > 10000 ? 20 : 500;
                const double a = seconds_of(calls[c].ours, times), b_ = seconds_of(calls[c].theirs, times);
                ours = a < ours ? a : ours;
                theirs = b_ < theirs ? b_ : theirs;
            }
            if (rank == 0) { printf("%8d B  %-10s  %9.2f  MPI %9.2f\n", count * 8, calls[c].name, 1e6 * ours, 1e6 * theirs); }
        }
    }
    free(in);
    free(out);
    if (ph_finalize(&comm) != PH_SUCCESS) { return 1; }
    return MPI_Finalize();
}
