// SPDX-License-Identifier: Apache-2.0
// Jacobi's method on a grid of ranks, as figures 8 and 9 of the paper: a square of cells a rank, which exchange their edges in
// every iteration. All ways execute one kernel, and must come to the same bits. Without a norm: the question is the exchange.
#include "bench/partitioned/measurements.hpp"
#include "bench/partitioned/vectors.cuh"

#include <cmath>
#include <cstring>
#include <optional>

namespace parhelion::partitioned_bench {

namespace {

constexpr int threads = 256;   // and cells of a piece of an edge
constexpr int base = 64;       // cells along a rank's edge, times the multiplier
constexpr int fields = 2;      // iteration i reads field i % 2
constexpr int buffers = 3;     // and sends edges in buffers i % 3, so that a credit has an iteration's time to come
constexpr int iterations = 24; // of a call
static_assert(iterations % fields == 0 && iterations % buffers == 0);
constexpr int west = 0, east = 1, north = 2, south = 3, ways = 4; // way ^ 1 goes back

// What an iteration of a rank works on.
struct Square
{
    int cells;
    const double* now;
    double* next;
    const double* in[ways]; // beyond the edges: what came in the last iteration, or the boundary
    double* out[ways];      // where edges are to be; null: there is no neighbour
    // Requests are null where others carry edges.
    ReceivePrequest* came[ways]; // of `in`
    SendPrequest* send[ways];    // of `out`
    // Used two iterations ago, and in the next again.
    ReceivePrequest* old_receive[ways];
    SendPrequest* old_send[ways];
};

// What an edge needs before it is computed and stored at the neighbour's: by a thread for each message and credit.
__device__ bool block_wait_edges(const Square& s, int way)
{
    const int k = static_cast<int>(threadIdx.x);
    bool has_failed = false;
    if (k < ways && s.came[k] != nullptr)
    {
        has_failed = is_active(*s.came[k]) && !wait_signal(*s.came[k], 0); // inactive: nothing has been sent before
    }
    if (k == ways && s.send[way] != nullptr) { has_failed = !pbuf_prepare(*s.send[way]); }
    return !__syncthreads_or(has_failed);
}

// Old epochs end and the next begin, beside the blocks that compute: by a thread for each request.
__device__ void turn_over(const Square& s)
{
    const int k = static_cast<int>(threadIdx.x), way = k % ways;
    if (k >= 2 * ways || s.old_send[way] == nullptr) { return; }
    if (k < ways)
    {
        if (wait(*s.old_send[way])) { start(*s.old_send[way]); }
    }
    else if (wait(*s.old_receive[way])) { start(*s.old_receive[way]); }
}

// Purpose        an iteration of a rank
// Work           a block for old epochs; one for each piece of an edge; one for each 256 cells that are on none
// Reads/Writes   field, what came / the other field, edges of neighbours
// Orders         as in partitioned.cuh; old epochs are of kernels that have ended
// Requires       where kernels wait: those of the iteration before on all ranks queued, where they need not wait for this
// Cost           8 bytes read, 8 written a cell
__global__ void __launch_bounds__(threads) square_kernel(const Square s)
{
    const int n = s.cells, pieces = (n - 1) / threads + 1, block = static_cast<int>(blockIdx.x) - 1;
    if (block < 0) { turn_over(s); }
    else if (block < ways * pieces)
    {
        const int way = block / pieces, piece = block % pieces, k = piece * threads + static_cast<int>(threadIdx.x);
        const int x = way == west ? 0 : way == east ? n - 1 : k, y = way == north ? 0 : way == south ? n - 1 : k, i = y * n + x;
        const bool is_beyond[] = {x == 0, x == n - 1, y == 0, y == n - 1};
        const int inside[] = {i - 1, i + 1, i - n, i + n};
        double beside[ways] = {};
        for (int w = 0; w < ways; ++w) // these loads do not wait for messages
        {
            if (k < n && !is_beyond[w]) { beside[w] = s.now[inside[w]]; }
        }
        if (!block_wait_edges(s, way)) { return; }
        if (k < n)
        {
            for (int w = 0; w < ways; ++w)
            {
                if (is_beyond[w]) { beside[w] = s.in[w][w == west || w == east ? y : x]; }
            }
            const double value = 0.25 * (beside[west] + beside[east] + beside[north] + beside[south]);
            s.next[i] = value; // a corner twice, the same
            if (s.out[way] != nullptr) { s.out[way][k] = value; }
        }
        if (s.send[way] != nullptr) { block_pready(*s.send[way], piece, Credit::Seen); }
    }
    else
    {
        const int k = (block - ways * pieces) * threads + static_cast<int>(threadIdx.x), inner = n - 2;
        if (k < inner * inner)
        {
            const int i = (k / inner + 1) * n + k % inner + 1;
            s.next[i] = 0.25 * (s.now[i - 1] + s.now[i + 1] + s.now[i - n] + s.now[i + n]);
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
        for (int rank = 0; rank < static_cast<int>(ranks()); ++rank)
        {
            for (const Kind kind : {Plain, Marking})
            {
                for (int i = 0; i < fields * buffers; ++i)
                {
                    of_ranks_[static_cast<std::size_t>(rank)].squares[kind][i] = square(rank, kind, i);
                }
            }
        }
    }

    void all()
    {
        time("staged", [&](int buffer) { copy_staged(buffer); });
        time("peer copy", [&](int buffer) { copy(buffer); });
        if (s_.nccl != nullptr)
        {
            const auto carry = [&](int buffer) { s_.nccl->exchange(transfers(buffer)); };
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
        DeviceBuffer<double> u[fields], out[ways][buffers];
        Window in[ways][buffers];
        std::vector<GpuSendRequest> sends[buffers];
        std::vector<GpuReceiveRequest> receives[buffers];
        Square squares[2][fields * buffers]; // Plain, Marking; by iteration
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
        options.payload_bytes = (std::size_t{4} << 20) + ranks() * ways * buffers * edge_bytes();
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
        const int only[] = {rank};
        for (int way = 0; way < ways; ++way)
        {
            for (int b = 0; b < buffers; ++b)
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
        const std::size_t bytes = edge_bytes() / static_cast<std::size_t>(pieces());
        for (int way = 0; way < ways; ++way)
        {
            const int peer = neighbour(rank, way);
            for (int b = 0; b < buffers && peer >= 0; ++b)
            {
                const Envelope to{peer, buffers * way + b}, from{peer, buffers * (way ^ 1) + b};
                r.sends[b].push_back(partitioned_.psend_init(rank, nullptr, {pieces(), bytes}, to, {.per_signal = pieces()}));
                r.receives[b].push_back(partitioned_.precv_init(rank, r.in[way][b], {1, edge_bytes()}, from));
            }
        }
    }
    Square square(int rank, Kind kind, int iteration)
    {
        Rank& r = of_ranks_[static_cast<std::size_t>(rank)];
        const int sent = iteration % buffers, came = (iteration + 2) % buffers, old = (iteration + 1) % buffers;
        Square s{};
        s.cells = cells_;
        s.now = r.u[iteration % fields].data(), s.next = r.u[(iteration + 1) % fields].data();
        std::size_t k = 0; // of neighbours
        for (int way = 0; way < ways; ++way)
        {
            s.in[way] = reinterpret_cast<const double*>(in(rank, way, came));
            const int peer = neighbour(rank, way);
            if (peer < 0) { continue; }
            s.out[way] = r.out[way][sent].data();
            if (kind == Marking)
            {
                s.out[way] = reinterpret_cast<double*>(in(peer, way ^ 1, sent));
                s.send[way] = r.sends[sent][k].prequest(), s.came[way] = r.receives[came][k].prequest();
                s.old_send[way] = r.sends[old][k].prequest(), s.old_receive[way] = r.receives[old][k].prequest();
            }
            ++k;
        }
        return s;
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
                for (int b = 0; b < buffers; ++b)
                {
                    if (b != buffers - 1 && !is_given) { continue; } // the first iteration reads the last buffer
                    gpu_memory::to_device(*r.queue, in(static_cast<int>(rank), way, b), values.data(), edge_bytes());
                }
            }
            r.queue->synchronize();
        }
    }
    void iterate_once(Kind kind, int iteration)
    {
        const int inner = (cells_ - 2) * (cells_ - 2), blocks = 1 + ways * pieces() + (inner - 1) / threads + 1;
        for (Rank& r : of_ranks_)
        {
            launch(*r.queue, PhaseTag{}, square_kernel, {blocks, threads}, r.squares[kind][iteration % (fields * buffers)]);
        }
    }
    template <class Carry>
    void iterate(Kind kind, const Carry& carry)
    {
        for (int i = 0; i < iterations; ++i)
        {
            iterate_once(kind, i);
            carry(i % buffers);
        }
    }

    std::vector<Transfer> transfers(int buffer)
    {
        std::vector<Transfer> all;
        for (int rank = 0; rank < static_cast<int>(ranks()); ++rank)
        {
            for (int way = 0; way < ways; ++way)
            {
                const int peer = neighbour(rank, way);
                if (peer < 0) { continue; }
                Rank& r = of_ranks_[static_cast<std::size_t>(rank)];
                all.push_back({rank, peer, r.out[way][buffer].data(), in(peer, way ^ 1, buffer), edge_bytes()});
            }
        }
        return all;
    }
    void copy(int buffer)
    {
        for (const Transfer& t : transfers(buffer))
        {
            gpu_memory::on_device(*s_.queues[static_cast<std::size_t>(t.source)], t.to, t.from, t.bytes);
        }
        synchronize();
    }
    void copy_staged(int buffer)
    {
        const std::vector<Transfer> all = transfers(buffer);
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
        std::vector<std::vector<double>> cells;
        for (Rank& r : of_ranks_) { cells.push_back(r.u[0].to_vector(*r.queue)); }
        if (expected_.empty())
        {
            if (multiplier_ <= 2 && cells != one_loop()) { throw CommError(std::string(method) + ": wrong cells."); }
            expected_ = std::move(cells);
        }
        else if (cells != expected_) { throw CommError(std::string(method) + ": not the cells of the first way."); }
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
        std::vector<std::vector<double>> cells;
        for (int rank = 0; rank < static_cast<int>(ranks()); ++rank)
        {
            cells.emplace_back();
            for (int k = 0; k < cells_ * cells_; ++k)
            {
                cells.back().push_back(now[at(rank % columns_ * cells_ + k % cells_, rank / columns_ * cells_ + k / cells_)]);
            }
        }
        return cells;
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
