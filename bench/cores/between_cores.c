/* SPDX-License-Identifier: Apache-2.0
 * Messages between two processes, each on a core of its own: half a round trip, in which the sender has written a word of each
 * line of its buffer before, and the receiver reads a word of each line of what came. By this library, or (-DBY_MPI) by MPI_Send
 * and MPI_Recv of whatever MPI it is compiled with.
 *
 *     between_cores [MOST_BYTES]           prints bytes, partitions, the best and the median of the rounds in us */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef BY_MPI
#include <mpi.h>
#else
#include <parhelion_comm.h>
#endif

enum
{
    line = 64,
    rounds = 30
};

static size_t most_bytes = (size_t)16 << 20;
static volatile uint64_t seen; /* what the receiver has read */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void write_lines(char* buffer, size_t bytes, uint64_t value)
{
    for (size_t i = 0; i < bytes; i += line) { memcpy(buffer + i, &value, sizeof value); }
}

/* Ends the program if a word is not the one that was sent. */
static void read_lines(const char* buffer, size_t bytes, uint64_t value)
{
    uint64_t wrong = 0, word;
    for (size_t i = 0; i < bytes; i += line)
    {
        memcpy(&word, buffer + i, sizeof word);
        wrong += word != value;
    }
    if (wrong != 0)
    {
        fprintf(stderr, "%zu bytes: %zu lines are wrong\n", bytes, (size_t)wrong);
        exit(1);
    }
    seen = value;
}

static int compare(const void* a, const void* b) { return *(const double*)a > *(const double*)b ? 1 : -1; }

/* Of calls that send and receive all of a message. */
struct Way
{
    void (*send)(struct Way*, int partitions);
    void (*receive)(struct Way*);
    char *out, *in;
    void *sends, *receives;
    size_t bytes;
    int other;
};

static void time_rounds(struct Way* way, int rank, int partitions)
{
    double times[rounds];
    const int turns = way->bytes <= 4096 ? 200 : way->bytes <= (1 << 18) ? 50 : 10;
    uint64_t value = 1;
    for (int round = -2; round < rounds; ++round) /* two to begin with */
    {
        const double start = now();
        for (int turn = 0; turn < turns; ++turn, ++value)
        {
            for (int who = 0; who < 2; ++who)
            {
                if (who == rank)
                {
                    write_lines(way->out, way->bytes, value);
                    way->send(way, partitions);
                }
                else
                {
                    way->receive(way);
                    read_lines(way->in, way->bytes, value);
                }
            }
        }
        if (round >= 0) { times[round] = (now() - start) / (2.0 * turns); }
    }
    qsort(times, rounds, sizeof times[0], compare);
    if (rank == 0)
    {
        printf("%9zu %3d %10.2f %10.2f\n", way->bytes, partitions, times[0], times[rounds / 2]);
        fflush(stdout);
    }
}

#ifdef BY_MPI
static void send_all(struct Way* way, int partitions)
{
    (void)partitions;
    MPI_Send(way->out, (int)way->bytes, MPI_BYTE, way->other, 0, MPI_COMM_WORLD);
}
static void receive_all(struct Way* way)
{
    MPI_Recv(way->in, (int)way->bytes, MPI_BYTE, way->other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    int rank;
    cpu_set_t core;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CPU_ZERO(&core);
    CPU_SET((size_t)rank, &core);
    sched_setaffinity(0, sizeof core, &core);
    if (argc > 1) { most_bytes = (size_t)atol(argv[1]); }
    for (size_t bytes = 8; bytes <= most_bytes; bytes *= bytes < 1 << 14 ? 8 : 2)
    {
        struct Way way = {send_all, receive_all, aligned_alloc(4096, 1 << 24), aligned_alloc(4096, 1 << 24), NULL, NULL,
                          bytes,    1 - rank};
        memset(way.out, 0, bytes);
        memset(way.in, 0, bytes);
        time_rounds(&way, rank, 1);
        free(way.out);
        free(way.in);
    }
    MPI_Finalize();
    return 0;
}
#else
static void expect(int code)
{
    if (code == PH_SUCCESS) { return; }
    fprintf(stderr, "%s\n", ph_error_message());
    exit(1);
}
static void send_all(struct Way* way, int partitions)
{
    ph_request* const send = way->sends;
    expect(ph_start(send));
    for (int p = 0; p < partitions; ++p) { expect(ph_pready(send, p)); }
    expect(ph_wait(send));
}
static void receive_all(struct Way* way)
{
    expect(ph_start(way->receives));
    expect(ph_wait(way->receives));
}

static int program(ph_comm* comm, void* data)
{
    const int rank = ph_rank(comm), counts[] = {1, 8};
    (void)data;
    for (size_t bytes = 8; bytes <= most_bytes; bytes *= bytes < 1 << 14 ? 8 : 2)
    {
        for (int i = 0; i < 2; ++i)
        {
            const int partitions = counts[i];
            struct Way way = {send_all, receive_all, aligned_alloc(4096, 1 << 24), NULL, NULL, NULL, bytes, 1 - rank};
            void* in = NULL;
            ph_request *send = NULL, *receive = NULL;
            if (bytes % (size_t)partitions != 0) { continue; }
            expect(ph_allocate(comm, bytes, &in));
            expect(ph_psend_init(comm, way.out, partitions, bytes / (size_t)partitions, way.other, 0, &send));
            expect(ph_precv_init(comm, in, partitions, bytes / (size_t)partitions, way.other, 0, &receive));
            way.in = in;
            way.sends = send;
            way.receives = receive;
            memset(way.out, 0, bytes);
            time_rounds(&way, rank, partitions);
            expect(ph_barrier(comm));
            expect(ph_free(&send));
            expect(ph_free(&receive));
            expect(ph_release(comm, in, bytes));
            free(way.out);
        }
    }
    return 0;
}

int main(int argc, char** argv)
{
    if (argc > 1) { most_bytes = (size_t)atol(argv[1]); }
    expect(ph_run(2, 2, 30, program, NULL));
    return 0;
}
#endif
