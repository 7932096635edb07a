/* SPDX-License-Identifier: Apache-2.0
 * Partitioned messages between two ranks, as cases.c calls them: of this library (calls_ph.c) or of an MPI (calls_mpi.c).
 * Whatever goes wrong ends the program. */
#ifndef CALLS_H
#define CALLS_H

#include <stddef.h>

typedef struct Request Request; /* of the library */

void* new_buffer(size_t bytes); /* for messages to arrive in; for the life of the program */
Request* psend_init(const void* buffer, int partitions, size_t bytes, int peer, int tag);
Request* precv_init(void* buffer, int partitions, size_t bytes, int peer, int tag);
void start(Request* request);
void pready(Request* request, int partition);
void pready_range(Request* request, int first, int last);
int parrived(Request* request, int partition);
void wait(Request* request);
int test(Request* request);
void release(Request* request);
void meet(void); /* of both ranks */

/* What both ranks do: in cases.c. Rank 1 prints what it has seen. */
void all_cases(int rank);

#endif
