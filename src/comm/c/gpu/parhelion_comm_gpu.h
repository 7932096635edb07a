/* SPDX-License-Identifier: Apache-2.0
 * The calls of parhelion_comm.h for GPUs: partitioned messages and collectives between the GPUs of one process, queued on streams
 * or, from kernels in CUDA C++, by way of a prequest (comm/partitioned/gpu/partitioned.cuh). Rules and errors are as there.
 *
 * One host thread makes all calls. Each rank is a GPU, or shares one, and has a stream: what is queued here goes there, in the
 * order of the calls, and so does the caller's own work. Nothing here waits for a GPU but ph_gpu_check and what sets up and
 * frees. Of ranks that share a GPU, and so a stream, the destination's ph_gpu_start comes before the source's ph_gpu_pready_all,
 * and that before the destination's ph_gpu_wait. */
#ifndef PARHELION_COMM_GPU_H
#define PARHELION_COMM_GPU_H

#include "../parhelion_comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ph_gpu ph_gpu;                 /* all ranks */
typedef struct ph_gpu_request ph_gpu_request; /* one side of a message, or a member of a collective */

/* One rank for each number of a GPU. bytes: of each rank's memory for messages and collectives. */
int ph_gpu_open(const int* gpus, int ranks, double deadline_seconds, size_t bytes, ph_gpu** all);
int ph_gpu_close(ph_gpu** all); /* with its requests and memory; waits for its streams. Null then */

/* A cudaStream_t; null for a rank that does not exist. */
void* ph_gpu_stream(ph_gpu* all, int rank);
/* Memory on the rank's GPU that other ranks write to, aligned to 128 bytes. */
int ph_gpu_allocate(ph_gpu* all, int rank, size_t bytes, void** memory);
int ph_gpu_release(ph_gpu* all, int rank, void* memory, size_t bytes);

/* Buffers are on the rank's GPU, that of a receive from ph_gpu_allocate. A send without buffer (null) is for kernels that store
 * at the destination. */
int ph_gpu_psend_init(ph_gpu* all, int rank, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                      ph_gpu_request** request);
int ph_gpu_precv_init(ph_gpu* all, int rank, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                      ph_gpu_request** request);
/* Of all ranks: a buffer and a request for each. Sizes, and which buffers may be one, are as in parhelion_comm.h. */
int ph_gpu_pallreduce_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                           ph_type type, ph_reduction reduction, ph_gpu_request** requests);
int ph_gpu_preduce_scatter_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                                ph_type type, ph_reduction reduction, ph_gpu_request** requests);
int ph_gpu_pallgather_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                           ph_type type, ph_gpu_request** requests);
int ph_gpu_pbroadcast_init(ph_gpu* all, void* const* buffers, int partitions, size_t count, ph_type type, int root,
                           ph_gpu_request** requests);

/* How messages travel whose sends are made from now on. At first by kernels, which copy through the destination's address. */
typedef enum ph_gpu_mechanism
{
    PH_GPU_KERNEL_COPY,
    PH_GPU_PROGRESSION_ENGINE /* a host thread, the GPU's proxy, drives the copy engine: no multiprocessor is needed to copy */
} ph_gpu_mechanism;
int ph_gpu_set_mechanism(ph_gpu* all, ph_gpu_mechanism mechanism);
/* The core that the proxy of a rank's GPU is bound to, or -1: it runs wherever there is a turn. is_alone: 0 where it may share
 * its core with threads that compute, and each message may then wait for milliseconds. Makes the proxy if there is none. From
 * then on the calling thread, and those that it starts, stay off that core. */
int ph_gpu_proxy_core(ph_gpu* all, int rank, int* core, int* is_alone);

/* Queued. Both sides of a message must have been made. */
int ph_gpu_start(ph_gpu_request* request);
int ph_gpu_pbuf_prepare(ph_gpu_request* request); /* of a send: what follows runs when the destination has started */
int ph_gpu_pready_all(ph_gpu_request* request);   /* all partitions, as work queued before has left them */
int ph_gpu_run(ph_gpu_request* request);          /* of a collective: does its work, also for what kernels mark elsewhere */
int ph_gpu_wait(ph_gpu_request* request);         /* the end of the epoch: what follows may read, or write the source */
int ph_gpu_execute(ph_gpu_request* request);      /* of a collective: these four in one launch */

/* For kernels: a SendPrequest*, ReceivePrequest* or CollectivePrequest* of the C++ interface. */
int ph_gpu_prequest(ph_gpu_request* request, void** prequest);

/* Waits until all that is queued is done, and tells what went wrong: a wait that timed out, a rule that a kernel broke. */
int ph_gpu_check(ph_gpu* all);
/* Of an inactive request that nothing queued uses; of a collective the slots are free once all members are. */
int ph_gpu_free(ph_gpu_request** request);

#ifdef __cplusplus
}
#endif
#endif
