/* SPDX-License-Identifier: Apache-2.0
 * What MPI-4 says of partitioned messages, case by case: rank 0 sends to rank 1, which prints a line for each case with a number
 * made of all bytes that arrived, in the order of partitions, and of what parrived and test said. Nothing is printed that an MPI
 * may do in one way or another. */
#include "calls.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    epochs = 3,
    most_bytes = 1 << 16
};

static unsigned char *source, *destination;

static unsigned char byte_of(int name, int epoch, size_t i)
{
    return (unsigned char)((i * 2654435761u + 97u * name + 31u * epoch) >> 7);
}
static uint64_t mixed(uint64_t sum, uint64_t value) { return (sum ^ value) * 1099511628211u; }
static uint64_t sum_of(uint64_t sum, const unsigned char* data, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i) { sum = mixed(sum, data[i]); }
    return sum;
}
static void fill(unsigned char* data, size_t bytes, int name, int epoch)
{
    for (size_t i = 0; i < bytes; ++i) { data[i] = byte_of(name, epoch, i); }
}

typedef enum
{
    forward,
    backward,
    odd_first,
    as_range,
    all_before_start
} Order;
static const char* const order_names[] = {"forward", "backward", "odd first", "as a range", "all before the other side starts"};

static void mark(Request* request, int partitions, Order order)
{
    if (order == as_range || order == all_before_start)
    {
        pready_range(request, 0, partitions - 1);
        return;
    }
    for (int k = 0; k < partitions; ++k)
    {
        const int odd = partitions / 2; /* how many */
        pready(request, order == forward ? k : order == backward ? partitions - 1 - k : k < odd ? 2 * k + 1 : 2 * (k - odd));
    }
}

/* So many partitions at the source and at the destination, of a buffer that both divide. */
static void message(int rank, int sends, int receives, size_t bytes, Order order)
{
    uint64_t sum = 1469598103934665603u;
    Request* request = rank == 0 ? psend_init(source, sends, bytes / (size_t)sends, 1, 5)
                                 : precv_init(destination, receives, bytes / (size_t)receives, 0, 5);
    for (int epoch = 1; epoch <= epochs; ++epoch)
    {
        if (rank == 0)
        {
            fill(source, bytes, sends + receives, epoch);
            start(request);
            mark(request, sends, order);
        }
        if (order == all_before_start) { meet(); }
        if (rank == 1)
        {
            start(request);
            for (int k = 0; k < receives; ++k) /* the last partition first: each is read as soon as it may be */
            {
                const int j = receives - 1 - k;
                const size_t share = bytes / (size_t)receives;
                while (!parrived(request, j)) {}
                sum = sum_of(sum, destination + (size_t)j * share, share);
            }
        }
        if (epoch == 2) { wait(request); }
        else
        {
            while (!test(request)) {}
        }
        if (rank == 1) { sum = sum_of(sum, destination, bytes); }
        wait(request); /* of an inactive request: nothing */
    }
    release(request);
    if (rank == 1)
    {
        printf("%d partitions to %d, %zu bytes, %s: %016llx\n", sends, receives, bytes, order_names[order],
               (unsigned long long)sum);
    }
}

/* Requests of one envelope match in the order in which they are made, in whatever order they are started. */
static void two_of_one_envelope(int rank)
{
    enum
    {
        bytes = 1000
    };
    Request* request[2];
    for (int i = 0; i < 2; ++i)
    {
        request[i] = rank == 0 ? psend_init(source + i * bytes, 2, bytes / 2, 1, 9)
                               : precv_init(destination + i * bytes, 4, bytes / 4, 0, 9);
    }
    for (int epoch = 1; epoch <= epochs; ++epoch)
    {
        for (int i = 0; rank == 0 && i < 2; ++i) { fill(source + i * bytes, bytes, i, epoch); }
        for (int k = 0; k < 2; ++k)
        {
            const int i = rank == 0 ? k : 1 - k;
            start(request[i]);
            if (rank == 0) { mark(request[i], 2, backward); }
        }
        for (int k = 0; k < 2; ++k) { wait(request[rank == 0 ? 1 - k : k]); }
        for (int i = 0; rank == 1 && i < 2; ++i)
        {
            printf("request %d of one envelope, epoch %d: %016llx\n", i, epoch,
                   (unsigned long long)sum_of(1, destination + i * bytes, bytes));
        }
    }
    for (int i = 0; i < 2; ++i) { release(request[i]); }
}

/* Both ranks send, mark everything and wait for what they send before they start to receive. */
static void both_ways(int rank)
{
    enum
    {
        bytes = 3000
    };
    uint64_t sum = 7;
    Request* out = psend_init(source, 3, bytes / 3, 1 - rank, 2);
    Request* in = precv_init(destination, 5, bytes / 5, 1 - rank, 2);
    for (int epoch = 1; epoch <= epochs; ++epoch)
    {
        fill(source, bytes, rank, epoch);
        start(out);
        mark(out, 3, odd_first);
        start(in);
        wait(in);
        wait(out);
        sum = sum_of(sum, destination, bytes);
    }
    release(out);
    release(in);
    if (rank == 1) { printf("both ways: %016llx\n", (unsigned long long)sum); }
}

void all_cases(int rank)
{
    source = malloc(most_bytes);
    destination = new_buffer(most_bytes);
    for (int sends = 1; sends <= 8; ++sends)
    {
        for (int receives = 1; receives <= 8; ++receives)
        {
            message(rank, sends, receives, (size_t)(sends * receives * 3), (Order)((sends + receives) % 4));
        }
    }
    for (Order order = forward; order <= all_before_start; ++order)
    {
        message(rank, 16, 4, 1 << 14, order);
        message(rank, 3, 15, 45000, order);
        message(rank, 4, 2, 0, order);
    }
    two_of_one_envelope(rank);
    both_ways(rank);
    free(source);
}
