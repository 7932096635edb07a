// SPDX-License-Identifier: Apache-2.0
// Jacobi's method on a grid of ranks, as figures 8 and 9 of the paper: a square of cells a rank, which exchange their edges in
// every iteration. All ways execute one kernel, and must come to the same bits. Without a norm: the question is the exchange.
#include "bench/partitioned/measurements.hpp"
#include "bench/partitioned/vectors.cuh"
#include "comm/gpu/block.cuh"

#include <cmath>
#include <cstring>
#include <optional>

namespace parhelion::partitioned_bench {

namespace {

constexpr int threads = 256;                                      // and cells of a piece of an edge
constexpr int base = 64;                                          // cells along a rank's edge, times the multiplier
constexpr int iterations = 20;                                    // of a call; even
constexpr int west = 0, east = 1, north = 2, south = 3, ways = 4; // way ^ 1 goes back

// A rank. Iteration i reads field i % 2 and what came in iteration i - 1, and sends edges in buffers i % 2.
struct Square
{
    int cells;
    double* u[2];
    const double* in[ways][2];   // beyond the edges, where nothing is sent the boundary
    double* out[ways][2];        // where edges are to be; null: there is no neighbour
    SendPrequest* send[ways][2]; // null: others carry edges
    ReceivePrequest* receive[ways][2];
    BlockCounter* blocks;
};

__device__ double average(const Square& s, const double* now, const double* const (&in)[ways], int x, int y)
{
    const int n = s.cells, i = y * n + x;
    const double w = x == 0 ? in[west][y] : now[i - 1], e = x == n - 1 ? in[east][y] : now[i + 1];
    const double up = y == 0 ? in[north][x] : now[i - n], down = y == n - 1 ? in[south][x] : now[i + n];
    return 0.25 * (w + e + up + down);
}

// What an edge needs before it is computed and stored at the neighbour's: by a thread for each message and credit.
__device__ bool block_wait_edges(const Square& s, int way, int parity)
{
    const int k = static_cast<int>(threadIdx.x);
    bool has_failed = false;
    if (k < ways && s.receive[k][1 - parity] != nullptr)
    {
        const ReceivePrequest& receive = *s.receive[k][1 - parity];
        has_failed = is_active(receive) && !wait_signal(receive, 0); // inactive: nothing has been sent before
    }
    if (k == ways && s.send[way][parity] != nullptr) { has_failed = !pbuf_prepare(*s.send[way][parity]); }
    return !__syncthreads_or(has_failed);
}

// The epochs that this iteration has used end, the next begin: by a thread for each request.
__device__ void turn_over(const Square& s, int parity)
{
    const int k = static_cast<int>(threadIdx.x), way = k % ways;
    if (k >= 2 * ways || s.send[way][0] == nullptr) { return; }
    if (k < ways)
    {
        if (wait(*s.send[way][parity])) { start(*s.send[way][1 - parity]); }
    }
    else if (wait(*s.receive[way][1 - parity])) { start(*s.receive[way][1 - parity]); }
}

// Purpose        an iteration of a rank
// Work           a block for each piece of an edge, these first; one for each 256 cells that are on none
// Reads/Writes   field, what came / the other field, edges of neighbours
// Orders         as in partitioned.cuh; the last block of edges has met the others of edges at a counter
// Requires       where kernels wait: those of the iteration before on all ranks queued, where they need not wait for this
// Cost           8 bytes read, 8 written a cell
__global__ void __launch_bounds__(threads) square_kernel(const Square* squares, int parity)
{
    const Square& s = *squares;
    const int n = s.cells, pieces = (n - 1) / threads + 1, block = static_cast<int>(blockIdx.x);
    const double* const now = s.u[parity];
    double* const next = s.u[1 - parity];
    const double* const in[] = {s.in[0][1 - parity], s.in[1][1 - parity], s.in[2][1 - parity], s.in[3][1 - parity]};
    if (block < ways * pieces)
    {
        const int way = block / pieces, piece = block % pieces, k = piece * threads + static_cast<int>(threadIdx.x);
        if (!block_wait_edges(s, way, parity)) { return; }
        if (k < n)
        {
            const int x = way == west ? 0 : way == east ? n - 1 : k, y = way == north ? 0 : way == south ? n - 1 : k;
            const double value = average(s, now, in, x, y);
            next[y * n + x] = value; // a corner twice, the same
            if (s.out[way][parity] != nullptr) { s.out[way][parity][k] = value; }
        }
        if (s.send[way][parity] != nullptr) { block_pready(*s.send[way][parity], piece, Credit::Seen); }
        // Those that touch messages are counted: a counter of all blocks would take longer than large squares.
        const auto counted = static_cast<Word>(ways * pieces);
        if (s.blocks != nullptr && __syncthreads_or(is_last_block(*s.blocks, counted))) { turn_over(s, parity); }
    }
    else
    {
        const int k = (block - ways * pieces) * threads + static_cast<int>(threadIdx.x), inner = n - 2;
        if (k < inner * inner)
        {
            const int i = (k / inner + 1) * n + k % inner + 1;
            next[i] = 0.25 * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n]);
        }
    }
}

class Jacobi
{
public:
    Jacobi(const Setting& setting, int columns, int rows, int multiplier)
        : s_(setting), columns_(columns), rows_(rows), multiplier_(multiplier), cells_(base * multiplier), of_ranks_(ranks()),
          world_(devices(), options()), partitioned_(world_)
    {
        for (int rank = 0; rank < static_cast<int>(ranks()); ++rank) { allocate(rank); }
        for (int rank = 0; rank < static_cast<int>(ranks()); ++rank) { connect(rank); }
        for (int rank = 0; rank < static_cast<int>(ranks()); ++rank) { upload(rank); }
    }

    void all()
    {
        time("staged", [&](int parity) { copy_staged(parity); });
        time("peer copy", [&](int parity) { copy(parity); });
        if (s_.nccl != nullptr)
        {
            const auto carry = [&](int parity) { s_.nccl->exchange(transfers(parity)); };
            time("NCCL", carry);
            alone("NCCL, graph", [&] {
                const Graphs graphs(s_.queues, [&] { iterate(Plain, carry); });
                report("NCCL, graph", [&] { graphs.replay(); });
            });
        }
        for (Rank& r : of_ranks_)
        {
            for (GpuSendRequest& send : r.sends[0]) { send.start(*r.queue); }
            for (GpuReceiveRequest& receive : r.receives[0]) { receive.start(*r.queue); }
        }
        const auto nothing = [](int) {};
        report("partitioned, queued", [&] { iterate(Marking, nothing); });
        const Graphs graphs(s_.queues, [&] { iterate(Marking, nothing); });
        report("partitioned, graph", [&] { graphs.replay(); });
        world_.check();
    }

private:
    enum Kind
    {
        Plain,
        Marking
    };
    struct Rank
    {
        GpuQueue* queue = nullptr;
        DeviceBuffer<double> u[2], out[ways][2];
        Window in[ways][2];
        DeviceBuffer<BlockCounter> blocks;
        std::vector<GpuSendRequest> sends[2]; // of buffer 0, 1
        std::vector<GpuReceiveRequest> receives[2];
        Square square[2] = {}; // Plain, Marking
        DeviceBuffer<Square> squares;
    };

    std::size_t ranks() const { return static_cast<std::size_t>(columns_ * rows_); }
    std::size_t edge_bytes() const { return static_cast<std::size_t>(cells_) * sizeof(double); }
    int pieces() const { return (cells_ - 1) / threads + 1; }
    std::vector<int> devices() const
    {
        std::vector<int> of_rank;
        for (std::size_t r = 0; r < ranks(); ++r) { of_rank.push_back(s_.queues[r]->device()); }
        return of_rank;
    }
    GpuWorldOptions options() const
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(3);
        options.payload_bytes = (std::size_t{4} << 20) + ranks() * 8 * edge_bytes();
        return options;
    }
    int neighbour(int rank, int way) const // or -1
    {
        const int x = rank % columns_ + (way == east) - (way == west), y = rank / columns_ + (way == south) - (way == north);
        return x >= 0 && x < columns_ && y >= 0 && y < rows_ ? y * columns_ + x : -1;
    }

    void allocate(int rank)
    {
        Rank& r = of_ranks_[static_cast<std::size_t>(rank)];
        r.queue = s_.queues[static_cast<std::size_t>(rank)];
        r.queue->make_current();
        const auto n = static_cast<std::size_t>(cells_);
        for (DeviceBuffer<double>& u : r.u) { u.resize(n * n); }
        r.blocks.resize(1);
        r.blocks.clear(*r.queue);
        const int only[] = {rank};
        for (int way = 0; way < ways; ++way)
        {
            for (int b = 0; b < 2; ++b)
            {
                r.out[way][b].resize(n);
                r.in[way][b] = world_.allocate(only, edge_bytes());
            }
        }
    }
    std::byte* in(int rank, int way, int buffer) const
    {
        return world_.data(rank, of_ranks_[static_cast<std::size_t>(rank)].in[way][buffer]);
    }
    void connect(int rank)
    {
        Rank& r = of_ranks_[static_cast<std::size_t>(rank)];
        Square& plain = r.square[Plain];
        plain.cells = cells_;
        for (int b = 0; b < 2; ++b) { plain.u[b] = r.u[b].data(); }
        const std::size_t bytes = edge_bytes() / static_cast<std::size_t>(pieces());
        for (int way = 0; way < ways; ++way)
        {
            const int peer = neighbour(rank, way);
            for (int b = 0; b < 2; ++b)
            {
                plain.in[way][b] = reinterpret_cast<const double*>(in(rank, way, b));
                plain.out[way][b] = peer < 0 ? nullptr : r.out[way][b].data();
                if (peer < 0) { continue; }
                const Envelope to{peer, 2 * way + b}, from{peer, 2 * (way ^ 1) + b};
                r.sends[b].push_back(partitioned_.psend_init(rank, nullptr, {pieces(), bytes}, to, {.per_signal = pieces()}));
                r.receives[b].push_back(partitioned_.precv_init(rank, r.in[way][b], {1, edge_bytes()}, from));
            }
        }
    }
    void upload(int rank)
    {
        Rank& r = of_ranks_[static_cast<std::size_t>(rank)];
        Square& marking = r.square[Marking] = r.square[Plain];
        marking.blocks = r.blocks.data();
        for (int way = 0, k = 0; way < ways; ++way)
        {
            const int peer = neighbour(rank, way);
            if (peer < 0) { continue; }
            for (int b = 0; b < 2; ++b)
            {
                const auto at = static_cast<std::size_t>(k);
                marking.send[way][b] = r.sends[b][at].prequest();
                marking.receive[way][b] = r.receives[b][at].prequest();
                marking.out[way][b] = reinterpret_cast<double*>(in(peer, way ^ 1, b));
            }
            ++k;
        }
        r.queue->make_current();
        r.squares.upload(*r.queue, r.square);
        r.queue->synchronize();
    }

    // What is beyond the whole is given, all else zero.
    void begin()
    {
        for (std::size_t rank = 0; rank < ranks(); ++rank)
        {
            Rank& r = of_ranks_[rank];
            r.u[0].clear(*r.queue);
            for (int way = 0; way < ways; ++way)
            {
                const bool is_given = neighbour(static_cast<int>(rank), way) < 0;
                const std::vector<double> values(static_cast<std::size_t>(cells_), is_given ? 1.0 + way : 0.0);
                for (int b = 0; b < 2; ++b)
                {
                    if (b == 0 && !is_given) { continue; } // of the first iteration, which may come before this
                    gpu_memory::to_device(*r.queue, in(static_cast<int>(rank), way, b), values.data(), edge_bytes());
                }
            }
            r.queue->synchronize();
        }
    }
    void iterate_once(Kind kind, int parity)
    {
        const int inner = (cells_ - 2) * (cells_ - 2), blocks = ways * pieces() + (inner - 1) / threads + 1;
        for (Rank& r : of_ranks_)
        {
            launch(*r.queue, PhaseTag{}, square_kernel, {blocks, threads}, r.squares.data() + kind, parity);
        }
    }
    template <class Carry>
    void iterate(Kind kind, const Carry& carry)
    {
        for (int i = 0; i < iterations; ++i)
        {
            iterate_once(kind, i % 2);
            carry(i % 2);
        }
    }

    std::vector<Transfer> transfers(int parity)
    {
        std::vector<Transfer> all;
        for (int rank = 0; rank < static_cast<int>(ranks()); ++rank)
        {
            for (int way = 0; way < ways; ++way)
            {
                const int peer = neighbour(rank, way);
                if (peer < 0) { continue; }
                Rank& r = of_ranks_[static_cast<std::size_t>(rank)];
                all.push_back({rank, peer, r.out[way][parity].data(), in(peer, way ^ 1, parity), edge_bytes()});
            }
        }
        return all;
    }
    void copy(int parity)
    {
        for (const Transfer& t : transfers(parity))
        {
            gpu_memory::on_device(*s_.queues[static_cast<std::size_t>(t.source)], t.to, t.from, t.bytes);
        }
        synchronize();
    }
    void copy_staged(int parity)
    {
        const std::vector<Transfer> all = transfers(parity);
        if (staging_.size() == 0) { staging_ = PinnedBuffer<std::byte>(all.size() * edge_bytes()); }
        for (std::size_t k = 0; k < all.size(); ++k)
        {
            GpuQueue& queue = *s_.queues[static_cast<std::size_t>(all[k].source)];
            gpu_memory::to_host(queue, staging_.data() + k * edge_bytes(), all[k].from, edge_bytes());
        }
        synchronize();
        for (std::size_t k = 0; k < all.size(); ++k)
        {
            GpuQueue& queue = *s_.queues[static_cast<std::size_t>(all[k].destination)];
            gpu_memory::to_device(queue, all[k].to, staging_.data() + k * edge_bytes(), edge_bytes());
        }
    }
    void synchronize()
    {
        for (std::size_t r = 0; r < ranks(); ++r) { spin_until_done(*s_.queues[r]); }
    }

    template <class Carry>
    void time(const char* method, const Carry& carry)
    {
        report(method, [&] { iterate(Plain, carry); });
    }
    // work: a call's iterations, queued.
    template <class Work>
    void report(const char* method, const Work& work)
    {
        begin();
        work();
        synchronize();
        compare(method);
        Spread us = time_host([&] {
            work();
            synchronize();
        });
        us.mean /= iterations, us.deviation /= iterations, us.least /= iterations;
        const std::size_t all = ranks() * static_cast<std::size_t>(cells_) * static_cast<std::size_t>(cells_);
        Timed timed{"Jacobi " + std::to_string(columns_) + "x" + std::to_string(rows_), method, edge_bytes(), pieces(), us};
        timed.multiplier = multiplier_;
        timed.flops = 4.0 * static_cast<double>(all);
        s_.report.add(timed);
    }
    // After one call from the beginning; the first way's cells are those of a loop over all.
    void compare(const char* method)
    {
        std::vector<std::vector<double>> fields;
        for (Rank& r : of_ranks_) { fields.push_back(r.u[0].to_vector(*r.queue)); }
        if (expected_.empty())
        {
            if (multiplier_ <= 2 && fields != one_loop()) { throw CommError(std::string(method) + ": wrong cells."); }
            expected_ = std::move(fields);
        }
        else if (fields != expected_) { throw CommError(std::string(method) + ": not the cells of the first way."); }
    }
    std::vector<std::vector<double>> one_loop() const
    {
        const int nx = columns_ * cells_, ny = rows_ * cells_;
        const auto at = [&](int x, int y) {
            return static_cast<std::size_t>(y + 1) * static_cast<std::size_t>(nx + 2) + static_cast<std::size_t>(x + 1);
        };
        std::vector<double> now(at(nx, ny) + 1), next;
        for (int y = 0; y < ny; ++y) { now[at(-1, y)] = 1.0 + west, now[at(nx, y)] = 1.0 + east; }
        for (int x = 0; x < nx; ++x) { now[at(x, -1)] = 1.0 + north, now[at(x, ny)] = 1.0 + south; }
        next = now;
        for (int i = 0; i < iterations; ++i)
        {
            for (int y = 0; y < ny; ++y)
            {
                for (int x = 0; x < nx; ++x)
                {
                    next[at(x, y)] = 0.25 * (now[at(x - 1, y)] + now[at(x + 1, y)] + now[at(x, y - 1)] + now[at(x, y + 1)]);
                }
            }
            std::swap(now, next);
        }
        std::vector<std::vector<double>> fields;
        for (int rank = 0; rank < static_cast<int>(ranks()); ++rank)
        {
            fields.emplace_back();
            for (int k = 0; k < cells_ * cells_; ++k)
            {
                fields.back().push_back(now[at(rank % columns_ * cells_ + k % cells_, rank / columns_ * cells_ + k / cells_)]);
            }
        }
        return fields;
    }

    const Setting& s_;
    int columns_, rows_, multiplier_, cells_;
    std::vector<Rank> of_ranks_;
    GpuWorld world_;
    GpuPartitioned partitioned_;
    PinnedBuffer<std::byte> staging_;
    std::vector<std::vector<double>> expected_;
};

} // namespace

void time_jacobi(const Setting& setting)
{
    const auto ranks = static_cast<int>(setting.queues.size());
    const int rows = ranks % 2 == 0 && ranks > 2 ? 2 : 1;
    for (int multiplier = 1; multiplier <= 32; multiplier *= 2)
    {
        alone("Jacobi", [&] { Jacobi(setting, ranks / rows, rows, multiplier).all(); });
    }
}

} // namespace parhelion::partitioned_bench
