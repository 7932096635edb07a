/* SPDX-License-Identifier: Apache-2.0
 * Processes that join: forked here, they know of each other what a page of shared memory tells, as what somebody else's launcher
 * gives them. What is wrong is told to all, within the deadline, and a process can join again. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, usleep */
#include "comm/c/parhelion_comm.h"

#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum
{
    ranks = 4,
    worlds = 8
};

/* What the processes of a test share. */
struct Board
{
    ph_id ids[worlds];
    volatile int have_id[worlds];
    volatile int called[worlds][ranks]; /* of an all-gather */
    ph_id gathered[worlds][ranks];
};
static struct Board* board;

static int has_come(volatile int* flag);

/* Returns when all ranks have called it for a world, whether or not they have joined that. */
static int all_have_called(int world, int rank)
{
    __atomic_store_n(&board->called[world][rank], 1, __ATOMIC_RELEASE);
    for (int r = 0; r < ranks; ++r)
    {
        if (!has_come(&board->called[world][r])) { return 0; }
    }
    return 1;
}

static int has_come(volatile int* flag)
{
    for (int i = 0; i < 20000 && __atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0; ++i) { usleep(1000); }
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static int join_as(int world, int rank, int of, const ph_options* options, ph_comm** comm)
{
    if (rank == 0)
    {
        CHECK(ph_make_id("lo", &board->ids[world]) == PH_SUCCESS);
        __atomic_store_n(&board->have_id[world], 1, __ATOMIC_RELEASE);
    }
    CHECK(has_come(&board->have_id[world]));
    return ph_init(&board->ids[world], rank, of, options, comm);
}

/* Of tests that wait for the deadline. Others take the default: a busy machine may need seconds to join. */
static const ph_options short_waits = {.size = sizeof(ph_options), .deadline_seconds = 2};

/* A sum, and a ring in which each sends from its own memory. */
static int add_and_pass_on(ph_comm* comm, int of)
{
    const int rank = ph_rank(comm), next = (rank + 1) % of, previous = (rank + of - 1) % of;
    double sum = 0, out[6], *in = NULL;
    ph_request *total = NULL, *send = NULL, *receive = NULL;
    CHECK(ph_ranks(comm) == of && ph_allocate(comm, sizeof out, (void**)&in) == PH_SUCCESS);
    CHECK(ph_pallreduce_init(comm, &sum, &sum, 1, 1, PH_DOUBLE, PH_SUM, &total) == PH_SUCCESS);
    CHECK(ph_psend_init(comm, out, 6, sizeof(double), next, 1, &send) == PH_SUCCESS);
    CHECK(ph_precv_init(comm, in, 2, 3 * sizeof(double), previous, 1, &receive) == PH_SUCCESS);
    for (int epoch = 1; epoch <= 200; ++epoch)
    {
        sum = epoch + rank;
        CHECK(ph_start(total) == PH_SUCCESS && ph_pready(total, 0) == PH_SUCCESS && ph_wait(total) == PH_SUCCESS);
        CHECK(sum == of * epoch + of * (of - 1) / 2);
        CHECK(ph_start(receive) == PH_SUCCESS && ph_start(send) == PH_SUCCESS);
        for (int p = 5; p >= 0; --p)
        {
            out[p] = 100 * epoch + 10 * rank + p;
            CHECK(ph_pready(send, p) == PH_SUCCESS);
        }
        CHECK(ph_wait(receive) == PH_SUCCESS && ph_wait(send) == PH_SUCCESS);
        for (int p = 0; p < 6; ++p) { CHECK(in[p] == 100 * epoch + 10 * previous + p); }
    }
    CHECK(ph_free(&total) == PH_SUCCESS && ph_free(&send) == PH_SUCCESS && ph_free(&receive) == PH_SUCCESS);
    CHECK(ph_release(comm, in, sizeof out) == PH_SUCCESS);
    return 0;
}

static int by_an_id_again_and_again(int rank)
{
    for (int world = 0; world < 3; ++world)
    {
        ph_comm* comm = NULL;
        CHECK(join_as(world, rank, ranks, NULL, &comm) == PH_SUCCESS);
        CHECK(add_and_pass_on(comm, ranks) == 0);
        CHECK(ph_finalize(&comm) == PH_SUCCESS && comm == NULL);
    }
    return 0;
}

static int two_worlds_at_once(int rank)
{
    ph_comm *all = NULL, *half = NULL;
    CHECK(join_as(0, rank, ranks, NULL, &all) == PH_SUCCESS);
    CHECK(join_as(1 + rank / 2, rank % 2, 2, NULL, &half) == PH_SUCCESS);
    CHECK(add_and_pass_on(half, 2) == 0 && add_and_pass_on(all, ranks) == 0 && add_and_pass_on(half, 2) == 0);
    CHECK(ph_finalize(&all) == PH_SUCCESS && add_and_pass_on(half, 2) == 0 && ph_finalize(&half) == PH_SUCCESS);
    return 0;
}

static int gather(void* context, const void* mine, size_t bytes, void* all)
{
    const int rank = *(const int*)context;
    if (bytes != sizeof(ph_id)) { return 1; }
    memcpy(&board->gathered[0][rank], mine, bytes);
    if (!all_have_called(0, rank)) { return 1; }
    memcpy(all, board->gathered[0], ranks * bytes);
    return 0;
}

static int by_an_all_gather(int rank)
{
    ph_comm* comm = NULL;
    CHECK(ph_init_exchange(rank, ranks, NULL, &rank, NULL, &comm) == PH_ERROR_NULL);
    CHECK(ph_init_exchange(rank, ranks, gather, &rank, NULL, &comm) == PH_SUCCESS);
    CHECK(add_and_pass_on(comm, ranks) == 0 && ph_finalize(&comm) == PH_SUCCESS);
    return 0;
}

/* Groups, groups of groups, twice the same, messages of one peer and tag in several of them, and none for who wants none. */
static int use_groups(ph_comm* all)
{
    const int rank = ph_rank(all), reversed[] = {3, 2, 1, 0}, wrong[] = {0, ranks}, twice[] = {rank, rank};
    ph_comm *pair = NULL, *odd = NULL, *back = NULL, *same = NULL, *host = NULL, *one = NULL;
    CHECK(ph_split(all, rank / 2, -rank, &pair) == PH_SUCCESS);
    CHECK(ph_ranks(pair) == 2 && ph_rank(pair) == 1 - rank % 2); /* by key: the other way round */
    CHECK(ph_split(all, rank % 2 == 1 ? 7 : -1, 0, &odd) == PH_SUCCESS && (odd != NULL) == (rank % 2 == 1));
    CHECK(ph_group(all, reversed, ranks, &back) == PH_SUCCESS && ph_rank(back) == ranks - 1 - rank);
    CHECK(ph_group(all, reversed, ranks, &same) == PH_SUCCESS);
    CHECK(ph_group(all, wrong, 2, &one) == PH_ERROR_ARGUMENT && ph_group(all, twice, 2, &one) == PH_ERROR_ARGUMENT);
    CHECK(ph_group(all, NULL, 1, &one) == PH_ERROR_NULL && ph_group(all, reversed, 0, &one) == PH_ERROR_ARGUMENT);
    CHECK(ph_group(all, rank == 0 ? reversed : reversed + 3, 1, &one) == PH_ERROR_ARGUMENT); /* itself is no member */
    CHECK(ph_host(all, &host) == PH_SUCCESS && ph_ranks(host) == ranks && ph_rank(host) == rank);
    CHECK(ph_split(pair, ph_rank(pair), 0, &one) == PH_SUCCESS && ph_ranks(one) == 1 && ph_rank(one) == 0);
    CHECK(add_and_pass_on(pair, 2) == 0 && add_and_pass_on(back, ranks) == 0 && add_and_pass_on(one, 1) == 0);
    CHECK(odd == NULL || (add_and_pass_on(odd, 2) == 0 && ph_finalize(&odd) == PH_SUCCESS));
    CHECK(add_and_pass_on(same, ranks) == 0 && add_and_pass_on(all, ranks) == 0 && add_and_pass_on(host, ranks) == 0);
    CHECK(ph_barrier(pair) == PH_SUCCESS && ph_barrier(back) == PH_SUCCESS);
    CHECK(ph_finalize(&back) == PH_SUCCESS && back == NULL && add_and_pass_on(same, ranks) == 0);
    back = pair; /* a handle of what goes with the whole */
    CHECK(ph_finalize(&pair) == PH_SUCCESS && ph_barrier(back) == PH_ERROR_NULL && ph_barrier(one) == PH_ERROR_NULL);
    return 0;
}

static int use_groups_of_a_run(ph_comm* all, void* data)
{
    (void)data;
    return use_groups(all);
}

static int in_groups(int rank)
{
    ph_comm* comm = NULL;
    CHECK(join_as(0, rank, ranks, NULL, &comm) == PH_SUCCESS && use_groups(comm) == 0 && ph_finalize(&comm) == PH_SUCCESS);
    if (rank != 0) { return 0; }
    CHECK(ph_run(ranks, 0, 20, use_groups_of_a_run, NULL) == PH_SUCCESS);
    CHECK(ph_run(ranks, 2, 20, use_groups_of_a_run, NULL) == PH_SUCCESS);
    return 0;
}

/* A rank is of whatever thread calls: of none that joined, and while its own waits for others, of one that only asks. */
struct Asked
{
    ph_request* receive;
    int has_arrived;
};
static void* use_all(void* comm) { return add_and_pass_on(comm, ranks) == 0 ? comm : NULL; }
static void* ask(void* data)
{
    struct Asked* const asked = data;
    for (int i = 0; i < 10000 && asked->has_arrived == 0; ++i)
    {
        if (ph_parrived(asked->receive, 0, &asked->has_arrived) != PH_SUCCESS) { return NULL; }
        usleep(1000);
    }
    return asked;
}

static int by_other_threads(int rank)
{
    ph_comm* comm = NULL;
    ph_request *send = NULL, *receive = NULL;
    pthread_t thread;
    void* done = NULL;
    int out = 10 + rank, in = 0;
    struct Asked asked = {NULL, 0};
    CHECK(join_as(0, rank, ranks, NULL, &comm) == PH_SUCCESS);
    CHECK(pthread_create(&thread, NULL, use_all, comm) == 0 && pthread_join(thread, &done) == 0 && done != NULL);
    CHECK(ph_precv_init(comm, &in, 1, sizeof in, (rank + ranks - 1) % ranks, 9, &receive) == PH_SUCCESS &&
          ph_start(receive) == PH_SUCCESS);
    asked.receive = receive;
    CHECK(ph_psend_init(comm, &out, 1, sizeof out, (rank + 1) % ranks, 9, &send) == PH_SUCCESS && ph_start(send) == PH_SUCCESS);
    CHECK(ph_pready(send, 0) == PH_SUCCESS); /* too early perhaps: it leaves while somebody asks */
    CHECK(pthread_create(&thread, NULL, ask, &asked) == 0 && pthread_join(thread, &done) == 0 && done != NULL);
    CHECK(asked.has_arrived == 1 && in == 10 + (rank + ranks - 1) % ranks);
    CHECK(ph_wait(send) == PH_SUCCESS && ph_wait(receive) == PH_SUCCESS && ph_finalize(&comm) == PH_SUCCESS);
    return 0;
}

static int gone_at_once(int rank)
{
    for (int world = 0; world < worlds; ++world)
    {
        ph_comm* comm = NULL;
        CHECK(join_as(world, rank, ranks, NULL, &comm) == PH_SUCCESS && ph_finalize(&comm) == PH_SUCCESS);
    }
    return 0;
}

/* The rank's memory is what a few groups take. */
static int in_very_many_groups(int rank)
{
    const ph_options little = {.size = sizeof(ph_options), .deadline_seconds = 20, .memory_bytes = 1 << 16};
    ph_comm *comm = NULL, *part = NULL;
    CHECK(join_as(0, rank, ranks, &little, &comm) == PH_SUCCESS);
    for (int i = 0; i < 500; ++i)
    {
        CHECK(ph_split(comm, rank % 2, 0, &part) == PH_SUCCESS && ph_barrier(part) == PH_SUCCESS &&
              ph_finalize(&part) == PH_SUCCESS);
    }
    CHECK(ph_finalize(&comm) == PH_SUCCESS);
    return 0;
}

/* A request that was waited for in vain can be freed; and a process that is forked has joined nothing. */
static int after_a_failure(int rank)
{
    ph_comm* comm = NULL;
    ph_request* receive = NULL;
    char sentence[400];
    int in = 0, status = 0;
    pid_t child;
    CHECK(join_as(0, rank, ranks, &short_waits, &comm) == PH_SUCCESS);
    child = fork();
    if (child == 0) { _exit(ph_finalize(&comm) == PH_ERROR_ARGUMENT && comm != NULL ? 0 : 1); }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(ph_precv_init(comm, &in, 1, sizeof in, (rank + 1) % ranks, 0, &receive) == PH_SUCCESS &&
          ph_start(receive) == PH_SUCCESS);
    CHECK(ph_wait(receive) != PH_SUCCESS); /* nobody sends */
    snprintf(sentence, sizeof sentence, "%s", ph_error_message());
    CHECK(ph_free(&receive) == PH_SUCCESS && receive == NULL && strcmp(sentence, ph_error_message()) == 0);
    CHECK(ph_finalize(&comm) == PH_SUCCESS);
    return 0;
}

/* Rank 2 ends in the first world; the others say so, and join again without it. */
static int without_one_that_has_died(int rank)
{
    ph_comm* comm = NULL;
    int code;
    CHECK(join_as(0, rank, ranks, NULL, &comm) == PH_SUCCESS && ph_barrier(comm) == PH_SUCCESS);
    if (rank == 2) { _exit(0); }
    code = ph_barrier(comm);
    CHECK(code == PH_ERROR_PEER_LOST);
    CHECK(strstr(ph_error_message(), "rank 2") != NULL);
    CHECK(ph_finalize(&comm) == PH_SUCCESS);
    CHECK(join_as(1, rank == 3 ? 2 : rank, 3, NULL, &comm) == PH_SUCCESS);
    CHECK(add_and_pass_on(comm, 3) == 0 && ph_finalize(&comm) == PH_SUCCESS);
    return 0;
}

/* Rank 1 does not come: all others say so by the deadline. */
static int without_one_that_never_comes(int rank)
{
    ph_comm* comm = NULL;
    if (rank == 1) { return 0; }
    CHECK(join_as(0, rank, ranks, &short_waits, &comm) == PH_ERROR_TIMEOUT && comm == NULL);
    CHECK(strstr(ph_error_message(), "rank 1 has not come") != NULL);
    return 0;
}

/* A process of rank 2's that joins, and is killed so much later. */
static int killed_while_joining(int world, long microseconds, const ph_options* options)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
    {
        const struct itimerval once = {{0, 0}, {microseconds / 1000000, microseconds % 1000000}};
        ph_comm* comm = NULL;
        setitimer(ITIMER_REAL, &once, NULL);
        if (join_as(world, 2, ranks, options, &comm) == PH_SUCCESS) { pause(); }
        pause();
    }
    return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? 0 : 1;
}

/* Rank 2 is killed while all wait for rank 3: all are told, before the deadline. By then it has come, also on a busy machine. */
static int without_one_that_dies_while_others_are_awaited(int rank)
{
    const ph_options options = {.size = sizeof options, .deadline_seconds = 60};
    ph_comm* comm = NULL;
    if (rank == 2) { return killed_while_joining(0, 3000000, &options); }
    if (rank == 3) { return 0; }
    CHECK(join_as(0, rank, ranks, &options, &comm) == PH_ERROR_PEER_LOST && comm == NULL);
    CHECK(strstr(ph_error_message(), "rank 2") != NULL);
    return 0;
}

/* Likewise at any moment: it has not come, or it is lost. */
static int without_one_that_dies_while_joining(int rank)
{
    for (int world = 0; world < worlds; ++world)
    {
        ph_comm* comm = NULL;
        int code;
        if (rank == 2)
        {
            CHECK(killed_while_joining(world, 2000 + 4000 * world, &short_waits) == 0 && all_have_called(world, rank));
            continue;
        }
        code = join_as(world, rank, ranks, &short_waits, &comm);
        if (code == PH_SUCCESS) { code = ph_barrier(comm); }
        if (strstr(ph_error_message(), "has not come") == NULL) { CHECK(code == PH_ERROR_PEER_LOST); }
        CHECK(code == PH_ERROR_PEER_LOST || code == PH_ERROR_TIMEOUT);
        CHECK(strstr(ph_error_message(), "rank 2") != NULL);
        CHECK(comm == NULL || ph_finalize(&comm) == PH_SUCCESS);
        CHECK(all_have_called(world, rank));
    }
    return 0;
}

/* Rank 2 is killed amid calls that send much: the others hear of it. */
static int without_one_that_dies_in_a_call(int rank)
{
    enum
    {
        most = 200000 /* numbers for each rank */
    };
    int64_t *out, *in;
    ph_comm* comm = NULL;
    int status = 0, code = PH_SUCCESS;
    const pid_t child = rank == 2 ? fork() : 0;
    if (child != 0)
    {
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        return 0;
    }
    out = calloc(ranks * most, sizeof *out), in = calloc(ranks * most, sizeof *in);
    CHECK(out != NULL && in != NULL && join_as(0, rank, ranks, NULL, &comm) == PH_SUCCESS);
    if (rank == 2) { ualarm(100000, 0); }
    while (code == PH_SUCCESS) { code = ph_alltoall(comm, out, in, most, PH_INT64); }
    CHECK(code == PH_ERROR_PEER_LOST && strstr(ph_error_message(), "rank 2") != NULL && ph_finalize(&comm) == PH_SUCCESS);
    free(out), free(in);
    return 0;
}

/* Rank 0 has no file for who connects: it says so by the deadline, and does not spin until then. */
static int with_too_few_open_files(int rank)
{
    ph_comm* comm = NULL;
    struct rlimit limit;
    struct rusage used;
    int free_number = -1;
    if (rank > 1) { return 0; }
    if (rank == 1)
    {
        CHECK(join_as(0, 1, 2, &short_waits, &comm) == PH_ERROR_TIMEOUT);
        return 0;
    }
    CHECK(ph_make_id("lo", &board->ids[0]) == PH_SUCCESS);
    free_number = dup(0);
    CHECK(free_number > 0 && close(free_number) == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = (rlim_t)free_number + 3; /* what rank 0 takes for itself */
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    __atomic_store_n(&board->have_id[0], 1, __ATOMIC_RELEASE);
    CHECK(ph_init(&board->ids[0], 0, 2, &short_waits, &comm) == PH_ERROR_SYSTEM && comm == NULL);
    CHECK(strstr(ph_error_message(), "Raise the limit of open files") != NULL);
    CHECK(getrusage(RUSAGE_SELF, &used) == 0);
    CHECK(used.ru_utime.tv_sec + used.ru_stime.tv_sec == 0 && used.ru_utime.tv_usec + used.ru_stime.tv_usec < 500000);
    return 0;
}

static int open_files(void);

/* Ids that nobody joins by are given back, with what they have opened. */
static int with_ids_that_are_given_back(int rank)
{
    ph_id id, other = {{0}};
    ph_comm* comm = NULL;
    const int before = open_files();
    if (rank != 0) { return 0; }
    for (int i = 0; i < 100; ++i) { CHECK(ph_make_id("lo", &id) == PH_SUCCESS && ph_free_id(&id) == PH_SUCCESS); }
    CHECK(open_files() == before);
    CHECK(ph_free_id(&id) == PH_ERROR_ARGUMENT && ph_init(&id, 0, 1, NULL, &comm) == PH_ERROR_ARGUMENT);
    CHECK(ph_free_id(NULL) == PH_ERROR_NULL && ph_free_id(&other) == PH_ERROR_ARGUMENT);
    CHECK(ph_make_id("lo", &id) == PH_SUCCESS && ph_init(&id, 0, 1, NULL, &comm) == PH_SUCCESS);
    CHECK(ph_free_id(&id) == PH_ERROR_ARGUMENT && ph_finalize(&comm) == PH_SUCCESS);
    return 0;
}

/* Rank 1 stops all: waits of the others end, and all can end. */
static int with_one_that_stops_all(int rank)
{
    ph_comm* comm = NULL;
    const int code = join_as(0, rank, ranks, NULL, &comm);
    if (rank != 1 && code == PH_ERROR_STOPPED) { return comm != NULL; } /* rank 1 has stopped all before this rank was ready */
    CHECK(code == PH_SUCCESS && ph_abort(NULL) == PH_ERROR_NULL);
    if (rank == 1) { CHECK(ph_abort(comm) == PH_SUCCESS); }
    CHECK(ph_barrier(comm) == PH_ERROR_STOPPED && ph_finalize(&comm) == PH_SUCCESS);
    return 0;
}

static int with_options_that_differ(int rank)
{
    ph_options options = {.size = sizeof options};
    ph_comm* comm = NULL;
    int code;
    options.memory_bytes = rank == 3 ? 1 << 21 : 1 << 20;
    code = join_as(0, rank, ranks, &options, &comm);
    if (rank == 3)
    {
        CHECK(code == PH_ERROR_ARGUMENT && strstr(ph_error_message(), "Rank 3 has memory_bytes 2097152") != NULL);
        return 0;
    }
    if (code == PH_SUCCESS) { code = ph_barrier(comm); } /* it may have been ready before rank 3 has looked */
    CHECK(code != PH_SUCCESS && strstr(ph_error_message(), "Rank 3 has memory_bytes 2097152") != NULL);
    CHECK(comm == NULL || ph_finalize(&comm) == PH_SUCCESS);
    return 0;
}

static int with_a_rank_that_is_there_already(int rank)
{
    ph_comm* comm = NULL;
    const int code = join_as(0, rank == 3 ? 2 : rank, ranks, &short_waits, &comm);
    CHECK(code == PH_ERROR_TIMEOUT && comm == NULL);
    return 0;
}

static int program(ph_comm* comm, void* data)
{
    (void)data;
    CHECK(ph_finalize(&comm) == PH_ERROR_ARGUMENT && comm != NULL);
    return 0;
}

static int what_makes_no_sense(int rank)
{
    ph_id id, none = {{0}};
    ph_options asks = short_waits;
    ph_comm *comm = NULL, *again;
    if (rank != 0) { return 0; }
    CHECK(ph_make_id(NULL, NULL) == PH_ERROR_NULL && ph_make_id("lo:none", &id) == PH_ERROR_ARGUMENT);
    CHECK(ph_make_id("192.0.2.77", &id) == PH_ERROR_SYSTEM); /* another host's */
    CHECK(ph_init(NULL, 0, 1, NULL, &comm) == PH_ERROR_NULL);
    CHECK(ph_init(&none, 0, 1, NULL, &comm) == PH_ERROR_ARGUMENT);
    CHECK(ph_make_id("lo", &id) == PH_SUCCESS);
    CHECK(ph_init(&id, 0, 1, NULL, NULL) == PH_ERROR_NULL);
    CHECK(ph_init(&id, 1, 1, NULL, &comm) == PH_ERROR_ARGUMENT && ph_init(&id, -1, 1, NULL, &comm) == PH_ERROR_ARGUMENT);
    asks.interrupted = (int (*)(void*))abort;
    CHECK(ph_init(&id, 0, 1, &asks, &comm) == PH_ERROR_ARGUMENT && comm == NULL);
    asks = short_waits;
    asks.deadline_seconds = 0.05;
    CHECK(ph_init(&id, 0, 1, &asks, &comm) == PH_ERROR_ARGUMENT && comm == NULL);
    CHECK(ph_init(&id, 0, 1, NULL, &comm) == PH_SUCCESS && comm != NULL); /* what was refused has not used it */
    CHECK(ph_init(&id, 0, 1, NULL, &again) == PH_ERROR_ARGUMENT);         /* this has */
    CHECK(add_and_pass_on(comm, 1) == 0);
    again = comm;
    CHECK(ph_finalize(&comm) == PH_SUCCESS && ph_finalize(&comm) == PH_ERROR_NULL && ph_finalize(&again) == PH_ERROR_NULL);
    CHECK(ph_finalize(NULL) == PH_ERROR_NULL);
    CHECK(ph_run(2, 0, 10, program, NULL) == PH_SUCCESS);
    return 0;
}

static int open_files(void)
{
    DIR* const folder = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(folder) != NULL) { ++n; }
    closedir(folder);
    return n;
}

static int leaving_nothing_behind(int rank)
{
    ph_id id;
    ph_comm* comm = NULL;
    int before = 0;
    if (rank != 0) { return 0; }
    for (int i = 0; i < 300; ++i)
    {
        CHECK(ph_make_id("lo", &id) == PH_SUCCESS && ph_init(&id, 0, 1, &short_waits, &comm) == PH_SUCCESS);
        CHECK(ph_barrier(comm) == PH_SUCCESS && ph_finalize(&comm) == PH_SUCCESS);
        if (i == 0) { before = open_files(); }
    }
    CHECK(open_files() == before);
    return 0;
}

/* In a process for each rank. */
static int try_in_processes(const char* name, int (*test)(int rank))
{
    pid_t ids[ranks];
    int status, failed = 0;
    memset(board, 0, sizeof *board);
    for (int r = 0; r < ranks; ++r)
    {
        ids[r] = fork();
        if (ids[r] == 0) { _exit(test(r)); }
    }
    for (int r = 0; r < ranks; ++r) { failed += waitpid(ids[r], &status, 0) != ids[r] || status != 0; }
    printf("%s: %s\n", failed == 0 ? "ok" : "FAILED", name);
    fflush(stdout);
    return failed == 0 ? 0 : 1;
}

#define TRY(test) try_in_processes(#test, test)

int main(void)
{
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return TRY(by_an_id_again_and_again) | TRY(two_worlds_at_once) | TRY(in_groups) | TRY(by_other_threads) | TRY(gone_at_once) |
           TRY(in_very_many_groups) | TRY(after_a_failure) | TRY(by_an_all_gather) | TRY(without_one_that_has_died) |
           TRY(without_one_that_never_comes) | TRY(without_one_that_dies_while_others_are_awaited) |
           TRY(without_one_that_dies_while_joining) | TRY(without_one_that_dies_in_a_call) | TRY(with_too_few_open_files) |
           TRY(with_ids_that_are_given_back) | TRY(with_one_that_stops_all) | TRY(with_options_that_differ) |
           TRY(with_a_rank_that_is_there_already) | TRY(what_makes_no_sense) | TRY(leaving_nothing_behind);
}
