/* SPDX-License-Identifier: Apache-2.0
 * The calls of parhelion_comm.h for GPUs: partitioned messages and collectives between the GPUs of one process. Work is queued
 * on streams, or kernels do it with a prequest (comm/partitioned/gpu/partitioned.cuh). Rules and errors are the same.
 *
 * One host thread makes all calls. Each rank is a GPU, or shares one, and has a stream. Calls queue their work on that stream
 * in their order, like the caller's own work. Only ph_gpu_check and the calls that set up and free wait for a GPU. Ranks that
 * share a GPU share a stream: there the destination's ph_gpu_start comes before the source's ph_gpu_pready_all, and that comes
 * before the destination's ph_gpu_wait. */
#ifndef PARHELION_COMM_GPU_H
#define PARHELION_COMM_GPU_H

#include "../parhelion_comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ph_gpu ph_gpu;                 /* all ranks of this process together */
typedef struct ph_gpu_request ph_gpu_request; /* one side of a message, or a member of a collective */

/* Opens one rank on each of these GPUs, given by number. bytes: the memory of each rank for messages and collectives. */
int ph_gpu_open(const int* gpus, int ranks, double deadline_seconds, size_t bytes, ph_gpu** all);
int ph_gpu_close(ph_gpu** all); /* frees its requests and memory, waits for its streams, and sets the handle to null */

/* Returns the rank's cudaStream_t, or null if the rank does not exist. */
void* ph_gpu_stream(ph_gpu* all, int rank);
/* Memory on the rank's GPU that other ranks write to, aligned to 128 bytes. */
int ph_gpu_allocate(ph_gpu* all, int rank, size_t bytes, void** memory);
int ph_gpu_release(ph_gpu* all, int rank, void* memory, size_t bytes);

/* Make one side of a message. Buffers are on the rank's GPU; the buffer of a receive is from ph_gpu_allocate. A send with a
 * null buffer is for kernels that store at the destination. */
int ph_gpu_psend_init(ph_gpu* all, int rank, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                      ph_gpu_request** request);
int ph_gpu_precv_init(ph_gpu* all, int rank, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                      ph_gpu_request** request);
/* Make a collective of all ranks: a buffer and a request for each. parhelion_comm.h tells sizes, and which buffers may be one. */
int ph_gpu_pallreduce_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                           ph_type type, ph_reduction reduction, ph_gpu_request** requests);
int ph_gpu_preduce_scatter_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                                ph_type type, ph_reduction reduction, ph_gpu_request** requests);
int ph_gpu_pallgather_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                           ph_type type, ph_gpu_request** requests);
int ph_gpu_pbroadcast_init(ph_gpu* all, void* const* buffers, int partitions, size_t count, ph_type type, int root,
                           ph_gpu_request** requests);

/* Chooses the mechanism of messages whose sends are made later. At first it is kernel copy, through the destination's address. */
typedef enum ph_gpu_mechanism
{
    PH_GPU_KERNEL_COPY,
    PH_GPU_PROGRESSION_ENGINE /* a host thread, the GPU's proxy, drives the copy engine: no multiprocessor is needed to copy */
} ph_gpu_mechanism;
int ph_gpu_set_mechanism(ph_gpu* all, ph_gpu_mechanism mechanism);
/* Gives the core to which the proxy of a rank's GPU is bound; -1 means that the system chooses the core. is_alone is 0 if the
 * proxy may share its core with threads that compute: a message may then wait for milliseconds. The call makes the proxy if
 * there is none. From then on the calling thread, and threads that it starts, stay off that core. */
int ph_gpu_proxy_core(ph_gpu* all, int rank, int* core, int* is_alone);

/* These calls queue work. Both sides of a message must have made their requests. */
int ph_gpu_start(ph_gpu_request* request);
int ph_gpu_pbuf_prepare(ph_gpu_request* request); /* for a send: delays later work until the destination has started */
int ph_gpu_pready_all(ph_gpu_request* request);   /* marks all partitions, with what work queued before has written to them */
int ph_gpu_run(ph_gpu_request* request);          /* for a collective: does its work, also for partitions that kernels mark */
int ph_gpu_wait(ph_gpu_request* request);         /* ends the epoch: later work may read, or may write the send buffer */
int ph_gpu_execute(ph_gpu_request* request);      /* for a collective: start, pready_all, run and wait in one launch */

/* Gives the SendPrequest*, ReceivePrequest* or CollectivePrequest* of the C++ interface, for use in kernels. */
int ph_gpu_prequest(ph_gpu_request* request, void** prequest);

/* Waits until all queued work is done, and returns its error: a wait that timed out, or a rule that a kernel broke. */
int ph_gpu_check(ph_gpu* all);
/* Frees an inactive request that no queued work uses. A collective's slots are free once the requests of all members are. */
int ph_gpu_free(ph_gpu_request** request);

#ifdef __cplusplus
}
#endif
#endif
