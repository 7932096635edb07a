/* SPDX-License-Identifier: Apache-2.0
 *
 * A transport in its own shared object, which a program opens at run time. So the program needs neither the headers nor the
 * libraries below it, such as an MPI. A plugin gives every process memory of one size, and carries puts into that of others.
 * Everything else is made of puts (networks/mailboxes.hpp): a plugin needs no other messages, no sums, no barrier.
 *
 * A process is one rank. Any thread may call, but only one at a time. Errors of the library below end the process, with that
 * library's message. The libraries that a plugin needs are opened before it with global symbols: it is not linked with any.
 */
#ifndef PARHELION_TRANSPORT_H
#define PARHELION_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARHELION_TRANSPORT_VERSION 1

struct parhelion_transport; /* a type that the plugin defines for itself */

/* A put: copy `data` to `offset` of the destination's memory (nothing if it is null), then set the signal. The signal is 128
 * bytes at `signal`: the second eight are `bytes`, the first eight the epoch, with release at system scope. */
struct parhelion_put
{
    int destination; /* the rank of another process */
    size_t offset;
    const void* data; /* may be read until the destination has answered with a signal of its own */
    size_t bytes;
    size_t signal;
    uint64_t epoch;
};

struct parhelion_calls_v1
{
    uint32_t version; /* PARHELION_TRANSPORT_VERSION */
    uint32_t size;    /* bytes of this structure */
    /* Returns name and version of the library that the plugin uses, in one line. May be called before open(). */
    const char* (*library)(void);
    /* Makes memory of this size for each process: zero, page-aligned and, if possible, only address space until touched.
     * Returns null if it cannot, and writes the reason to `why`. All processes call it, at most once in a process. */
    struct parhelion_transport* (*open)(size_t bytes, char* why, size_t why_size);
    int (*rank)(struct parhelion_transport*);
    int (*ranks)(struct parhelion_transport*);
    void* (*memory)(struct parhelion_transport*); /* returns this process's memory */
    /* Returns the address of another process's memory for loads and stores, or null if only puts reach it. */
    void* (*reach)(struct parhelion_transport*, int rank);
    /* Carries a put. It does not wait for the destination's program, but the library may wait until the destination calls it.
     * Puts to one destination keep their order: with a signal all earlier puts of the same source are visible there. */
    void (*put_signal)(struct parhelion_transport*, const struct parhelion_put*);
    /* Moves messages that move only inside calls, of this process and of other processes. */
    void (*progress)(struct parhelion_transport*);
    /* Closes the transport. All processes call it, after every put has arrived. */
    void (*close)(struct parhelion_transport*);
    /* Ends all processes. The calling process gets the exit code. */
    void (*abort)(struct parhelion_transport*, int exit_code);
};

/* The function that a plugin exports. Returns null if the plugin has no transport of this name. */
const struct parhelion_calls_v1* parhelion_transport_v1(const char* name);

#ifdef __cplusplus
}
#endif

#endif
