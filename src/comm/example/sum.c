/* SPDX-License-Identifier: Apache-2.0
 * Four ranks add their vectors, piece by piece: each piece leaves as soon as it is filled, and is read as soon as all have it. */
#include <parhelion_comm.h>
#include <stdio.h>

enum { ranks = 4, pieces = 8, count = 1000 };

static int rank_program(ph_comm* comm, void* data)
{
    static double values[ranks][pieces * count]; /* each rank has its own */
    double* mine = values[ph_rank(comm)];
    ph_request* sum = NULL;
    (void)data;
    if (ph_pallreduce_init(comm, mine, mine, pieces, count, PH_DOUBLE, PH_SUM, &sum) != PH_SUCCESS) { return 1; }
    for (int step = 1; step <= 3; ++step)
    {
        ph_start(sum);
        for (int p = 0; p < pieces; ++p)
        {
            for (int i = p * count; i < (p + 1) * count; ++i) { mine[i] = step * (ph_rank(comm) + 1); }
            ph_pready(sum, p); /* from here on the piece is on its way */
        }
        if (ph_wait(sum) != PH_SUCCESS) { return 1; }
        if (mine[0] != step * 10 || mine[pieces * count - 1] != step * 10) { return 2; }
    }
    if (ph_rank(comm) == 0) { printf("sum: %g\n", mine[0]); }
    return ph_free(&sum);
}

int main(void)
{
    if (ph_run(ranks, 0, 30.0, rank_program, NULL) == PH_SUCCESS) { return 0; }
    fprintf(stderr, "%s\n", ph_error_message());
    return 1;
}
