/* SPDX-License-Identifier: Apache-2.0
   Requests and memory that are made, used and freed again and again, and calls, leave the process as large as it was. 10 000
   times, or as often as PARHELION_TEST_CYCLES says; two ranks, as threads. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, sysconf */
#include "comm/c/parhelion_comm.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum
{
    bytes = 4096,
    growth_kib = 1024
}; /* of nine tenths of a million cycles: a byte each */

static long resident_kib(void)
{
    long all = 0, resident = -1;
    FILE* const file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%ld %ld", &all, &resident) != 2) { resident = -1; }
    if (file != NULL) { fclose(file); }
    return resident < 0 ? -1 : resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int message(ph_comm* comm)
{
    const int peer = 1 - ph_rank(comm);
    char source[bytes] = {0};
    void* memory = NULL;
    ph_request *send = NULL, *receive = NULL;
    CHECK(ph_allocate(comm, bytes, &memory) == PH_SUCCESS);
    CHECK(ph_psend_init(comm, source, 2, bytes / 2, peer, 3, &send) == PH_SUCCESS);
    CHECK(ph_precv_init(comm, memory, 1, bytes, peer, 3, &receive) == PH_SUCCESS);
    CHECK(ph_start(receive) == PH_SUCCESS && ph_start(send) == PH_SUCCESS && ph_pready_range(send, 0, 1) == PH_SUCCESS);
    CHECK(ph_wait(send) == PH_SUCCESS && ph_wait(receive) == PH_SUCCESS);
    CHECK(ph_free(&send) == PH_SUCCESS && ph_free(&receive) == PH_SUCCESS);
    CHECK(ph_release(comm, memory, bytes) == PH_SUCCESS);
    return 0;
}

static int sum(ph_comm* comm)
{
    double x[8] = {1};
    ph_request* all = NULL;
    CHECK(ph_pallreduce_init(comm, x, x, 2, 4, PH_DOUBLE, PH_SUM, &all) == PH_SUCCESS);
    CHECK(ph_start(all) == PH_SUCCESS && ph_pready_range(all, 0, 1) == PH_SUCCESS && ph_wait(all) == PH_SUCCESS);
    CHECK(x[0] == 2);
    CHECK(ph_free(&all) == PH_SUCCESS);
    return 0;
}

static int calls(ph_comm* comm)
{
    static const size_t counts[2] = {3, 3}, offsets[2] = {0, 4};
    double x[8] = {1}, y[8];
    CHECK(ph_allreduce(comm, x, y, 8, PH_DOUBLE, PH_SUM) == PH_SUCCESS && y[0] == 2);
    CHECK(ph_alltoall_v(comm, x, counts, offsets, y, counts, offsets, PH_DOUBLE) == PH_SUCCESS);
    CHECK(ph_scan(comm, x, x, 8, PH_DOUBLE, PH_MAX) == PH_SUCCESS && x[0] == 1);
    return 0;
}

static int cycles_of(ph_comm* comm, void* data)
{
    const long cycles = *(const long*)data;
    long before = 0;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < cycles; ++i)
    {
        if (i == cycles / 10)
        {
            CHECK(ph_barrier(comm) == PH_SUCCESS);
            before = resident_kib();
        }
        if (message(comm) != 0 || sum(comm) != 0 || calls(comm) != 0) { return 1; }
    }
    CHECK(ph_barrier(comm) == PH_SUCCESS);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long after = resident_kib();
    const double us = 1e6 * (double)(end.tv_sec - begin.tv_sec) + 1e-3 * (double)(end.tv_nsec - begin.tv_nsec);
    if (ph_rank(comm) == 0)
    {
        printf("%ld cycles: %ld KiB after a tenth, %ld at the end, %.1f us each\n", cycles, before, after, us / (double)cycles);
    }
    return before > 0 && after - before <= growth_kib ? 0 : 1;
}

int main(void)
{
    const char* const asked = getenv("PARHELION_TEST_CYCLES");
    long cycles = asked != NULL ? atol(asked) : 5000;
    return ph_run(2, 0, 60, cycles_of, &cycles) == PH_SUCCESS ? 0 : 1;
}
