/* SPDX-License-Identifier: Apache-2.0
 * MPI's partitioned calls beside its others, of two ranks, as the standard has them: with libparhelion_mpi_partitioned.so before
 * an MPI. (MPICH 5.0.2 by itself ends the program in MPI_Testall of partitioned requests beside others and in MPI_Parrived of no
 * request, and leaves the status of MPI_Wait after MPI_Request_get_status empty.) */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    parts = 6,
    each = 10,
    n = parts * each
};

static int rank, other;

static int failed;
#define EXPECT(condition)                                                                                                        \
    do {                                                                                                                         \
        if (!(condition))                                                                                                        \
        {                                                                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #condition);                                       \
            ++failed;                                                                                                            \
        }                                                                                                                        \
    } while (0)

static int value(int of, int what, int i) { return 1000000 * what + 1000 * of + i; }

static void fill(int* values, int count, int what)
{
    for (int i = 0; i < count; ++i) { values[i] = value(rank, what, i); }
}

static int came(const int* values, int from, int what)
{
    int wrong = 0;
    for (int i = 0; i < n; ++i) { wrong += values[i] != value(from, what, i); }
    return wrong == 0;
}

/* A row of every third integer to one of neighbours, and back. */
static void types_with_gaps(void)
{
    MPI_Datatype gaps;
    int out[3 * n], in[3 * n];
    MPI_Request requests[2];
    MPI_Type_vector(each, 1, 3, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int way = 0; way < 3; ++way) /* gaps to none, none to gaps, gaps to gaps */
    {
        const int send_gaps = way != 1, receive_gaps = way != 0;
        MPI_Aint lower, extent;
        MPI_Datatype resized;
        MPI_Type_get_extent(gaps, &lower, &extent);
        MPI_Type_create_resized(gaps, 0, 3 * each * (MPI_Aint)sizeof(int), &resized);
        MPI_Type_commit(&resized);
        fill(out, 3 * n, way + 1);
        memset(in, 0, sizeof in);
        if (send_gaps) { MPI_Psend_init(out, parts, 1, resized, other, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]); }
        else { MPI_Psend_init(out, parts, each, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]); }
        if (receive_gaps) { MPI_Precv_init(in, parts, 1, resized, other, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]); }
        else { MPI_Precv_init(in, 2, n / 2, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]); }
        for (int epoch = 0; epoch < 3; ++epoch)
        {
            out[0] = epoch;
            MPI_Startall(2, requests);
            for (int p = parts - 1; p >= 0; --p) { MPI_Pready(p, requests[0]); }
            if (receive_gaps)
            {
                int flag = 0;
                while (!flag) { MPI_Parrived(requests[1], 3, &flag); }
            }
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            for (int i = 0; i < n; ++i)
            {
                const int there = send_gaps ? 3 * i : i, here = receive_gaps ? 3 * i : i;
                EXPECT(in[here] == (there == 0 ? epoch : value(other, way + 1, there)));
                if (receive_gaps) { EXPECT(in[here + 1] == 0 && in[here + 2] == 0); }
            }
        }
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
        MPI_Type_free(&resized);
    }
    MPI_Type_free(&gaps);
}

static int is_status(const MPI_Status* status, int source, int tag, int bytes)
{
    int count = -1;
    MPI_Get_elements(status, MPI_BYTE, &count);
    return status->MPI_SOURCE == source && status->MPI_TAG == tag && count == bytes;
}

static void statuses_and_kinds_of_waits(void)
{
    int out[n], in[n], plain_out = 7 + rank, plain_in = 0, index, flag, done, indices[4];
    MPI_Request r[4];
    MPI_Status status, all[4];
    MPI_Precv_init(in, 3, n / 3, MPI_INT, other, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Psend_init(out, parts, each, MPI_INT, other, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int way = 0; way < 6; ++way)
    {
        const int list[] = {0, 5, 2}, rest[] = {1, 3, 4};
        fill(out, n, way + 20);
        MPI_Startall(2, r);
        MPI_Irecv(&plain_in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(&plain_out, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[3]);
        MPI_Pready_list(3, list, r[1]);
        MPI_Pready_list(3, rest, r[1]);
        switch (way)
        {
        case 0:
            MPI_Waitall(4, r, all);
            break;
        case 1:
            for (done = 0; done < 4; ++done) { MPI_Waitany(4, r, &index, &all[0]); }
            MPI_Waitany(4, r, &index, &status);
            EXPECT(index == MPI_UNDEFINED);
            break;
        case 2:
            for (flag = 0; !flag;) { MPI_Testall(4, r, &flag, all); }
            break;
        case 3:
            for (done = 0; done < 4;)
            {
                int some;
                MPI_Waitsome(4, r, &some, indices, all);
                done += some;
            }
            break;
        case 4:
            for (done = 0; done < 4;)
            {
                int some;
                MPI_Testsome(4, r, &some, indices, all);
                done += some;
            }
            break;
        default:
            for (int i = 0; i < 4; ++i)
            {
                for (flag = 0; !flag;) { MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE); }
                MPI_Wait(&r[i], &all[i]);
            }
        }
        if (way == 0 || way == 2 || way == 5) { EXPECT(is_status(&all[0], other, 8, (int)sizeof in)); }
        EXPECT(came(in, other, way + 20) && plain_in == 7 + other);
        EXPECT(r[2] == MPI_REQUEST_NULL && r[3] == MPI_REQUEST_NULL);
        MPI_Wait(&r[0], &status); /* inactive: empty */
        EXPECT(is_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
        MPI_Parrived(r[0], 1, &flag);
        EXPECT(flag == 1);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Parrived(r[0], 0, &flag);
    EXPECT(flag == 1 && r[0] == MPI_REQUEST_NULL);
}

static void nobody(void)
{
    int out[n] = {0}, in[n] = {5}, flag;
    MPI_Request r[2];
    MPI_Status status;
    MPI_Psend_init(out, parts, each, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, parts, each, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int epoch = 0; epoch < 2; ++epoch)
    {
        MPI_Startall(2, r);
        MPI_Pready_range(0, parts - 1, r[0]);
        MPI_Parrived(r[1], 2, &flag);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Wait(&r[1], &status);
        EXPECT(flag == 1 && is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0) && in[0] == 5);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

/* The same peer and tag in several communicators, started in another order than they were made. */
static void communicators(void)
{
    enum
    {
        most = 5
    };
    MPI_Comm comms[most];
    MPI_Request send[most], receive[most];
    int out[most][n], in[most][n];
    const int size = 2, periodic = 1;
    MPI_Group reversed, world;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]); /* the other way round */
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comms[2]);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, (int[]){1, 0}, &reversed);
    MPI_Comm_create(MPI_COMM_WORLD, reversed, &comms[3]);
    MPI_Comm_dup(comms[1], &comms[4]);
    for (int c = 0; c < most; ++c)
    {
        int own;
        MPI_Comm_rank(comms[c], &own);
        fill(out[c], n, 40 + c);
        MPI_Psend_init(out[c], parts, each, MPI_INT, 1 - own, 9, comms[c], MPI_INFO_NULL, &send[c]);
        MPI_Precv_init(in[c], 4, n / 4, MPI_INT, 1 - own, 9, comms[c], MPI_INFO_NULL, &receive[c]);
    }
    for (int c = most - 1; c >= 0; --c)
    {
        MPI_Start(&receive[c]);
        MPI_Start(&send[c]);
        MPI_Pready_range(0, parts - 1, send[c]);
    }
    MPI_Waitall(most, receive, MPI_STATUSES_IGNORE);
    MPI_Waitall(most, send, MPI_STATUSES_IGNORE);
    for (int c = 0; c < most; ++c)
    {
        EXPECT(came(in[c], other, 40 + c));
        MPI_Request_free(&send[c]);
        MPI_Request_free(&receive[c]);
        MPI_Comm_free(&comms[c]);
    }
    MPI_Group_free(&reversed);
    MPI_Group_free(&world);
}

static void to_itself(void)
{
    int out[n], in[n];
    MPI_Request r[2];
    fill(out, n, 60);
    MPI_Psend_init(out, parts, each, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 1, n, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    MPI_Pready_range(0, parts - 1, r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    EXPECT(came(in, rank, 60));
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

/* Bytes that lie in another order than they travel; and types and communicators that are freed once the request is made. */
static void types_in_another_order_and_freed(void)
{
    const int ones[] = {1, 1};
    const MPI_Aint places[] = {sizeof(int), 0};
    const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
    MPI_Datatype swapped, other_type;
    MPI_Comm comm;
    MPI_Request r[2];
    int out[2 * parts], in[2 * parts];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_create_struct(2, ones, places, ints, &swapped);
    MPI_Type_commit(&swapped);
    MPI_Psend_init(out, parts, 2, MPI_INT, other, 6, comm, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, parts, 1, swapped, other, 6, comm, MPI_INFO_NULL, &r[1]);
    MPI_Type_free(&swapped);
    MPI_Comm_free(&comm);
    MPI_Type_vector(3, 1, 5, MPI_INT, &other_type); /* may have the freed one's handle */
    MPI_Type_commit(&other_type);
    for (int epoch = 0; epoch < 2; ++epoch)
    {
        fill(out, 2 * parts, 90 + epoch);
        MPI_Startall(2, r);
        MPI_Pready_range(0, parts - 1, r[0]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2 * parts; ++i) { EXPECT(in[i] == value(other, 90 + epoch, i ^ 1)); }
    }
    MPI_Type_free(&other_type);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

/* The one side is in calls of the MPI while its partition is still to leave; and persistent requests of both kinds side by side.
 */
static void beside_the_mpi(void)
{
    int out = 5 + rank, in = 0, plain_out = 3 + rank, plain_in = 0, index;
    MPI_Request r[4];
    MPI_Status all[4];
    MPI_Psend_init(&out, 1, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Start(&r[0]);
    MPI_Pready(0, r[0]);
    if (rank == 0) { MPI_Recv(&plain_in, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
    MPI_Precv_init(&in, 1, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Start(&r[1]);
    if (rank == 1)
    {
        MPI_Wait(&r[1], MPI_STATUS_IGNORE); /* before the other one is back */
        MPI_Send(&plain_out, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    }
    else { MPI_Wait(&r[1], MPI_STATUS_IGNORE); }
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    EXPECT(in == 5 + other);
    MPI_Send_init(&plain_out, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Recv_init(&plain_in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[3]);
    for (int epoch = 0; epoch < 4; ++epoch)
    {
        in = plain_in = 0;
        MPI_Startall(4, r);
        MPI_Pready(0, r[0]);
        if (epoch % 2 == 0)
        {
            MPI_Waitall(4, r, all);
            EXPECT(is_status(&all[3], other, 1, sizeof(int)) && is_status(&all[1], other, 7, sizeof(int)));
        }
        else
        {
            int seen[4] = {0};
            for (int i = 0; i < 4; ++i)
            {
                MPI_Waitany(4, r, &index, &all[0]);
                EXPECT(index >= 0 && index < 4 && seen[index]++ == 0);
            }
            MPI_Waitany(4, r, &index, &all[0]);
            EXPECT(index == MPI_UNDEFINED && is_status(&all[0], MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
        }
        EXPECT(in == 5 + other && plain_in == 3 + other);
    }
    for (int i = 0; i < 4; ++i) { MPI_Request_free(&r[i]); }
}

/* A handler of the program's that calls MPI about the request. */
static int handled;
static void handle(MPI_Comm* comm, int* code, ...)
{
    int flag;
    (void)comm;
    (void)code;
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, MPI_STATUS_IGNORE);
    ++handled;
}
static void errors(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Request r;
    int out[2] = {0};
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    EXPECT(MPI_Psend_init(out, 2, 1, MPI_INT, 0, -5, comm, MPI_INFO_NULL, &r) != MPI_SUCCESS);
    EXPECT(MPI_Psend_init(out, 2, 1, MPI_INT, 3, 5, comm, MPI_INFO_NULL, &r) != MPI_SUCCESS && handled == 2);
    MPI_Psend_init(out, 2, 1, MPI_INT, MPI_PROC_NULL, 5, comm, MPI_INFO_NULL, &r);
    EXPECT(MPI_Pready(0, r) != MPI_SUCCESS);
    MPI_Start(&r);
    EXPECT(MPI_Start(&r) != MPI_SUCCESS && MPI_Pready(2, r) != MPI_SUCCESS && MPI_Request_free(&r) != MPI_SUCCESS);
    MPI_Pready_range(0, 1, r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    EXPECT(handled == 6);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

static MPI_Request marked;
static int shared[n];
static void* mark(void* first)
{
    for (int p = *(int*)first; p < parts; p += 3)
    {
        for (int i = p * each; i < (p + 1) * each; ++i) { shared[i] = value(rank, 70, i); }
        MPI_Pready(p, marked);
    }
    return NULL;
}

static void threads(void)
{
    int in[n];
    MPI_Request receive;
    MPI_Psend_init(shared, parts, each, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &marked);
    MPI_Precv_init(in, parts, each, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    for (int epoch = 0; epoch < 20; ++epoch)
    {
        pthread_t ids[3];
        int firsts[] = {0, 1, 2};
        memset(shared, 0, sizeof shared);
        MPI_Start(&receive);
        MPI_Start(&marked);
        for (int t = 0; t < 3; ++t) { pthread_create(&ids[t], NULL, mark, &firsts[t]); }
        for (int t = 0; t < 3; ++t) { pthread_join(ids[t], NULL); }
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(&marked, MPI_STATUS_IGNORE);
        EXPECT(came(in, other, 70));
    }
    MPI_Request_free(&receive);
    MPI_Request_free(&marked);
}

int main(int argc, char** argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    types_with_gaps();
    statuses_and_kinds_of_waits();
    nobody();
    communicators();
    to_itself();
    threads();
    types_in_another_order_and_freed();
    beside_the_mpi();
    errors();
    MPI_Finalize();
    return failed == 0 ? 0 : 1;
}
