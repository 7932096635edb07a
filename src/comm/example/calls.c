/* SPDX-License-Identifier: Apache-2.0
 * Four ranks send each other particles: who gets how many, where they go, and how many there are. */
#include <parhelion_comm.h>
#include <stdint.h>
#include <stdio.h>

enum { ranks = 4, most = 16 };

static int rank_program(ph_comm* comm, void* data)
{
    const int rank = ph_rank(comm);
    double out[ranks * most], in[ranks * most];
    int64_t mine[ranks], theirs[ranks], n = 0, all, before = 0;
    size_t counts[ranks], from[ranks], places[ranks], offsets[ranks];
    (void)data;
    for (int r = 0; r < ranks; ++r) { mine[r] = (rank + r) % 3; /* particles for rank r */ }
    if (ph_alltoall(comm, mine, theirs, 1, PH_INT64) != PH_SUCCESS) { return 1; }
    for (int r = 0; r < ranks; ++r)
    {
        counts[r] = (size_t)mine[r], offsets[r] = (size_t)(r * most);
        from[r] = (size_t)theirs[r], places[r] = (size_t)n;
        n += theirs[r];
        for (size_t i = 0; i < counts[r]; ++i) { out[offsets[r] + i] = rank; }
    }
    if (ph_alltoall_v(comm, out, counts, offsets, in, from, places, PH_DOUBLE) != PH_SUCCESS) { return 1; }
    if (ph_allreduce(comm, &n, &all, 1, PH_INT64, PH_SUM) != PH_SUCCESS) { return 1; }
    if (ph_exclusive_scan(comm, &n, &before, 1, PH_INT64, PH_SUM) != PH_SUCCESS) { return 1; }
    if (rank == ranks - 1) { printf("%d of %d particles begin at %d, the last from rank %g\n", (int)n, (int)all, (int)before, in[n - 1]); }
    return 0;
}

int main(void)
{
    if (ph_run(ranks, 0, 30.0, rank_program, NULL) == PH_SUCCESS) { return 0; }
    fprintf(stderr, "%s\n", ph_error_message());
    return 1;
}
