/* SPDX-License-Identifier: Apache-2.0
 * Partitioned messages and collectives between ranks, for programs in C and languages that call C. A buffer leaves in pieces,
 * threads mark them ready; and collectives of whole buffers, one call each. Ranks are threads, processes that ph_run makes, or
 * processes that join, on one host or several. docs/user/comm.md is the guide.
 *
 * Rules. Handles are opaque. Every call returns PH_SUCCESS or an error code; a failed call has changed nothing unless it says
 * so. ph_error_message() explains the error in a sentence. No call throws. The deadline of ph_run() or ph_init() bounds all
 * waits. Later versions add calls and codes, raise PH_VERSION and keep the meaning of all else. Since version 4 full memory
 * and lost ranks (before: PH_ERROR_TIMEOUT) and null pointers (before: PH_ERROR_ARGUMENT) have their own codes.
 *
 * Threads. All calls of a rank come from its own thread. The exceptions are ph_pready, ph_pready_range and ph_parrived, which
 * any thread may call between ph_start and ph_wait. */
#ifndef PARHELION_COMM_H
#define PARHELION_COMM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PH_VERSION 5

enum
{
    PH_SUCCESS = 0,
    PH_ERROR_NULL = 1,          /* an argument is null, or is a handle that has been freed */
    PH_ERROR_NOT_ACTIVE = 2,    /* ph_pready or ph_pbuf_prepare was called before ph_start or after ph_wait */
    PH_ERROR_ACTIVE = 3,        /* ph_start or ph_free was called before the request's epoch was waited for */
    PH_ERROR_PARTITION = 4,     /* there is no partition of this number */
    PH_ERROR_READY_TWICE = 5,   /* a partition was marked ready for the second time in an epoch */
    PH_ERROR_ARGUMENT = 6,      /* an argument makes no sense, a call is for the other side of a message, or members of a
                                   collective ask for different things (then all members get this error) */
    PH_ERROR_NOT_SYMMETRIC = 7, /* a receive buffer is only partly in memory of ph_allocate; on GPUs: it is not in such memory */
    PH_ERROR_BYTES_DIFFER = 8,  /* the two sides of a message have buffers of different sizes */
    PH_ERROR_PEER_FREED = 9,    /* the other side has freed its request */
    PH_ERROR_NOT_MATCHED = 10,  /* on GPUs: the other side has not made its request yet */
    PH_ERROR_IN_USE = 11,       /* ph_release was called for memory that a request still uses */
    PH_ERROR_TIMEOUT = 20,      /* a wait reached its deadline; ph_error_message() names the rank and its peer */
    PH_ERROR_STOPPED = 21,      /* another rank has stopped the run */
    PH_ERROR_SYSTEM = 22,       /* the operating system refused something */
    PH_ERROR_INTERNAL = 23,     /* a defect of this library */
    PH_ERROR_DEVICE = 24,       /* CUDA refused something, or there is no such GPU */
    PH_ERROR_MEMORY = 25,       /* the memory for messages, or that of the process, is full */
    PH_ERROR_LIMIT = 26,        /* the signal slots of a rank are used up, or the number of handles is */
    PH_ERROR_PEER_LOST = 27     /* a rank that this one waits for is gone: its process has died, or its program has ended */
};

typedef struct ph_comm ph_comm;       /* a rank, as a member of all ranks or of a group of ranks */
typedef struct ph_request ph_request; /* one side of a message, or one member of a collective; used epoch after epoch */

/* Element types and reductions. They are integers, so that any other value is an error that the call reports. */
typedef int ph_type;
typedef int ph_reduction;
enum
{
    PH_FLOAT = 0,
    PH_DOUBLE = 1,
    PH_HALF = 2, /* IEEE 754 binary16 */
    PH_BFLOAT16 = 3,
    PH_BYTE = 4,  /* of any data: not added or compared, between CPU ranks alone */
    PH_INT32 = 5, /* integers, which wrap: between CPU ranks alone */
    PH_INT64 = 6,
    PH_UINT8 = 7
};
enum
{
    PH_SUM = 0,
    PH_MIN = 1,
    PH_MAX = 2,
    PH_PRODUCT = 3, /* between CPU ranks alone, as the next */
    PH_AVERAGE = 4  /* the sum divided by the number of terms, of integers towards zero; of collectives in one call alone */
};

/* Returns the sentence that explains the calling thread's last failed call; never null. */
const char* ph_error_message(void);
int ph_version(void); /* returns PH_VERSION of the library, which may be newer than the header */

/* The program of a rank. It returns 0, or another value to stop the run. A program that calls exit(0) counts as finished: its
 * process ends when the programs of all its ranks have finished. */
typedef int (*ph_rank_program)(ph_comm* comm, void* data);
/* Runs all ranks and returns when they have ended. If `processes` is 0, the ranks are threads of this process. Otherwise they
 * are spread over that many forked processes, and the caller may have one thread only. Returns PH_ERROR_STOPPED if a program
 * returned a value other than 0; the sentence names the first such program. If a wait failed, ph_run returns the wait's error
 * even if the program then returned 0. deadline_seconds: the longest wait for another rank. */
int ph_run(int ranks, int processes, double deadline_seconds, ph_rank_program program, void* data);

/* The cores on which ranks run. */
enum
{
    PH_BIND_CORE = 0, /* each rank has its own core of those that the caller may use, and an equal part of the cores left, for
                         threads that it starts; no rank is bound if cores are too few or if other runs have them */
    PH_BIND_NONE = 1  /* the operating system chooses the cores */
};
/* Options of a run. Zero means the default of a field: begin with {.size = sizeof(ph_options)} and set what differs. */
typedef struct ph_options
{
    size_t size;             /* sizeof(ph_options), which tells later versions the fields that the caller has */
    double deadline_seconds; /* the longest wait for another rank; default 30 */
    size_t memory_bytes;     /* memory of each rank for ph_allocate and for slots of collectives; default 1 GiB. It reserves
                                addresses; pages are taken when written, for processes from the system's shared memory. If the
                                system refuses: PH_ERROR_SYSTEM. A call that runs out names this field */
    int bind;                /* PH_BIND_CORE or PH_BIND_NONE */
    int (*interrupted)(void* data); /* asked about every 50 ms by the calling thread, which then is no rank; a value other than
                                       0 stops the run: waits end at once, and ph_run_with returns PH_ERROR_STOPPED when all
                                       programs have returned. Processes get some seconds for that. Null: never asked */
} ph_options;
/* Does what ph_run does, with options; null means defaults. `data` is passed to `interrupted`, too. */
int ph_run_with(int ranks, int processes, const ph_options* options, ph_rank_program program, void* data);

/* Joining. Processes that MPI, torchrun, Slurm or a program of yours has started become ranks, one rank each, on any host.
 * Ranks of one host and user share memory; other ranks talk by TCP, authenticated with the secret of the id. All ranks must
 * call, with the same options, and no call waits longer than the deadline. Any thread may make the rank's calls, one thread at
 * a time. The fields `bind` and `interrupted` are for ph_run_with only. After a failure ph_finalize works, and then ph_init
 * with a new id. A process may join several worlds. */
typedef struct ph_id
{
    unsigned char bytes[128]; /* address of rank 0, and a secret: hand it to the other ranks, and to nobody else */
} ph_id;
/* Makes the id of one world, in the process that is to be rank 0. `where` is a network interface ("eth0", "lo"), or host or
 * host:port of this host. Null means the interface by which this host reaches other hosts. */
int ph_make_id(const char* where, ph_id* id);
int ph_free_id(const ph_id* id); /* one that nobody has joined by, and nobody will: closes what it has opened in this process */
int ph_init(const ph_id* id, int rank, int ranks, const ph_options* options, ph_comm** comm);
/* Does what ph_init does, for ranks that can talk: `all_gather` collects `bytes` of each rank in `all`, by rank; returns 0. */
typedef int (*ph_all_gather)(void* context, const void* mine, size_t bytes, void* all);
int ph_init_exchange(int rank, int ranks, ph_all_gather all_gather, void* context, const ph_options* options, ph_comm** comm);
/* Does what ph_init does, for processes of torchrun, Slurm, Open MPI or another MPI's PMI, recognised by the environment. A
 * process without launcher is the only rank. On several hosts PARHELION_SECRET_FILE names a file that all ranks read. */
int ph_init_here(const ph_options* options, ph_comm** comm);
/* Ends a rank that has joined, frees its requests and memory, and sets comm to null. Returns when the other ranks have
 * received its messages, or after the deadline. If a process ends without it, waits for that rank end with PH_ERROR_PEER_LOST. */
int ph_finalize(ph_comm** comm);

/* This rank stops for a reason of its own: all waits, of all ranks, end with PH_ERROR_STOPPED. */
int ph_abort(ph_comm* comm);

int ph_rank(const ph_comm* comm); /* ph_rank and ph_ranks return -1 for a null handle or a rank that has ended */
int ph_ranks(const ph_comm* comm);
/* Groups of ranks, which number their ranks anew. Messages and collectives of a group are among its members only; memory is
 * that of all ranks. Members make groups in one order. A group lives until its ph_finalize, or until its world ends. */
int ph_split(ph_comm* comm, int color, int key,
             ph_comm** part); /* all ranks call: those of one color >= 0 form a group, ordered by key; below 0 `part` is null */
int ph_group(ph_comm* comm, const int* ranks, int n, ph_comm** part); /* members call; the group has these ranks, in this order */
int ph_host(ph_comm* comm, ph_comm** part);                           /* all ranks call; a group has those that share memory */
/* Pause and resume deadlines, for a debugger or a long computation of one rank. Between the two calls no wait of any rank
 * reaches its deadline; afterwards each wait has its whole deadline again. Calls come in pairs, which may be nested. Pauses
 * that are open at the end of the rank's program end with it. */
int ph_pause_deadlines(ph_comm* comm);
int ph_resume_deadlines(ph_comm* comm);
/* Memory that other ranks write to, aligned to 128 bytes. It lives until ph_release or the end of the run. ph_release takes
 * back a piece of ph_allocate as a whole, once no request uses the piece any more. */
int ph_allocate(ph_comm* comm, size_t bytes, void** memory);
int ph_release(ph_comm* comm, void* memory, size_t bytes);

/* Messages between two ranks. Both ranks call; the nth call for a peer and tag matches the peer's nth call. The two sides may
 * cut the buffer into different numbers of partitions, 1 to 1048576. A receive buffer may be anywhere. The source stores
 * straight into memory of ph_allocate; to other memory ph_parrived, ph_test or ph_wait copy the data once. */
int ph_psend_init(ph_comm* comm, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                  ph_request** request);
int ph_precv_init(ph_comm* comm, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                  ph_request** request);

/* Collectives of all ranks; the nth calls match. `count` is the number of elements of a partition of the input, for a
 * reduce-scatter of the result. The larger buffer of an all-gather or reduce-scatter has as many per rank; the smaller may be
 * this rank's block of it. An all-reduce may have one buffer for input and result. All ranks get the same bits. */
int ph_pallreduce_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_reduction reduction, ph_request** request);
int ph_preduce_scatter_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                            ph_reduction reduction, ph_request** request);
int ph_pallgather_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_request** request);
int ph_pbroadcast_init(ph_comm* comm, void* buffer, int partitions, size_t count, ph_type type, int root, ph_request** request);

/* Collectives of whole buffers, one call each: all ranks call, with the same type, reduction, count and root, and a call returns
 * when this rank has its result and its buffers are its own again; not before all have called. If ranks call different things
 * all of them get PH_ERROR_ARGUMENT, whose sentence names two that differ; nothing is written, and they may go on.
 * `count` elements: of a block, of which a buffer has one for each rank where it is said. Buffers are anywhere, aligned to their
 * elements; those that a rank does not use may be null. Terms are combined in rank order, the same bits on every transport; of
 * a scan those of the ranks up to this one, of an exclusive scan those before it: rank 0's result stays as it is. */
int ph_barrier(ph_comm* comm);
/* Input and result may be one buffer, of these five; of a reduce-scatter the result may be any block of the input. */
int ph_allreduce(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction);
int ph_reduce(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction, int root);
int ph_reduce_scatter(ph_comm* comm, const void* input /* blocks */, void* result, size_t count, ph_type type,
                      ph_reduction reduction);
int ph_scan(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction);
int ph_exclusive_scan(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction);
/* The smaller buffer may be this rank's block of the larger one, of the first three. */
int ph_allgather(ph_comm* comm, const void* input, void* result /* blocks */, size_t count, ph_type type);
int ph_gather(ph_comm* comm, const void* input, void* result /* root's: blocks */, size_t count, ph_type type, int root);
int ph_scatter(ph_comm* comm, const void* input /* root's: blocks */, void* result, size_t count, ph_type type, int root);
int ph_broadcast(ph_comm* comm, void* buffer, size_t count, ph_type type, int root);
int ph_alltoall(ph_comm* comm, const void* input /* blocks */, void* result /* blocks */, size_t count, ph_type type);
/* With blocks of any size: counts and offsets are in elements, one for each rank. Both sides of a block say how long it is, else
 * it is PH_ERROR_ARGUMENT on all. `counts` and `offsets` of a gather or scatter are the root's. */
int ph_gather_v(ph_comm* comm, const void* input, size_t count, void* result, const size_t* counts, const size_t* offsets,
                ph_type type, int root);
int ph_scatter_v(ph_comm* comm, const void* input, const size_t* counts, const size_t* offsets, void* result, size_t count,
                 ph_type type, int root);
int ph_alltoall_v(ph_comm* comm, const void* input, const size_t* counts, const size_t* offsets, void* result,
                  const size_t* result_counts, const size_t* result_offsets, ph_type type);

int ph_start(ph_request* request);        /* begins the next epoch */
int ph_pbuf_prepare(ph_request* request); /* returns when partitions that are marked can leave at once */
/* Marks a partition of a send's buffer, or of a collective's input, as complete. */
int ph_pready(ph_request* request, int partition);
int ph_pready_range(ph_request* request, int first, int last); /* marks first, last and all between; an error marks none */
/* Tells whether a partition of a receive's buffer, or of a collective's result, may be read. */
int ph_parrived(ph_request* request, int partition, int* has_arrived);
int ph_wait(ph_request* request);                   /* waits for the end of the epoch */
int ph_test(ph_request* request, int* is_complete); /* does what ph_wait does if that would return at once */
int ph_free(ph_request** request);                  /* sets the handle to null; the end of the run frees all other requests */

#ifdef __cplusplus
}
#endif
#endif
