/* SPDX-License-Identifier: Apache-2.0
 * The C interface, compiled as C: messages, collectives, errors, between threads and between processes. */
#define _DEFAULT_SOURCE /* usleep */
#include "comm/c/parhelion_comm.h"

#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum
{
    ranks = 3,
    partitions = 4,
    count = 25,
    n = partitions * count
};

static int messages(ph_comm* comm)
{
    const int next = (ph_rank(comm) + 1) % ranks, previous = (ph_rank(comm) + ranks - 1) % ranks;
    float out[n];
    void* memory = NULL;
    ph_request *send = NULL, *receive = NULL;
    CHECK(ph_allocate(comm, sizeof out, &memory) == PH_SUCCESS);
    CHECK(ph_psend_init(comm, out, partitions, sizeof out / partitions, next, 7, &send) == PH_SUCCESS);
    CHECK(ph_precv_init(comm, memory, 2, sizeof out / 2, previous, 7, &receive) == PH_SUCCESS);
    for (int epoch = 1; epoch <= 5; ++epoch)
    {
        int has_arrived = 0;
        CHECK(ph_start(receive) == PH_SUCCESS && ph_start(send) == PH_SUCCESS);
        CHECK(ph_pbuf_prepare(send) == PH_SUCCESS);
        for (int i = 0; i < n; ++i) { out[i] = (float)(1000 * epoch + 100 * ph_rank(comm) + i); }
        CHECK(ph_pready(send, 3) == PH_SUCCESS && ph_pready_range(send, 0, 2) == PH_SUCCESS);
        while (!has_arrived) { CHECK(ph_parrived(receive, 1, &has_arrived) == PH_SUCCESS); }
        CHECK(ph_wait(send) == PH_SUCCESS && ph_wait(receive) == PH_SUCCESS);
        for (int i = 0; i < n; ++i) { CHECK(((float*)memory)[i] == (float)(1000 * epoch + 100 * previous + i)); }
    }
    CHECK(ph_free(&send) == PH_SUCCESS && send == NULL);
    CHECK(ph_free(&receive) == PH_SUCCESS);
    CHECK(ph_release(comm, memory, sizeof out) == PH_SUCCESS);
    return 0;
}

static int collectives(ph_comm* comm)
{
    const int me = ph_rank(comm);
    double input[ranks * n], sum[n], gathered[ranks * n], scattered[n], sent[n];
    ph_request* requests[4] = {NULL, NULL, NULL, NULL};
    CHECK(ph_pallreduce_init(comm, input, sum, partitions, count, PH_DOUBLE, PH_SUM, &requests[0]) == PH_SUCCESS);
    CHECK(ph_pallgather_init(comm, input, gathered, partitions, count, PH_DOUBLE, &requests[1]) == PH_SUCCESS);
    CHECK(ph_preduce_scatter_init(comm, input, scattered, partitions, count, PH_DOUBLE, PH_MAX, &requests[2]) == PH_SUCCESS);
    CHECK(ph_pbroadcast_init(comm, sent, partitions, count, PH_DOUBLE, 2, &requests[3]) == PH_SUCCESS);
    for (int epoch = 1; epoch <= 5; ++epoch)
    {
        for (int i = 0; i < ranks * n; ++i) { input[i] = 100 * epoch + 10 * me + i; }
        for (int i = 0; i < n; ++i) { sent[i] = me == 2 ? epoch + i : -1; }
        for (int r = 0; r < 4; ++r)
        {
            CHECK(ph_start(requests[r]) == PH_SUCCESS);
            if (r < 3 || me == 2) { CHECK(ph_pready_range(requests[r], 0, partitions - 1) == PH_SUCCESS); }
        }
        for (int r = 3; r >= 0; --r)
        {
            int is_complete = 0;
            while (!is_complete) { CHECK(ph_test(requests[r], &is_complete) == PH_SUCCESS); }
        }
        for (int i = 0; i < n; ++i)
        {
            CHECK(sum[i] == 300 * epoch + 30 + 3 * i);
            for (int r = 0; r < ranks; ++r) { CHECK(gathered[r * n + i] == 100 * epoch + 10 * r + i); }
            CHECK(scattered[i] == 100 * epoch + 20 + me * n + i);
            CHECK(sent[i] == epoch + i);
        }
    }
    return ph_barrier(comm); /* the requests are freed at the end of the run */
}

static int errors(ph_comm* comm)
{
    double values[n] = {0};
    ph_request *request = NULL, *none = NULL;
    void* memory = NULL;
    int flag;
    CHECK(ph_start(none) == PH_ERROR_NULL && strlen(ph_error_message()) > 0);
    CHECK(ph_free(&none) == PH_ERROR_NULL);
    CHECK(ph_psend_init(comm, values, 0, 8, 0, 0, &request) == PH_ERROR_ARGUMENT);
    CHECK(ph_psend_init(comm, values, 1, 8, ranks, 0, &request) == PH_ERROR_ARGUMENT);
    CHECK(ph_pallreduce_init(comm, values, values, 1, n, 9, PH_SUM, &request) == PH_ERROR_ARGUMENT);
    CHECK(ph_pallreduce_init(comm, values, values, 1, n, PH_DOUBLE, -1, &request) == PH_ERROR_ARGUMENT);
    CHECK(ph_pallreduce_init(comm, values, values, 1, n, PH_DOUBLE, PH_SUM, NULL) == PH_ERROR_NULL);
    CHECK(ph_allocate(comm, (size_t)1 << 40, &memory) == PH_ERROR_MEMORY && memory == NULL);
    CHECK(request == NULL);

    CHECK(ph_pallreduce_init(comm, values, values, 2, n / 2, PH_DOUBLE, PH_SUM, &request) == PH_SUCCESS);
    CHECK(ph_pready(request, 0) == PH_ERROR_NOT_ACTIVE && ph_pbuf_prepare(request) == PH_ERROR_NOT_ACTIVE);
    CHECK(ph_start(request) == PH_SUCCESS && ph_start(request) == PH_ERROR_ACTIVE && ph_free(&request) == PH_ERROR_ACTIVE);
    CHECK(ph_pready(request, 2) == PH_ERROR_PARTITION && ph_parrived(request, -1, &flag) == PH_ERROR_PARTITION);
    CHECK(ph_pready(request, 0) == PH_SUCCESS && ph_pready(request, 0) == PH_ERROR_READY_TWICE);
    CHECK(ph_pready(request, 1) == PH_SUCCESS && ph_wait(request) == PH_SUCCESS && ph_free(&request) == PH_SUCCESS);

    CHECK(ph_psend_init(comm, values, 1, 8, ph_rank(comm), 1, &request) == PH_SUCCESS);
    CHECK(ph_parrived(request, 0, &flag) == PH_ERROR_ARGUMENT);
    return ph_barrier(comm);
}

static int all_right(ph_comm* comm, void* data)
{
    (void)data;
    CHECK(ph_ranks(comm) == ranks);
    return messages(comm) || collectives(comm) || errors(comm);
}

/* Rank 1 leaves; nobody marks what the others wait for. */
static int one_leaves(ph_comm* comm, void* data)
{
    double value = 1;
    ph_request* sum = NULL;
    (void)data;
    if (ph_rank(comm) == 1) { return 0; }
    CHECK(ph_pallreduce_init(comm, &value, &value, 1, 1, PH_DOUBLE, PH_SUM, &sum) == PH_SUCCESS);
    ph_start(sum);
    ph_pready(sum, 0);
    return ph_wait(sum) == PH_SUCCESS ? 0 : 3;
}
static int one_stops(ph_comm* comm, void* data)
{
    (void)data;
    return ph_rank(comm) == 1 ? 5 : ph_barrier(comm) == PH_ERROR_STOPPED ? 0 : 6;
}

/* Any bytes are broadcast and gathered, and not added. */
static int bytes(ph_comm* comm, void* data)
{
    char word[7] = "......", words[ranks * 7];
    ph_request *broadcast = NULL, *gather = NULL;
    (void)data;
    if (ph_rank(comm) == 1) { strcpy(word, "parcel"); }
    CHECK(ph_pallreduce_init(comm, word, word, 1, 7, PH_BYTE, PH_SUM, &broadcast) == PH_ERROR_ARGUMENT);
    CHECK(ph_pbroadcast_init(comm, word, 1, 7, PH_BYTE, 1, &broadcast) == PH_SUCCESS);
    CHECK(ph_start(broadcast) == PH_SUCCESS && (ph_rank(comm) != 1 || ph_pready(broadcast, 0) == PH_SUCCESS));
    CHECK(ph_wait(broadcast) == PH_SUCCESS && strcmp(word, "parcel") == 0);
    word[0] = (char)('a' + ph_rank(comm));
    CHECK(ph_pallgather_init(comm, word, words, 1, 7, PH_BYTE, &gather) == PH_SUCCESS);
    CHECK(ph_start(gather) == PH_SUCCESS && ph_pready(gather, 0) == PH_SUCCESS && ph_wait(gather) == PH_SUCCESS);
    for (int r = 0; r < ranks; ++r) { CHECK(words[7 * r] == 'a' + r && strcmp(words + 7 * r + 1, "arcel") == 0); }
    return ph_barrier(comm);
}

/* Rank 1 is late by more than the deadline, while all are paused: twice, the second time to the end of its program. */
static int pauses(ph_comm* comm, void* data)
{
    (void)data;
    CHECK(ph_resume_deadlines(comm) == PH_ERROR_ARGUMENT && ph_pause_deadlines(NULL) == PH_ERROR_NULL);
    if (ph_rank(comm) == 1)
    {
        CHECK(ph_pause_deadlines(comm) == PH_SUCCESS && ph_pause_deadlines(comm) == PH_SUCCESS);
        CHECK(ph_resume_deadlines(comm) == PH_SUCCESS);
        usleep(1500000);
        CHECK(ph_resume_deadlines(comm) == PH_SUCCESS);
    }
    CHECK(ph_barrier(comm) == PH_SUCCESS);
    if (ph_rank(comm) == 1) { return ph_pause_deadlines(comm) || usleep(1500000); }
    return ph_barrier(comm) != PH_SUCCESS ? 0 : 1;
}

/* As much memory as was asked for, and not twice as much. */
static int memory(ph_comm* comm, void* data)
{
    const size_t bytes = *(const size_t*)data;
    void *first = NULL, *second = NULL;
    CHECK(ph_allocate(comm, bytes, &first) == PH_SUCCESS);
    ((char*)first)[bytes - 1] = 1;
    CHECK(ph_allocate(comm, bytes, &second) != PH_SUCCESS && strstr(ph_error_message(), "memory_bytes") != NULL);
    return ph_barrier(comm);
}

/* The calling thread is asked, and says that it is enough. */
static int has_been_asked;
static int enough(void* data)
{
    (void)data;
    return ++has_been_asked >= 3;
}
static int waits_for_ever(ph_comm* comm, void* data)
{
    (void)data;
    if (ph_rank(comm) == 1) { return ph_barrier(comm) == PH_ERROR_STOPPED ? 0 : 6; }
    void* place = NULL;
    ph_request* never = NULL;
    CHECK(ph_allocate(comm, 8, &place) == PH_SUCCESS && ph_precv_init(comm, place, 1, 8, 1, 0, &never) == PH_SUCCESS);
    return ph_start(never) || ph_wait(never) == PH_ERROR_STOPPED ? 0 : 7;
}

static int options_of_runs(void)
{
    const size_t little = 1 << 20, much = (size_t)3 << 30;
    ph_options options;
    for (int processes = 2; processes >= 0; processes -= 2)
    {
        CHECK(ph_run(ranks, processes, 30, bytes, NULL) == PH_SUCCESS);
        options = (ph_options){.size = sizeof options, .deadline_seconds = 1};
        const int of_pauses = ph_run_with(2, processes, &options, pauses, NULL); /* rank 0 waits for who has left, at the end */
        CHECK(of_pauses == PH_ERROR_TIMEOUT || of_pauses == PH_ERROR_PEER_LOST);
        options = (ph_options){.size = sizeof options, .memory_bytes = little};
        CHECK(ph_run_with(2, processes, &options, memory, (void*)&little) == PH_SUCCESS);
        options.memory_bytes = much;
        CHECK(ph_run_with(2, processes, &options, memory, (void*)&much) == PH_SUCCESS);
        options.memory_bytes = (size_t)1 << 50;
        CHECK(ph_run_with(2, processes, &options, memory, (void*)&much) == PH_ERROR_SYSTEM);
        options = (ph_options){.size = sizeof options, .interrupted = enough};
        has_been_asked = 0;
        CHECK(ph_run_with(2, processes, &options, waits_for_ever, NULL) == PH_ERROR_STOPPED);
        CHECK(strcmp(ph_error_message(), "The run was interrupted.") == 0 && has_been_asked >= 3);
    }
    options = (ph_options){.size = sizeof options + 8};
    CHECK(ph_run_with(2, 0, &options, bytes, NULL) == PH_ERROR_ARGUMENT);
    options = (ph_options){.size = 0};
    CHECK(ph_run_with(2, 0, &options, bytes, NULL) == PH_ERROR_ARGUMENT);
    options = (ph_options){.size = sizeof options, .deadline_seconds = -1};
    CHECK(ph_run_with(2, 0, &options, bytes, NULL) == PH_ERROR_ARGUMENT);
    options = (ph_options){.size = sizeof options, .bind = 7};
    CHECK(ph_run_with(2, 0, &options, bytes, NULL) == PH_ERROR_ARGUMENT);
    return 0;
}

int main(void)
{
    CHECK(ph_version() == PH_VERSION);
    CHECK(ph_run(ranks, ranks, 30, all_right, NULL) == PH_SUCCESS); /* processes first, while there is one thread */
    CHECK(ph_run(ranks, 2, 30, all_right, NULL) == PH_SUCCESS);
    CHECK(options_of_runs() == 0);
    CHECK(ph_run(ranks, 2, 30, one_stops, NULL) == PH_ERROR_STOPPED);
    CHECK(strcmp(ph_error_message(), "The program of rank 1 returned 5.") == 0);
    CHECK(ph_run(ranks, 0, 30, all_right, NULL) == PH_SUCCESS);
    CHECK(ph_run(ranks, 0, 0.2, one_leaves, NULL) == PH_ERROR_STOPPED);
    CHECK(strstr(ph_error_message(), "for all members to make the request") != NULL);
    CHECK(ph_run(ranks, 0, 30, one_stops, NULL) == PH_ERROR_STOPPED);
    CHECK(strcmp(ph_error_message(), "The program of rank 1 returned 5.") == 0);
    CHECK(ph_run(0, 0, 30, all_right, NULL) == PH_ERROR_ARGUMENT && ph_run(2, 3, 30, all_right, NULL) == PH_ERROR_ARGUMENT);
    CHECK(ph_run(1, 0, 0, all_right, NULL) == PH_ERROR_ARGUMENT && ph_run(1, 0, 1, NULL, NULL) == PH_ERROR_NULL);
    return 0;
}
