/* SPDX-License-Identifier: Apache-2.0
 * Collectives of one call from C, between threads and between processes, in all ranks and in groups; what all ranks hear that
 * call different things; and a rank that ends in the middle. Sizes and types: tests/comm/partitioned/collective_calls_test.cpp.
 */
#include "comm/c/parhelion_comm.h"

#include "check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    ranks = 4,
    count = 3
};

static int reductions(ph_comm* comm, int n)
{
    const int rank = ph_rank(comm);
    int32_t x[ranks * count], y[ranks * count] = {0}, of_all = 0, before = 0;
    for (int i = 0; i < ranks * count; ++i) { x[i] = 1 + rank + i; }
    for (int r = 0; r < n; ++r) { of_all += 1 + r; }
    for (int r = 0; r < rank; ++r) { before += 1 + r; }
    CHECK(ph_allreduce(comm, x, y, count, PH_INT32, PH_SUM) == PH_SUCCESS && y[2] == of_all + 2 * n);
    CHECK(ph_allreduce(comm, x, y, 1, PH_INT32, PH_PRODUCT) == PH_SUCCESS && y[0] == (n == 4 ? 24 : n == 2 ? 2 : 1));
    CHECK(ph_allreduce(comm, x, y, count, PH_INT32, PH_AVERAGE) == PH_SUCCESS && y[1] == (of_all + n) / n);
    y[0] = -1;
    CHECK(ph_reduce(comm, x, rank == n - 1 ? y : NULL, count, PH_INT32, PH_MAX, n - 1) == PH_SUCCESS);
    CHECK(y[0] == (rank == n - 1 ? n : -1));
    CHECK(ph_reduce_scatter(comm, x, y, count, PH_INT32, PH_MIN) == PH_SUCCESS && y[0] == 1 + rank * count);
    CHECK(ph_scan(comm, x, y, count, PH_INT32, PH_SUM) == PH_SUCCESS && y[0] == before + 1 + rank);
    y[0] = -1;
    CHECK(ph_exclusive_scan(comm, x, y, count, PH_INT32, PH_SUM) == PH_SUCCESS && y[0] == (rank == 0 ? -1 : before));
    return 0;
}

static int copies(ph_comm* comm, int n)
{
    const int rank = ph_rank(comm);
    int64_t x[ranks * count], y[ranks * count];
    size_t counts[ranks], offsets[ranks];
    for (int i = 0; i < ranks * count; ++i) { x[i] = 100 * rank + i; }
    CHECK(ph_allgather(comm, x, y, count, PH_INT64) == PH_SUCCESS && y[(n - 1) * count + 1] == 100 * (n - 1) + 1);
    CHECK(ph_gather(comm, x, rank == 0 ? y : NULL, count, PH_INT64, 0) == PH_SUCCESS);
    CHECK(ph_scatter(comm, rank == 0 ? y : NULL, y, count, PH_INT64, 0) == PH_SUCCESS && y[2] == 100 * rank + 2);
    CHECK(ph_broadcast(comm, y, count, PH_INT64, n - 1) == PH_SUCCESS && y[2] == 100 * (n - 1) + 2);
    CHECK(ph_alltoall(comm, x, y, count, PH_INT64) == PH_SUCCESS && y[(n - 1) * count] == 100 * (n - 1) + rank * count);
    for (int r = 0; r < n; ++r)
    {
        counts[r] = (size_t)((r + rank) % (count + 1));
        offsets[r] = (size_t)((n - 1 - r) * count);
    }
    CHECK(ph_alltoall_v(comm, x, counts, offsets, y, counts, offsets, PH_INT64) == PH_SUCCESS);
    for (int r = 0; r < n; ++r) { CHECK(counts[r] == 0 || y[offsets[r]] == 100 * r + (n - 1 - rank) * count); }
    for (int r = 0; r < n; ++r) { counts[r] = (size_t)(r % count); }
    CHECK(ph_gather_v(comm, x, counts[rank], rank == 0 ? y : NULL, counts, offsets, PH_INT64, 0) == PH_SUCCESS);
    CHECK(ph_scatter_v(comm, rank == 0 ? y : NULL, counts, offsets, x, counts[rank], PH_INT64, 0) == PH_SUCCESS);
    CHECK(counts[rank] == 0 || x[0] == 100 * rank);
    return 0;
}

static int in_all_and_in_groups(ph_comm* comm, void* data)
{
    ph_comm *pair = NULL, *one = NULL;
    (void)data;
    CHECK(ph_split(comm, ph_rank(comm) % 2, -ph_rank(comm), &pair) == PH_SUCCESS && ph_ranks(pair) == 2);
    CHECK(ph_split(pair, ph_rank(pair), 0, &one) == PH_SUCCESS && ph_ranks(one) == 1);
    for (int i = 0; i < 3; ++i)
    {
        CHECK(reductions(comm, ranks) == 0 && reductions(pair, 2) == 0 && reductions(one, 1) == 0);
        CHECK(copies(pair, 2) == 0 && copies(comm, ranks) == 0 && copies(one, 1) == 0);
        CHECK(ph_barrier(pair) == PH_SUCCESS && ph_barrier(comm) == PH_SUCCESS);
    }
    return 0;
}

static int told(int code, const char* words) { return code == PH_ERROR_ARGUMENT && strstr(ph_error_message(), words) != NULL; }

static int calls_that_differ(ph_comm* comm, void* data)
{
    const int rank = ph_rank(comm);
    double x = 1, y = 0;
    ph_comm* part = NULL;
    (void)data;
    CHECK(told(rank == 2 ? ph_split(comm, 0, 0, &part) : ph_barrier(comm), "rank 0 for barrier, rank 2 for split") &&
          part == NULL);
    CHECK(told(ph_allreduce(comm, &x, &y, 1, rank == 0 ? PH_DOUBLE : PH_INT64, PH_SUM),
               "rank 0 for all-reduce by sum of 1 double, rank 1 for all-reduce by sum of 1 int64"));
    CHECK(told(ph_broadcast(comm, &x, 1, PH_DOUBLE, rank == 3), "from member 0, rank 3 for broadcast of 1 double from member 1"));
    CHECK(ph_allreduce(comm, &x, &y, 1, PH_DOUBLE, PH_SUM) == PH_SUCCESS && y == ranks); /* they go on */
    CHECK(ph_allreduce(comm, &x, &y, 1, PH_UINT8 + 1, PH_SUM) == PH_ERROR_ARGUMENT);
    CHECK(ph_allreduce(comm, &x, &y, 1, PH_DOUBLE, PH_AVERAGE + 1) == PH_ERROR_ARGUMENT);
    CHECK(ph_allreduce(comm, &x, NULL, 1, PH_DOUBLE, PH_SUM) == PH_ERROR_NULL);
    CHECK(ph_alltoall_v(comm, &x, NULL, NULL, &y, NULL, NULL, PH_DOUBLE) == PH_ERROR_NULL);
    CHECK(ph_reduce(comm, &x, &y, 1, PH_DOUBLE, PH_SUM, ranks) == PH_ERROR_ARGUMENT);
    CHECK(ph_barrier(comm) == PH_SUCCESS && ph_barrier(NULL) == PH_ERROR_NULL &&
          ph_allgather(NULL, &x, &y, 0, 0) == PH_ERROR_NULL);
    return 0;
}

/* Rank 1 ends; who waits for it is told, and the run is over. */
static int without_rank_1(ph_comm* comm, void* data)
{
    static double x[100000], y[ranks][100000];
    int code = PH_SUCCESS;
    (void)data;
    for (int i = 0; i < 3; ++i) { CHECK(ph_allreduce(comm, x, y[ph_rank(comm)], 100000, PH_DOUBLE, PH_SUM) == PH_SUCCESS); }
    if (ph_rank(comm) == 1) { return 0; }
    code = ph_allreduce(comm, x, y[ph_rank(comm)], 100000, PH_DOUBLE, PH_SUM);
    CHECK(code == PH_ERROR_PEER_LOST || code == PH_ERROR_STOPPED);
    CHECK(ph_barrier(comm) != PH_SUCCESS);
    return 0;
}

static int try_one(const char* name, ph_rank_program program, int processes, int expected)
{
    const int code = ph_run(ranks, processes, 20, program, NULL);
    printf("%s: %s, %d processes%s%s\n", code == expected ? "ok" : "FAILED", name, processes, code != expected ? ": " : "",
           code != expected ? ph_error_message() : "");
    fflush(stdout);
    return code == expected ? 0 : 1;
}

#define TRY(program, expected) (try_one(#program, program, 0, expected) | try_one(#program, program, 2, expected))

int main(void)
{
    return TRY(in_all_and_in_groups, PH_SUCCESS) | TRY(calls_that_differ, PH_SUCCESS) | TRY(without_rank_1, PH_ERROR_PEER_LOST);
}
