/* SPDX-License-Identifier: Apache-2.0
 *
 * A symmetric heap of GPU memory in a shared object of its own: every process gets memory on its GPU, and addresses by which its
 * kernels reach that of others. A process is one rank with a GPU of its own. It calls from one thread. The library below, such as
 * NVSHMEM, is opened before it, with its names for all to see: the plugin links none.
 */
#ifndef PARHELION_HEAP_H
#define PARHELION_HEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARHELION_HEAP_VERSION 1
#define PARHELION_HEAP_ID_BYTES 128

struct parhelion_heap_calls_v1
{
    uint32_t version; /* PARHELION_HEAP_VERSION */
    uint32_t size;    /* of this structure */
    /* The library below and its version, in one line. Also before open(). */
    const char* (*library)(void);
    /* By one process: an id under which all meet, for them to pass around. 0, or an error code of the library. */
    int (*make_id)(unsigned char* id);
    /* By all processes, the current GPU being that of the rank. At most once in a process. 0, or an error code. */
    int (*open)(const unsigned char* id, int rank, int ranks, size_t bytes);
    /* By all processes, in one order: as many bytes for each. Not initialised; null: there are not so many. */
    void* (*allocate)(size_t bytes);
    /* Where kernels here reach the same memory of another rank; null: they do not. */
    void* (*of_rank)(const void* here, int rank);
    /* By all processes. */
    void (*close)(void);
};

/* What a plugin exports, under this name. */
const struct parhelion_heap_calls_v1* parhelion_heap_v1(void);

#ifdef __cplusplus
}
#endif

#endif
