/* SPDX-License-Identifier: Apache-2.0
 * The calls of this library, in C. Ranks are processes, as an MPI's. */
#include "calls.h"

#include <parhelion_comm.h>
#include <stdio.h>
#include <stdlib.h>

static ph_comm* comm; /* of this process' rank */

static void expect(int code)
{
    if (code == PH_SUCCESS) { return; }
    fprintf(stderr, "%s\n", ph_error_message());
    abort();
}

void* new_buffer(size_t bytes)
{
    void* memory = NULL;
    expect(ph_allocate(comm, bytes, &memory));
    return memory;
}
Request* psend_init(const void* buffer, int partitions, size_t bytes, int peer, int tag)
{
    ph_request* r = NULL;
    expect(ph_psend_init(comm, buffer, partitions, bytes, peer, tag, &r));
    return (Request*)r;
}
Request* precv_init(void* buffer, int partitions, size_t bytes, int peer, int tag)
{
    ph_request* r = NULL;
    expect(ph_precv_init(comm, buffer, partitions, bytes, peer, tag, &r));
    return (Request*)r;
}
void start(Request* r) { expect(ph_start((ph_request*)r)); }
void pready(Request* r, int partition) { expect(ph_pready((ph_request*)r, partition)); }
void pready_range(Request* r, int first, int last) { expect(ph_pready_range((ph_request*)r, first, last)); }
int parrived(Request* r, int partition)
{
    int flag = 0;
    expect(ph_parrived((ph_request*)r, partition, &flag));
    return flag != 0;
}
void wait(Request* r) { expect(ph_wait((ph_request*)r)); }
int test(Request* r)
{
    int flag = 0;
    expect(ph_test((ph_request*)r, &flag));
    return flag != 0;
}
void release(Request* r)
{
    ph_request* request = (ph_request*)r;
    expect(ph_free(&request));
}
void meet(void) { expect(ph_barrier(comm)); }

static int program(ph_comm* of_rank, void* data)
{
    (void)data;
    comm = of_rank;
    all_cases(ph_rank(comm));
    return 0;
}

int main(void)
{
    expect(ph_run(2, 2, 30.0, program, NULL));
    return 0;
}
