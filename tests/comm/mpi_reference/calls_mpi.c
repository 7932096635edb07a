/* SPDX-License-Identifier: Apache-2.0
 * The calls of an MPI: the reference. */
#include "calls.h"

#include <mpi.h>
#include <stdlib.h>

struct Request
{
    MPI_Request request;
};

static Request* new_request(void) { return malloc(sizeof(Request)); }

void* new_buffer(size_t bytes) { return malloc(bytes); }
Request* psend_init(const void* buffer, int partitions, size_t bytes, int peer, int tag)
{
    Request* r = new_request();
    MPI_Psend_init((void*)buffer, partitions, (MPI_Count)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &r->request);
    return r;
}
Request* precv_init(void* buffer, int partitions, size_t bytes, int peer, int tag)
{
    Request* r = new_request();
    MPI_Precv_init(buffer, partitions, (MPI_Count)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &r->request);
    return r;
}
void start(Request* r) { MPI_Start(&r->request); }
void pready(Request* r, int partition) { MPI_Pready(partition, r->request); }
void pready_range(Request* r, int first, int last) { MPI_Pready_range(first, last, r->request); }
int parrived(Request* r, int partition)
{
    int flag = 0;
    MPI_Parrived(r->request, partition, &flag);
    return flag != 0;
}
void wait(Request* r) { MPI_Wait(&r->request, MPI_STATUS_IGNORE); }
int test(Request* r)
{
    int flag = 0;
    MPI_Test(&r->request, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
}
void release(Request* r)
{
    MPI_Request_free(&r->request);
    free(r);
}
void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    all_cases(rank);
    MPI_Finalize();
    return 0;
}
