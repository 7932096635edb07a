/* SPDX-License-Identifier: Apache-2.0
 * What the C interface promises beside its work, one small program each, between threads and between processes: what it refuses
 * it leaves alone, what is freed is there again, and all ranks hear of what went wrong. */
#define _DEFAULT_SOURCE /* usleep */
#include "comm/c/parhelion_comm.h"

#include "check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
    ranks = 3,
    n = 8
};

static int meet(ph_comm* comm) { return ph_barrier(comm) == PH_SUCCESS ? 0 : 1; }

static int release_takes_what_allocate_gave(ph_comm* comm, void* data)
{
    char own[256];
    void *a = NULL, *b = NULL;
    ph_request *send = NULL, *receive = NULL;
    (void)data;
    CHECK(ph_allocate(comm, 256, &a) == PH_SUCCESS && ph_allocate(comm, 256, &b) == PH_SUCCESS);
    CHECK(ph_release(comm, own, sizeof own) == PH_ERROR_ARGUMENT);
    CHECK(ph_release(comm, a, 128) == PH_ERROR_ARGUMENT && ph_release(comm, a, 512) == PH_ERROR_ARGUMENT);
    CHECK(ph_release(comm, a, 255) == PH_ERROR_ARGUMENT && ph_release(comm, (char*)a + 128, 128) == PH_ERROR_ARGUMENT);
    CHECK(ph_psend_init(comm, b, 1, 64, ph_rank(comm), 0, &send) == PH_SUCCESS);
    CHECK(ph_precv_init(comm, (char*)a + 64, 1, 64, ph_rank(comm), 0, &receive) == PH_SUCCESS);
    CHECK(ph_release(comm, a, 256) == PH_ERROR_IN_USE && ph_release(comm, b, 256) == PH_ERROR_IN_USE);
    CHECK(ph_free(&receive) == PH_SUCCESS && ph_release(comm, a, 256) == PH_SUCCESS);
    CHECK(ph_release(comm, a, 256) == PH_ERROR_ARGUMENT);
    CHECK(ph_precv_init(comm, a, 1, 64, ph_rank(comm), 0, &receive) == PH_ERROR_NOT_SYMMETRIC);
    CHECK(ph_free(&send) == PH_SUCCESS && ph_release(comm, b, 256) == PH_SUCCESS);
    CHECK(ph_allocate(comm, 0, &a) == PH_SUCCESS && ph_allocate(comm, 0, &b) == PH_SUCCESS && a != b);
    CHECK(ph_release(comm, a, 0) == PH_SUCCESS && ph_release(comm, b, 0) == PH_SUCCESS);
    return meet(comm);
}

static int sizes_that_cannot_be(ph_comm* comm, void* data)
{
    static double x[2 * n];
    void* memory = NULL;
    ph_request* r = NULL;
    const size_t half = (size_t)1 << 63;
    (void)data;
    CHECK(ph_allocate(comm, SIZE_MAX - 50, &memory) == PH_ERROR_ARGUMENT &&
          ph_allocate(comm, SIZE_MAX, &memory) == PH_ERROR_ARGUMENT);
    CHECK(ph_allocate(comm, (size_t)1 << 45, &memory) == PH_ERROR_MEMORY && memory == NULL);
    CHECK(ph_allocate(comm, 4096, &memory) == PH_SUCCESS);
    CHECK(ph_psend_init(comm, x, 2, half, 0, 0, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_precv_init(comm, memory, 2, half, 0, 0, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_precv_init(comm, memory, 4096, ((size_t)1 << 52) + 1, 0, 0, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_psend_init(comm, x, INT32_MAX, 0, 0, 0, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_precv_init(comm, memory, INT32_MAX, 0, 0, 0, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_pallreduce_init(comm, x, x, INT32_MAX, 0, PH_DOUBLE, PH_SUM, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_pallreduce_init(comm, x, x, 2, SIZE_MAX / 16 + 1, PH_DOUBLE, PH_SUM, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_pallgather_init(comm, x, x, 1, SIZE_MAX / 16, PH_DOUBLE, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_preduce_scatter_init(comm, x, x, 1, SIZE_MAX / 16, PH_DOUBLE, PH_SUM, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_pbroadcast_init(comm, x, 1, SIZE_MAX / 8 + 2, PH_DOUBLE, 0, &r) == PH_ERROR_ARGUMENT);
    CHECK(ph_pallreduce_init(comm, x, x, 1, (size_t)1 << 40, PH_DOUBLE, PH_SUM, &r) == PH_ERROR_MEMORY);
    CHECK(ph_pallreduce_init(comm, x, x, 1 << 20, 0, PH_DOUBLE, PH_SUM, &r) == PH_ERROR_LIMIT);
    CHECK(r == NULL);
    /* and nothing is lost by that */
    CHECK(ph_pallreduce_init(comm, x, x, 1, n, PH_DOUBLE, PH_SUM, &r) == PH_SUCCESS && ph_start(r) == PH_SUCCESS);
    CHECK(ph_pready(r, 0) == PH_SUCCESS && ph_wait(r) == PH_SUCCESS && ph_free(&r) == PH_SUCCESS);
    return meet(comm);
}

static ph_comm* ended; /* of a run before */

static int nulls_and_freed_handles(ph_comm* comm, void* data)
{
    double x[n] = {0};
    void* memory = NULL;
    int flag;
    ph_request *request = NULL, *freed = NULL, *made = NULL;
    (void)data;
    CHECK(ph_psend_init(comm, x, 1, 8, ph_rank(comm), 5, &freed) == PH_SUCCESS);
    made = freed;
    CHECK(ph_free(&made) == PH_SUCCESS && made == NULL);
    CHECK(ph_psend_init(comm, x, 1, 8, ph_rank(comm), 5, &made) == PH_SUCCESS && made != freed); /* takes its place */
    ph_request* const gone[] = {NULL, freed, (ph_request*)comm, (ph_request*)x, (ph_request*)(uintptr_t)-1};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; ++i)
    {
        ph_request* r = gone[i];
        CHECK(ph_start(r) == PH_ERROR_NULL && ph_pbuf_prepare(r) == PH_ERROR_NULL && ph_pready(r, 0) == PH_ERROR_NULL);
        CHECK(ph_pready_range(r, 0, 0) == PH_ERROR_NULL && ph_parrived(r, 0, &flag) == PH_ERROR_NULL);
        CHECK(ph_wait(r) == PH_ERROR_NULL && ph_test(r, &flag) == PH_ERROR_NULL && ph_free(&r) == PH_ERROR_NULL);
    }
    CHECK(ph_free(NULL) == PH_ERROR_NULL && ph_test(made, NULL) == PH_ERROR_NULL);
    CHECK(ph_free(&made) == PH_SUCCESS);
    ph_comm* const none[] = {NULL, ended, (ph_comm*)freed, (ph_comm*)x};
    for (size_t i = 0; i < sizeof none / sizeof *none; ++i)
    {
        ph_comm* const c = none[i];
        CHECK(ph_rank(c) == -1 && ph_ranks(c) == -1 && ph_barrier(c) == PH_ERROR_NULL);
        CHECK(ph_allocate(c, 8, &memory) == PH_ERROR_NULL && ph_release(c, x, 8) == PH_ERROR_NULL);
        CHECK(ph_psend_init(c, x, 1, 8, 0, 0, &request) == PH_ERROR_NULL);
        CHECK(ph_precv_init(c, x, 1, 8, 0, 0, &request) == PH_ERROR_NULL);
        CHECK(ph_pallreduce_init(c, x, x, 1, n, PH_DOUBLE, PH_SUM, &request) == PH_ERROR_NULL);
        CHECK(ph_preduce_scatter_init(c, x, x, 1, 1, PH_DOUBLE, PH_SUM, &request) == PH_ERROR_NULL);
        CHECK(ph_pallgather_init(c, x, x, 1, 1, PH_DOUBLE, &request) == PH_ERROR_NULL);
        CHECK(ph_pbroadcast_init(c, x, 1, n, PH_DOUBLE, 0, &request) == PH_ERROR_NULL);
    }
    CHECK(ph_allocate(comm, 8, NULL) == PH_ERROR_NULL && ph_release(comm, NULL, 8) == PH_ERROR_NULL);
    CHECK(ph_psend_init(comm, NULL, 1, 8, 0, 0, &request) == PH_ERROR_NULL &&
          ph_psend_init(comm, x, 1, 8, 0, 0, NULL) == PH_ERROR_NULL);
    CHECK(ph_precv_init(comm, NULL, 1, 8, 0, 0, &request) == PH_ERROR_NULL);
    CHECK(ph_pallreduce_init(comm, NULL, x, 1, n, PH_DOUBLE, PH_SUM, &request) == PH_ERROR_NULL);
    CHECK(ph_pallreduce_init(comm, x, NULL, 1, n, PH_DOUBLE, PH_SUM, &request) == PH_ERROR_NULL);
    CHECK(ph_pbroadcast_init(comm, NULL, 1, n, PH_DOUBLE, 0, &request) == PH_ERROR_NULL);
    CHECK(ph_pallgather_init(comm, x, NULL, 1, 1, PH_DOUBLE, &request) == PH_ERROR_NULL);
    CHECK(ph_preduce_scatter_init(comm, NULL, x, 1, 1, PH_DOUBLE, PH_SUM, &request) == PH_ERROR_NULL && request == NULL);
    CHECK(ph_pallreduce_init(comm, x, x, 1, n, PH_DOUBLE, PH_SUM, &request) == PH_SUCCESS);
    CHECK(ph_start(request) == PH_SUCCESS && ph_parrived(request, 0, NULL) == PH_ERROR_NULL &&
          ph_pready(request, 0) == PH_SUCCESS);
    CHECK(ph_wait(request) == PH_SUCCESS);
    return meet(comm);
}

static int keep_handle(ph_comm* comm, void* data)
{
    (void)data;
    ended = comm;
    return 0;
}

static int illegal_ranges_mark_nothing(ph_comm* comm, void* data)
{
    char source[n];
    double x[n] = {0};
    void* memory = NULL;
    ph_request* requests[3] = {NULL, NULL, NULL};
    (void)data;
    CHECK(ph_allocate(comm, n, &memory) == PH_SUCCESS);
    CHECK(ph_psend_init(comm, source, n, 1, ph_rank(comm), 0, &requests[0]) == PH_SUCCESS);
    CHECK(ph_pallreduce_init(comm, x, x, n, 1, PH_DOUBLE, PH_SUM, &requests[1]) == PH_SUCCESS);
    CHECK(ph_precv_init(comm, memory, n, 1, ph_rank(comm), 0, &requests[2]) == PH_SUCCESS && ph_start(requests[2]) == PH_SUCCESS);
    for (int r = 0; r < 2; ++r)
    {
        ph_request* const request = requests[r];
        CHECK(ph_start(request) == PH_SUCCESS);
        CHECK(ph_pready_range(request, 4, n) == PH_ERROR_PARTITION && ph_pready_range(request, -1, 3) == PH_ERROR_PARTITION);
        CHECK(ph_pready(request, 5) == PH_SUCCESS);
        CHECK(ph_pready_range(request, 0, n - 1) == PH_ERROR_READY_TWICE);
        CHECK(ph_pready_range(request, 0, 4) == PH_SUCCESS && ph_pready_range(request, 6, n - 1) == PH_SUCCESS);
    }
    for (int r = 0; r < 3; ++r) { CHECK(ph_wait(requests[r]) == PH_SUCCESS); }
    return meet(comm);
}

/* Of each kind, with what differs in this variant on rank 1. */
static int make(ph_comm* comm, int variant, double* x, ph_request** request)
{
    const int differs = ph_rank(comm) == 1;
    switch (variant)
    {
    case 0:
        return ph_pallreduce_init(comm, x, x, 1, 2, PH_DOUBLE, differs ? PH_SUM : PH_MAX, request);
    case 1:
        return ph_pallreduce_init(comm, x, x, 1, 2, differs ? PH_FLOAT : PH_DOUBLE, PH_SUM, request);
    case 2:
        return ph_pallreduce_init(comm, x, x, 1, differs ? 1 : 2, PH_DOUBLE, PH_SUM, request);
    case 3:
        return ph_pallreduce_init(comm, x, x, differs ? 2 : 1, differs ? 1 : 2, PH_DOUBLE, PH_SUM, request);
    case 4:
        return ph_pbroadcast_init(comm, x, 1, 2, PH_DOUBLE, differs ? 1 : 0, request);
    case 5:
        return ph_preduce_scatter_init(comm, x, x, 1, 2, PH_DOUBLE, differs ? PH_MIN : PH_SUM, request);
    case 6:
        return ph_pallgather_init(comm, x, x + ranks * 2, 1, 2, differs ? PH_FLOAT : PH_DOUBLE, request);
    default:
        return differs ? ph_pallgather_init(comm, x, x + ranks * 2, 1, 2, PH_DOUBLE, request)
                       : ph_pallreduce_init(comm, x, x, 1, 2, PH_DOUBLE, PH_SUM, request);
    }
}

/* The deadline is far: all are told at once. */
static int members_that_differ_are_all_told(ph_comm* comm, void* data)
{
    const int me = ph_rank(comm);
    (void)data;
    for (int variant = 0; variant < 8; ++variant)
    {
        double x[4 * ranks * 2] = {0};
        ph_request* request = NULL;
        CHECK(make(comm, variant, x, &request) == PH_SUCCESS);
        const int started = ph_start(request);
        if (started == PH_SUCCESS && (variant != 4 || me < 2)) { ph_pready(request, 0); }
        CHECK(started == PH_SUCCESS || started == PH_ERROR_ARGUMENT);
        CHECK(ph_wait(request) == PH_ERROR_ARGUMENT);
        CHECK(strstr(ph_error_message(), "rank 1 for ") != NULL);
        CHECK(me == 1 || strstr(ph_error_message(), me == 2 ? "rank 2 for " : "rank 0 for ") != NULL);
        CHECK(ph_free(&request) == PH_SUCCESS && meet(comm) == 0);
    }
    void* memory = NULL;
    ph_request *send = NULL, *receive = NULL;
    char source[n];
    CHECK(ph_allocate(comm, n, &memory) == PH_SUCCESS);
    CHECK(ph_psend_init(comm, source, 1, n / 2, (me + 1) % ranks, 0, &send) == PH_SUCCESS);
    int code = ph_start(send); /* fails at once if the receiver has told its size already */
    CHECK(code == PH_SUCCESS || code == PH_ERROR_BYTES_DIFFER);
    CHECK(ph_precv_init(comm, memory, 1, n, (me + ranks - 1) % ranks, 0, &receive) == PH_SUCCESS);
    code = ph_start(receive);
    CHECK(code == PH_SUCCESS || code == PH_ERROR_BYTES_DIFFER);
    CHECK(ph_wait(send) == PH_ERROR_BYTES_DIFFER && ph_wait(receive) == PH_ERROR_BYTES_DIFFER);
    return meet(comm);
}

/* More than slots and memory would be enough for if they were not given back. */
static int freed_requests_leave_nothing(ph_comm* comm, void* data)
{
    static double large[ranks][1 << 19];
    const int me = ph_rank(comm), cycles = *(const int*)data;
    double* const x = large[me];
    for (int i = 0; i < 200; ++i) /* each takes 16 MB of 1 GB */
    {
        ph_request* sum = NULL;
        CHECK(ph_pallreduce_init(comm, x, x, 1, 1 << 19, PH_DOUBLE, PH_SUM, &sum) == PH_SUCCESS && ph_free(&sum) == PH_SUCCESS);
    }
    for (int i = 0; i < cycles; ++i)
    {
        ph_request* sum = NULL;
        CHECK(ph_pallreduce_init(comm, x, x, 1 + i % n, 1, PH_DOUBLE, PH_SUM, &sum) == PH_SUCCESS);
        if (i % 2 == 0)
        {
            CHECK(ph_start(sum) == PH_SUCCESS && ph_pready_range(sum, 0, i % n) == PH_SUCCESS && ph_wait(sum) == PH_SUCCESS);
        }
        CHECK(ph_free(&sum) == PH_SUCCESS);
    }
    return meet(comm);
}

/* Rank 0 marks nothing until it is told that another's wait was in vain, looks at no error and returns 0; so do the others. */
static int waits_in_vain(ph_comm* comm, void* data)
{
    double x = 1;
    int is_complete = 0;
    ph_request* sum = NULL;
    (void)data;
    CHECK(ph_pallreduce_init(comm, &x, &x, 1, 1, PH_DOUBLE, PH_SUM, &sum) == PH_SUCCESS && ph_start(sum) == PH_SUCCESS);
    if (ph_rank(comm) != 0) { ph_pready(sum, 0); }
    else
    {
        while (ph_test(sum, &is_complete) == PH_SUCCESS) { usleep(1000); }
    }
    const int code = ph_wait(sum);
    CHECK(code == (ph_rank(comm) == 0 ? PH_ERROR_STOPPED : code == PH_ERROR_TIMEOUT ? PH_ERROR_TIMEOUT : PH_ERROR_STOPPED));
    return 0;
}
static int waits_for_who_has_left(ph_comm* comm, void* data)
{
    double x = 1;
    ph_request* sum = NULL;
    (void)data;
    if (ph_rank(comm) == 1) { return 0; }
    ph_pallreduce_init(comm, &x, &x, 1, 1, PH_DOUBLE, PH_SUM, &sum);
    ph_start(sum);
    ph_pready(sum, 0);
    ph_wait(sum);
    return 0;
}
static int waits_for_who_dies(ph_comm* comm, void* data)
{
    (void)data;
    if (ph_rank(comm) == 1) { abort(); }
    CHECK(ph_barrier(comm) == PH_ERROR_PEER_LOST);
    return 0;
}
static int exits(ph_comm* comm, void* data)
{
    if (ph_rank(comm) == 1) { exit(EXIT_SUCCESS); }
    usleep(200000);
    return write(*(int*)data, "x", 1) == 1 ? 0 : 1; /* its work */
}

static int exits_lose_no_work(int processes)
{
    int ends[2];
    char done[ranks + 1];
    CHECK(pipe(ends) == 0);
    CHECK(ph_run(ranks, processes, 30, exits, &ends[1]) == PH_SUCCESS);
    close(ends[1]);
    CHECK(read(ends[0], done, sizeof done) == ranks - 1);
    close(ends[0]);
    return 0;
}

int main(void)
{
    static const ph_rank_program programs[] = {release_takes_what_allocate_gave, sizes_that_cannot_be,
                                               illegal_ranges_mark_nothing,      members_that_differ_are_all_told,
                                               freed_requests_leave_nothing,     nulls_and_freed_handles};
    int cycles = 2000, few = 500;
    CHECK(exits_lose_no_work(ranks) == 0 && exits_lose_no_work(2) == 0); /* processes first, while there is one thread */
    CHECK(ph_run(ranks, ranks, 30, waits_for_who_dies, NULL) == PH_ERROR_PEER_LOST);
    CHECK(ph_run(ranks, ranks, 0.3, waits_in_vain, NULL) == PH_ERROR_TIMEOUT);
    CHECK(ph_run(ranks, ranks, 2, waits_for_who_has_left, NULL) == PH_ERROR_PEER_LOST);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i)
    {
        CHECK(ph_run(ranks, ranks, 30, programs[i], &few) == PH_SUCCESS);
        CHECK(ph_run(ranks, 2, 30, programs[i], &few) == PH_SUCCESS);
    }
    CHECK(ph_run(1, 0, 30, keep_handle, NULL) == PH_SUCCESS);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i)
    {
        CHECK(ph_run(ranks, 0, 30, programs[i], &cycles) == PH_SUCCESS);
    }
    CHECK(ph_run(ranks, 0, 0.3, waits_in_vain, NULL) == PH_ERROR_TIMEOUT);
    CHECK(strstr(ph_error_message(), "timed out after 0.3 s") != NULL);
    CHECK(ph_run(ranks, 0, 30, waits_for_who_has_left, NULL) == PH_ERROR_PEER_LOST); /* at once */
    CHECK(strstr(ph_error_message(), "The program of rank 1 has ended.") != NULL);
    CHECK(ph_run(1, 0, 1, NULL, NULL) == PH_ERROR_NULL);
    return 0;
}
