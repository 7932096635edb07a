/* SPDX-License-Identifier: Apache-2.0
 * Heat in a box: heat_mpi.c, the textbook's program, with its messages ported to partitioned ones. A test compares what they print,
 * and counts the lines that differ.
 *
 * heat RANKS_X RANKS_Y RANKS_Z CELLS STEPS        cells of a rank in each dimension */
#include <parhelion_comm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { faces = 6, probes = 16 };

typedef struct
{
    int grid[3], at[3], n; /* ranks in each dimension, the place of this one, cells of it in each dimension */
    double *now, *next;    /* with a layer of halo cells around */
} Block;

static double* cell(const Block* b, double* u, int x, int y, int z)
{
    const int stride = b->n + 2;
    return u + ((size_t)z * stride + y) * stride + x;
}

/* The rank beyond a face, or -1. Faces: below and above in x, in y, in z. */
static int neighbour(const Block* b, int face)
{
    int at[3] = {b->at[0], b->at[1], b->at[2]};
    at[face / 2] += face % 2 == 0 ? -1 : 1;
    if (at[face / 2] < 0 || at[face / 2] >= b->grid[face / 2]) { return -1; }
    return (at[2] * b->grid[1] + at[1]) * b->grid[0] + at[0];
}

/* Between a layer of cells and a buffer: the last inside the face, or the halo beyond it. */
static void copy_face(const Block* b, int face, int is_halo, double* buffer)
{
    const int n = b->n, layer = face % 2 == 0 ? (is_halo ? 0 : 1) : (is_halo ? n + 1 : n);
    for (int j = 1; j <= n; ++j)
    {
        for (int i = 1; i <= n; ++i, ++buffer)
        {
            const int p[3][3] = {{layer, i, j}, {i, layer, j}, {i, j, layer}};
            const int* at = p[face / 2];
            double* here = cell(b, b->now, at[0], at[1], at[2]);
            if (is_halo) { *here = *buffer; }
            else { *buffer = *here; }
        }
    }
}

typedef struct
{
    double *out[faces], *in[faces];
    ph_request *send[faces], *receive[faces];
} Exchange;

static int open_exchange(Exchange* e, const Block* b, ph_comm* comm)
{
    const size_t bytes = sizeof(double) * b->n * b->n;
    int failed = 0;
    for (int f = 0; f < faces; ++f)
    {
        if (neighbour(b, f) < 0) { continue; }
        e->out[f] = malloc(bytes);
        failed |= ph_allocate(comm, bytes, (void**)&e->in[f]);
        failed |= ph_psend_init(comm, e->out[f], 1, bytes, neighbour(b, f), f, &e->send[f]);
        failed |= ph_precv_init(comm, e->in[f], 1, bytes, neighbour(b, f), f ^ 1, &e->receive[f]);
    }
    return failed;
}

static int exchange(Exchange* e, const Block* b)
{
    int failed = 0;
    for (int f = 0; f < faces; ++f)
    {
        if (neighbour(b, f) >= 0) { failed |= ph_start(e->receive[f]); }
    }
    for (int f = 0; f < faces; ++f)
    {
        if (neighbour(b, f) < 0) { continue; }
        copy_face(b, f, 0, e->out[f]);
        failed |= ph_start(e->send[f]);
        failed |= ph_pready(e->send[f], 0);
    }
    for (int f = 0; f < faces; ++f)
    {
        if (neighbour(b, f) >= 0) { failed |= ph_wait(e->receive[f]) | ph_wait(e->send[f]); }
    }
    for (int f = 0; f < faces; ++f)
    {
        if (neighbour(b, f) >= 0) { copy_face(b, f, 1, e->in[f]); }
    }
    return failed;
}

static void step(Block* b)
{
    const size_t dx = 1, dy = b->n + 2, dz = dy * dy;
    for (int z = 1; z <= b->n; ++z)
    {
        for (int y = 1; y <= b->n; ++y)
        {
            const double* u = cell(b, b->now, 0, y, z);
            double* v = cell(b, b->next, 0, y, z);
            for (int x = 1; x <= b->n; ++x)
            {
                v[x] = u[x] + 0.1 * (u[x - dx] + u[x + dx] + u[x - dy] + u[x + dy] + u[x - dz] + u[x + dz] - 6 * u[x]);
            }
        }
    }
    double* const swapped = b->now;
    b->now = b->next;
    b->next = swapped;
}

static double random_of(unsigned long long i)
{
    i = (i + 1) * 0x9E3779B97F4A7C15ull;
    i = (i ^ (i >> 31)) * 0xBF58476D1CE4E5B9ull;
    return (double)(i >> 11) / 9007199254740992.0;
}

/* Of a cell among all, the same whoever has it. */
static unsigned long long number_of(const Block* b, int x, int y, int z)
{
    const unsigned long long nx = (unsigned long long)b->grid[0] * b->n, ny = (unsigned long long)b->grid[1] * b->n;
    return ((unsigned long long)(b->at[2] * b->n + z - 1) * ny + b->at[1] * b->n + y - 1) * nx + b->at[0] * b->n + x - 1;
}

static void fill(Block* b)
{
    for (int z = 1; z <= b->n; ++z)
    {
        for (int y = 1; y <= b->n; ++y)
        {
            for (int x = 1; x <= b->n; ++x) { *cell(b, b->now, x, y, z) = random_of(number_of(b, x, y, z)); }
        }
    }
}

/* The largest of all cells' values, each weighted at random: the same bits whoever has which cells. */
static void probe(const Block* b, double* largest)
{
    for (int p = 0; p < probes; ++p) { largest[p] = 0; }
    for (int z = 1; z <= b->n; ++z)
    {
        for (int y = 1; y <= b->n; ++y)
        {
            for (int x = 1; x <= b->n; ++x)
            {
                for (int p = 0; p < probes; ++p)
                {
                    const double value = *cell(b, b->now, x, y, z) * random_of(number_of(b, x, y, z) * probes + p);
                    if (value > largest[p]) { largest[p] = value; }
                }
            }
        }
    }
}

static double now_in_seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int simulate(ph_comm* comm, void* data)
{
    const int* arguments = data;
    const int rank = ph_rank(comm);
    ph_request* reduction = NULL;
    Block b = {{arguments[0], arguments[1], arguments[2]}, {0, 0, 0}, arguments[3], NULL, NULL};
    b.at[0] = rank % b.grid[0], b.at[1] = rank / b.grid[0] % b.grid[1], b.at[2] = rank / b.grid[0] / b.grid[1];
    const size_t cells = (size_t)(b.n + 2) * (b.n + 2) * (b.n + 2);
    b.now = calloc(cells, sizeof(double));
    b.next = calloc(cells, sizeof(double));
    fill(&b);
    Exchange e;
    memset(&e, 0, sizeof e);
    if (open_exchange(&e, &b, comm) != 0) { return 1; }
    double largest[probes], seconds = 0;
    for (int s = -1; s < arguments[4]; ++s) /* the first is not timed */
    {
        if (s == 0) { seconds = -now_in_seconds(); }
        if (exchange(&e, &b) != 0) { return 1; }
        step(&b);
    }
    seconds += now_in_seconds();
    probe(&b, largest);
    if (ph_pallreduce_init(comm, largest, largest, 1, probes, PH_DOUBLE, PH_MAX, &reduction) != PH_SUCCESS) { return 1; }
    if (ph_start(reduction) != PH_SUCCESS || ph_pready(reduction, 0) != PH_SUCCESS || ph_wait(reduction) != PH_SUCCESS) { return 1; }
    if (rank == 0)
    {
        for (int p = 0; p < probes; ++p) { printf("%.17g\n", largest[p]); }
        fprintf(stderr, "%.1f us a step\n", seconds / arguments[4] * 1e6);
    }
    free(b.now);
    free(b.next);
    return 0;
}

int main(int argc, char** argv)
{
    int arguments[5] = {1, 1, 1, 16, 100};
    for (int a = 1; a < argc && a <= 5; ++a) { arguments[a - 1] = atoi(argv[a]); }
    const int ranks = arguments[0] * arguments[1] * arguments[2];
    if (ph_run(ranks, ranks, 60.0, simulate, arguments) != PH_SUCCESS)
    {
        fprintf(stderr, "heat: %s\n", ph_error_message());
        return 1;
    }
    return 0;
}
