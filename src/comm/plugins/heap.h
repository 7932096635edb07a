/* SPDX-License-Identifier: Apache-2.0
 *
 * A symmetric heap of GPU memory in its own shared object. Every process gets memory on its GPU, addresses by which its
 * kernels reach that of others, and puts to memory out of reach. A process is one rank, and calls from one thread, except for
 * put(). The library below, such as NVSHMEM, is opened before it with global symbols: the plugin is not linked with it.
 */
#ifndef PARHELION_HEAP_H
#define PARHELION_HEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARHELION_HEAP_VERSION 3
#define PARHELION_HEAP_ID_BYTES 128

/* A word to set in another rank's memory: the address of the same word on this rank, and its new value. */
struct parhelion_heap_word
{
    uint64_t* where;
    uint64_t value;
};

struct parhelion_heap_calls_v3
{
    uint32_t version; /* PARHELION_HEAP_VERSION */
    uint32_t size;    /* bytes of this structure */
    /* Returns name and version of the library that the plugin uses, in one line. May be called before open(). */
    const char* (*library)(void);
    /* Makes an id by which all processes meet. One process calls it and passes the id on. Returns 0 or an error code. */
    int (*make_id)(unsigned char* id);
    /* Opens the heap. All processes call it, at most once each, with the GPU of their rank current. are_on_one_host is not 0 if
     * all processes are on one host. Returns 0 or an error code. */
    int (*open)(const unsigned char* id, int rank, int ranks, size_t bytes, int are_on_one_host);
    /* Allocates this many bytes on each rank, not initialised; null if too few are left. All processes call, in one order. */
    void* (*allocate)(size_t bytes);
    /* Returns the address by which kernels of this process reach the same memory of another rank; null if they cannot. */
    void* (*of_rank)(const void* here, int rank);
    /* Queues on a stream (cudaStream_t) a copy of `bytes` bytes of this rank's memory into the memory of another rank, to the
     * address that is `to` on this rank. When the stream goes on, the bytes have been read. Then the words are set in order;
     * whoever sees a word sees all that came before it. One thread calls put(), which may differ from that of the other calls. */
    void (*put)(int rank, void* to, const void* from, size_t bytes, const struct parhelion_heap_word* words, int count,
                void* stream);
    /* There is no close(): a library's close would wait for all processes, without a deadline, and one of them may have been
     * killed. The memory is freed when the process ends. */
};

/* The function that a plugin exports. */
const struct parhelion_heap_calls_v3* parhelion_heap_v3(void);

#ifdef __cplusplus
}
#endif

#endif
