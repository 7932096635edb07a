/* SPDX-License-Identifier: Apache-2.0
 *
 * A symmetric heap of GPU memory in a shared object of its own: every process gets memory on its GPU, addresses by which its
 * kernels reach that of others, and puts to memory that they do not reach. A process is one rank. It calls from one thread, but
 * for put(). The library below, such as NVSHMEM, is opened before it, with its names for all to see: the plugin links none.
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

/* A word of a rank's memory, named by where this rank has the same one, and what it will be. */
struct parhelion_heap_word
{
    uint64_t* where;
    uint64_t value;
};

struct parhelion_heap_calls_v3
{
    uint32_t version; /* PARHELION_HEAP_VERSION */
    uint32_t size;    /* of this structure */
    /* The library below and its version, in one line. Also before open(). */
    const char* (*library)(void);
    /* By one process: an id under which all meet, for them to pass around. 0, or an error code of the library. */
    int (*make_id)(unsigned char* id);
    /* By all processes, the current GPU being that of the rank. At most once in a process. are_on_one_host: nobody is elsewhere.
     * 0, or an error code. */
    int (*open)(const unsigned char* id, int rank, int ranks, size_t bytes, int are_on_one_host);
    /* By all processes, in one order: as many bytes for each. Not initialised; null: there are not so many. */
    void* (*allocate)(size_t bytes);
    /* Where kernels here reach the same memory of another rank; null: they do not. */
    void* (*of_rank)(const void* here, int rank);
    /* Queues on a stream (cudaStream_t): so many bytes go to where another rank has what `to` is here. They are of this memory
     * and have been read when the stream goes on. Then come the words, in their order: whoever sees one there sees what came
     * before it. From one thread, which may be another than that of the other calls. */
    void (*put)(int rank, void* to, const void* from, size_t bytes, const struct parhelion_heap_word* words, int count,
                void* stream);
    /* There is no close(): libraries wait there for all processes, without a deadline, and one may have been killed. The memory
     * goes with the process. */
};

/* What a plugin exports, under this name. */
const struct parhelion_heap_calls_v3* parhelion_heap_v3(void);

#ifdef __cplusplus
}
#endif

#endif
