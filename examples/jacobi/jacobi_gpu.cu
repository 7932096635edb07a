// SPDX-License-Identifier: Apache-2.0
// The same on GPUs, all iterations in one kernel: a rank is a block, which stores its edges into its neighbours' memory and adds
// up the change with theirs, without a host. Ranks are spread over the GPUs there are; several may share one.
//
// jacobi_gpu COLUMNS ROWS [CELLS [ITERATIONS]]
#include "comm/partitioned/gpu/collectives_gpu.cuh"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/launch.cuh"
#include "field.hpp"

#include <chrono>

using namespace parhelion;
using namespace jacobi;

namespace {

constexpr int threads = 256, skipped = 77; // without a GPU

// An edge of a rank: the kth cell is at begin + k * step, what is beyond it so much further.
struct Edge
{
    SendPrequest* send;
    ReceivePrequest* receive;
    double *out, *in;
    int begin, step, beyond;
};

struct Rank
{
    int cells, n_edges;
    double* u[2]; // with a frame; iteration i reads i % 2
    double* change;
    CollectivePrequest* sum;
    Edge edges[4];
};

// Of this thread.
__device__ double update(const Rank& r, int iteration, int x_begin, int x_end, int y_begin, int y_end)
{
    const double* const now = r.u[iteration % 2];
    double* const next = r.u[(iteration + 1) % 2];
    const int nx = x_end - x_begin + 1, n = nx * (y_end - y_begin + 1), stride = r.cells + 2;
    double change = 0;
    for (int k = static_cast<int>(threadIdx.x); k < n; k += threads)
    {
        const int i = (y_begin + k / nx) * stride + x_begin + k % nx;
        next[i] = 0.25 * (now[i - 1] + now[i + 1] + now[i - stride] + now[i + stride]);
        change += (next[i] - now[i]) * (next[i] - now[i]);
    }
    return change;
}

// Purpose        all iterations
// Work           a block a rank
// Reads/Writes   fields, buffers of edges / fields, buffers, memory of neighbours
// Orders         as in partitioned.cuh and collectives_gpu.cuh; block barriers between fields and buffers
// Requires       all ranks at once
// Cost           two ways of a signal an iteration, and the block's cells
__global__ void __launch_bounds__(threads) jacobi_kernel(const Rank* ranks, int iterations)
{
    const Rank r = ranks[blockIdx.x];
    const int n = r.cells, piece = n / pieces, thread = static_cast<int>(threadIdx.x);
    for (int i = 0; i < iterations; ++i)
    {
        double* const next = r.u[(i + 1) % 2];
        if (thread == 0)
        {
            for (int e = 0; e < r.n_edges; ++e) { start(*r.edges[e].receive), start(*r.edges[e].send); }
            start(*r.sum);
            *r.change = 0;
        }
        double change[] = {update(r, i, 1, 1, 1, n) + update(r, i, n, n, 1, n) + update(r, i, 2, n - 1, 1, 1) +
                           update(r, i, 2, n - 1, n, n)};
        __syncthreads(); // started, and the edges are there
        for (int e = 0; e < r.n_edges; ++e)
        {
            const Edge& edge = r.edges[e];
            for (int p = 0; p < pieces; ++p)
            {
                for (int k = p * piece + thread; k < (p + 1) * piece; k += threads)
                {
                    edge.out[k] = next[edge.begin + k * edge.step];
                }
                if (!block_pready(*edge.send, p)) { return; }
            }
        }
        change[0] += update(r, i, 2, n - 1, 2, n - 1);
        add_block_sums(change, r.change);
        if (!block_all<double, Reduction::Sum>(*r.sum, 0)) { return; }
        for (int e = 0; e < r.n_edges; ++e)
        {
            const Edge& edge = r.edges[e];
            if (!block_wait(*edge.receive) || !block_wait(*edge.send)) { return; }
            for (int k = thread; k < n; k += threads) { next[edge.begin + k * edge.step + edge.beyond] = edge.in[k]; }
        }
        if (!block_wait(*r.sum)) { return; }
        __syncthreads(); // the frame is there
    }
}

struct Memory
{
    DeviceBuffer<double> u[2], change;
    std::vector<DeviceBuffer<double>> out;
};

std::vector<Rank> make_ranks(GpuWorld& world, GpuPartitioned& partitioned, std::vector<Memory>& memory,
                             std::vector<Field>& fields, const Grid& grid)
{
    const int n = grid.cells, stride = n + 2;
    const struct
    {
        int dx, dy, begin, step;
    } ways[] = {{-1, 0, stride + 1, stride}, {1, 0, stride + n, stride}, {0, -1, stride + 1, 1}, {0, 1, n * stride + 1, 1}};
    const Partitioning parts{pieces, static_cast<std::size_t>(n / pieces) * sizeof(double)};
    std::vector<Rank> ranks;
    std::vector<std::pair<GpuSendRequest, GpuReceiveRequest>> requests;
    std::vector<std::pair<std::size_t, std::size_t>> of; // rank, edge
    for (int rank = 0; rank < grid.ranks(); ++rank)
    {
        GpuQueue& queue = world.setup_queue(rank);
        queue.make_current();
        Memory& m = memory[static_cast<std::size_t>(rank)];
        for (DeviceBuffer<double>& u : m.u) { u.upload(queue, fields[static_cast<std::size_t>(rank)].u); }
        m.change.resize(1);
        Rank r{n, 0, {m.u[0].data(), m.u[1].data()}, m.change.data(), nullptr, {}};
        for (int w = 0; w < 4; ++w)
        {
            const int peer = grid.neighbour(rank, ways[w].dx, ways[w].dy), members[] = {rank};
            if (peer < 0) { continue; }
            m.out.emplace_back(static_cast<std::size_t>(n));
            const Window window = world.allocate(members, static_cast<std::size_t>(n) * sizeof(double));
            // The tag is the way that a message goes: what comes from there goes the other way.
            const auto* const out = reinterpret_cast<const std::byte*>(m.out.back().data());
            requests.emplace_back(partitioned.psend_init(rank, out, parts, {peer, w, {}}),
                                  partitioned.precv_init(rank, window, parts, {peer, w ^ 1, {}}));
            of.emplace_back(static_cast<std::size_t>(rank), static_cast<std::size_t>(r.n_edges));
            r.edges[r.n_edges++] = {nullptr,
                                    nullptr,
                                    m.out.back().data(),
                                    reinterpret_cast<double*>(world.data(rank, window)),
                                    ways[w].begin,
                                    ways[w].step,
                                    ways[w].dx + ways[w].dy * stride};
        }
        ranks.push_back(r);
    }
    for (std::size_t k = 0; k < requests.size(); ++k) // when both sides are there
    {
        Edge& edge = ranks[of[k].first].edges[of[k].second];
        edge.send = requests[k].first.prequest();
        edge.receive = requests[k].second.prequest();
    }
    return ranks;
}

void run(const Grid& grid)
{
    const int gpus = std::min(gpu_count(), grid.ranks());
    std::vector<int> devices;
    for (int rank = 0; rank < grid.ranks(); ++rank) { devices.push_back(rank * gpus / grid.ranks()); }
    std::vector<Field> fields;
    for (int rank = 0; rank < grid.ranks(); ++rank) { fields.emplace_back(grid, rank); }
    GpuWorld world(devices);
    GpuPartitioned partitioned(world);
    std::vector<Memory> memory(static_cast<std::size_t>(grid.ranks()));
    std::vector<Rank> ranks = make_ranks(world, partitioned, memory, fields, grid);
    std::vector<GpuCollectiveBuffers> changes;
    for (const Rank& r : ranks) { changes.push_back({r.change, r.change}); }
    const std::vector<GpuCollectiveRequest> sums =
        make_collective(world, Collective::AllReduce, {ElementType::Double, 1, 1}, Reduction::Sum, changes);
    for (std::size_t r = 0; r < ranks.size(); ++r) { ranks[r].sum = sums[r].prequest(); }
    std::vector<std::pair<GpuQueue*, DeviceBuffer<Rank>>> of_gpus; // a launch for each
    for (int first = 0; first < grid.ranks();)
    {
        const auto end = std::upper_bound(devices.begin(), devices.end(), devices[static_cast<std::size_t>(first)]);
        GpuQueue& queue = world.setup_queue(first);
        queue.make_current();
        of_gpus.emplace_back(&queue, DeviceBuffer<Rank>());
        of_gpus.back().second.upload(queue, {ranks.begin() + first, ranks.begin() + (end - devices.begin())});
        first = static_cast<int>(end - devices.begin());
    }
    for (auto& [queue, of_gpu] : of_gpus) { queue->synchronize(); }
    const auto begin = std::chrono::steady_clock::now();
    for (auto& [queue, of_gpu] : of_gpus)
    {
        launch(*queue, PhaseTag{}, jacobi_kernel, {static_cast<int>(of_gpu.size()), threads}, of_gpu.data(), grid.iterations);
    }
    for (auto& [queue, of_gpu] : of_gpus) { queue->synchronize(); }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    world.check();
    std::printf("%d x %d ranks of %d x %d cells on %d GPUs: %.1f us an iteration\n", grid.columns, grid.rows, grid.cells,
                grid.cells, gpus, took.count() / grid.iterations);
    for (std::size_t r = 0; r < fields.size(); ++r)
    {
        fields[r].u = memory[r].u[grid.iterations % 2].to_vector(world.setup_queue(static_cast<int>(r)));
    }
    check(fields, memory[0].change.to_vector(world.setup_queue(0))[0], grid);
}

} // namespace

int main(int argc, char** argv)
{
    const Grid grid = grid_of(argc, argv);
    try
    {
        if (gpu_count() < 1)
        {
            std::fprintf(stderr, "jacobi_gpu: no GPU\n");
            return skipped;
        }
        run(grid);
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "jacobi_gpu: %s\n", error.what());
        return 1;
    }
    return 0;
}
