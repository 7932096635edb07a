/* SPDX-License-Identifier: Apache-2.0
 *
 * A transport in a shared object of its own, which a program opens at run time: the program then needs neither the headers nor
 * the libraries below it, such as an MPI. A plugin gives every process memory of one size and carries puts into that of others.
 * All else is made of puts (bootstraps/mailboxes.hpp): a plugin needs no messages of another kind, no sums, no barrier.
 *
 * A process is one rank. It calls from one thread at a time, from any. Errors of the library below end the process, as that
 * library tells them. The libraries that a plugin needs are opened before it, with their names for all to see: it links none.
 */
#ifndef PARHELION_PLUGIN_H
#define PARHELION_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARHELION_TRANSPORT_VERSION 1

struct parhelion_transport; /* the plugin's own */

/* Copy `data` to `offset` of the destination's memory (nothing if it is null), then set the signal: 128 bytes at `signal`, of
 * which the second eight are `bytes`, and the first eight the epoch, with release at system scope. */
struct parhelion_put
{
    int destination; /* another rank */
    size_t offset;
    const void* data; /* may be read until the destination has answered the signal by one of its own */
    size_t bytes;
    size_t signal;
    uint64_t epoch;
};

struct parhelion_calls_v1
{
    uint32_t version; /* PARHELION_TRANSPORT_VERSION */
    uint32_t size;    /* of this structure */
    /* The library below and its version, in one line. Also before open(). */
    const char* (*library)(void);
    /* By all processes. Memory of so many bytes for each, zero, aligned to a page; address space until touched, if the library
     * can. Null: not possible, for the reason that is written to `why`. At most once in a process. */
    struct parhelion_transport* (*open)(size_t bytes, char* why, size_t why_size);
    int (*rank)(struct parhelion_transport*);
    int (*ranks)(struct parhelion_transport*);
    void* (*memory)(struct parhelion_transport*); /* of this process */
    /* Where this process loads from and stores into that of another, or null: puts alone come there. */
    void* (*reach)(struct parhelion_transport*, int rank);
    /* Does not wait for the destination's program, but the library may wait for the destination to call it. Puts to one
     * destination keep their order: who sees a signal finds there what was put there before by the same source. */
    void (*put_signal)(struct parhelion_transport*, const struct parhelion_put*);
    /* Moves what moves only inside calls, here and from others. */
    void (*progress)(struct parhelion_transport*);
    /* By all processes, when every put has arrived. */
    void (*close)(struct parhelion_transport*);
    /* Ends all processes, this one with the exit code. */
    void (*abort)(struct parhelion_transport*, int exit_code);
};

/* What a plugin exports, under this name. Null: it has no transport of the name that is asked for. */
const struct parhelion_calls_v1* parhelion_transport_v1(const char* name);

#ifdef __cplusplus
}
#endif

#endif
