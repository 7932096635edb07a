/* SPDX-License-Identifier: Apache-2.0
 * Partitioned messages and collectives between ranks of one host, for programs in C and for what calls C: buffers that leave in
 * pieces, as threads mark them ready. Ranks are threads, or processes that share memory. docs/user/comm.md is the guide.
 *
 * Rules. Handles are opaque. Every call returns PH_SUCCESS or an error, and then changes nothing unless it says so;
 * ph_error_message() is the sentence to it. No call throws. Waits are bounded by the deadline of ph_run(). What is here keeps its
 * meaning: later versions add calls and error codes, and PH_VERSION counts. Since version 4 what was PH_ERROR_TIMEOUT for full
 * memory and lost ranks, and PH_ERROR_ARGUMENT for null pointers, has codes of its own.
 *
 * Threads. A rank's calls are its own thread's, but for ph_pready, ph_pready_range and ph_parrived, which any thread may call
 * between ph_start and ph_wait. */
#ifndef PARHELION_COMM_H
#define PARHELION_COMM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PH_VERSION 4

enum
{
    PH_SUCCESS = 0,
    PH_ERROR_NULL = 1,          /* an argument is null, or a handle that has been freed */
    PH_ERROR_NOT_ACTIVE = 2,    /* ph_pready or ph_pbuf_prepare outside ph_start and ph_wait */
    PH_ERROR_ACTIVE = 3,        /* ph_start or ph_free of a request that has not been waited for */
    PH_ERROR_PARTITION = 4,     /* there is no such partition */
    PH_ERROR_READY_TWICE = 5,   /* a partition was marked ready for the second time in an epoch */
    PH_ERROR_ARGUMENT = 6,      /* an argument that makes no sense, a call for the other side of a message, or members of a
                                   collective that ask for different things: told to all of them */
    PH_ERROR_NOT_SYMMETRIC = 7, /* a receive buffer that is not from ph_allocate */
    PH_ERROR_BYTES_DIFFER = 8,  /* the two sides of a message have buffers of different sizes */
    PH_ERROR_PEER_FREED = 9,    /* the other side has freed its request */
    PH_ERROR_NOT_MATCHED = 10,  /* on GPUs: the other side has not made its request yet */
    PH_ERROR_IN_USE = 11,       /* ph_release of memory that a request uses */
    PH_ERROR_TIMEOUT = 20,      /* a wait timed out: the sentence names rank and peer */
    PH_ERROR_STOPPED = 21,      /* another rank has stopped the run */
    PH_ERROR_SYSTEM = 22,       /* the operating system refused something */
    PH_ERROR_INTERNAL = 23,     /* a defect of this library */
    PH_ERROR_DEVICE = 24,       /* CUDA refused something, or there is no such GPU */
    PH_ERROR_MEMORY = 25,       /* memory for messages, or the process's, is full */
    PH_ERROR_LIMIT = 26,        /* signal slots of a rank, or handles, are used up */
    PH_ERROR_PEER_LOST = 27     /* a rank that is waited for has gone: its process has died, or its program has ended */
};

typedef struct ph_comm ph_comm;       /* a rank among all */
typedef struct ph_request ph_request; /* one side of a message, or a member of a collective; used epoch after epoch */

/* Types of elements, and reductions. Numbers, as another than these is an error that is told. */
typedef int ph_type;
typedef int ph_reduction;
enum
{
    PH_FLOAT = 0,
    PH_DOUBLE = 1,
    PH_HALF = 2, /* IEEE 754 binary16 */
    PH_BFLOAT16 = 3,
    PH_BYTE = 4 /* of any data: not added or compared, so of all-gathers and broadcasts between CPU ranks alone */
};
enum
{
    PH_SUM = 0,
    PH_MIN = 1,
    PH_MAX = 2
};

/* Of the calling thread's last call that failed; never null. */
const char* ph_error_message(void);
int ph_version(void); /* PH_VERSION of the library, which may be newer than the header */

/* A rank's program. Returns 0, or anything else to stop the run. One that calls exit(0) has done its part: its process ends when
 * all ranks in it have done theirs. */
typedef int (*ph_rank_program)(ph_comm* comm, void* data);
/* Runs all ranks and returns when they have ended: as threads of this process (processes 0), or spread over so many processes,
 * which are forked and must begin while there is one thread. Returns PH_ERROR_STOPPED if a program returned not 0: the
 * sentence names the first to do so. A wait that has failed is the error of the run also if the program then returns 0.
 * deadline_seconds: the longest wait for another rank. */
int ph_run(int ranks, int processes, double deadline_seconds, ph_rank_program program, void* data);

/* Where ranks run. */
enum
{
    PH_BIND_CORE = 0, /* each has a core of its own, of those that the caller may use, and an equal part of the cores that are
                         left, for threads that it starts; all are anywhere if there are too few, or if other runs have them */
    PH_BIND_NONE = 1  /* wherever the system puts them */
};
/* How a run is made. Zero is each one's default: begin with {.size = sizeof(ph_options)}, and name what differs. */
typedef struct ph_options
{
    size_t size;             /* sizeof(ph_options), by which later versions know what is there */
    double deadline_seconds; /* the longest wait for another rank; 30 */
    size_t memory_bytes;     /* of a rank, for ph_allocate and what collectives send through; 1 GiB. Addresses: memory is taken
                                where it is written, of processes from the system's shared memory. The limit is what the
                                system gives: PH_ERROR_SYSTEM says that it was too much, and a call that runs out names this */
    int bind;                /* PH_BIND_CORE or PH_BIND_NONE */
    int (*interrupted)(void* data); /* asked by the calling thread about every 50 ms, which is no rank then; other than 0 stops
                                       the run: waits end at once, and ph_run_with returns PH_ERROR_STOPPED when all programs
                                       have returned. Processes get some seconds for that. Null: nobody is asked */
} ph_options;
/* ph_run with options, or null for none. `data` is also that of `interrupted`. */
int ph_run_with(int ranks, int processes, const ph_options* options, ph_rank_program program, void* data);

int ph_rank(const ph_comm* comm); /* this and the next: -1 of a null or ended rank */
int ph_ranks(const ph_comm* comm);
int ph_barrier(ph_comm* comm);
/* Between the two no wait of any rank comes to its deadline, and each has its whole deadline afterwards: for a debugger, or a long
 * computation of one rank. Calls come in pairs, which may be nested; what is open at the end of the rank's program ends with it. */
int ph_pause_deadlines(ph_comm* comm);
int ph_resume_deadlines(ph_comm* comm);
/* Memory that other ranks write to, aligned to 128 bytes. It lives until the end of the run or ph_release, which takes what
 * ph_allocate gave, as a whole, when no request uses it any more. */
int ph_allocate(ph_comm* comm, size_t bytes, void** memory);
int ph_release(ph_comm* comm, void* memory, size_t bytes);

/* Messages between two ranks: both sides call, the nth of a peer and tag with the nth of the other side. The sides may cut the
 * buffer into different numbers of partitions, 1 to 1048576. A receive buffer is from ph_allocate. */
int ph_psend_init(ph_comm* comm, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                  ph_request** request);
int ph_precv_init(ph_comm* comm, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                  ph_request** request);

/* Collectives of all ranks: the nth call of each. `count` elements a partition: of an all-gather's input and a reduce-scatter's
 * result, where the other buffer has as many for each rank. Of an all-reduce they may be one buffer; of the others the smaller
 * may be this rank's block of the larger. All ranks get the same bits. */
int ph_pallreduce_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_reduction reduction, ph_request** request);
int ph_preduce_scatter_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                            ph_reduction reduction, ph_request** request);
int ph_pallgather_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_request** request);
int ph_pbroadcast_init(ph_comm* comm, void* buffer, int partitions, size_t count, ph_type type, int root, ph_request** request);

int ph_start(ph_request* request);        /* the next epoch */
int ph_pbuf_prepare(ph_request* request); /* returns when partitions may leave at once */
/* This partition is complete: of a send's buffer or a collective's input. */
int ph_pready(ph_request* request, int partition);
int ph_pready_range(ph_request* request, int first, int last); /* both included; all or, with an error, none */
/* May this partition be read? Of a receive's buffer or a collective's result. */
int ph_parrived(ph_request* request, int partition, int* has_arrived);
int ph_wait(ph_request* request);                   /* the end of the epoch */
int ph_test(ph_request* request, int* is_complete); /* as ph_wait if that would return at once */
int ph_free(ph_request** request);                  /* which is null then; what is left at the end of the run is freed */

#ifdef __cplusplus
}
#endif
#endif
