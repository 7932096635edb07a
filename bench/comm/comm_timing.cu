// SPDX-License-Identifier: Apache-2.0
#include "bench/comm/comm_timing.hpp"

#include "base/error.hpp"
#include "comm/gpu/collectives.cuh"
#include "comm/gpu/pair.cuh"
#include "device/gpu/graph.hpp"

#include <algorithm>
#include <chrono>
#include <span>

namespace parhelion {

namespace {

constexpr int threads = 256, most_blocks = 132;
constexpr int rounds = 100;                                 // timed, after one in which the kernels meet
constexpr std::size_t most_bytes = std::size_t{1} << 20;    // of a message
constexpr std::size_t stream_bytes = std::size_t{64} << 20; // stored at most at a time
constexpr std::size_t shift = 8;                            // uint4: a message begins so far behind the one before it

// Word i of what a rank sends.
__device__ std::uint64_t pattern(int rank, std::size_t i)
{
    return ((static_cast<std::uint64_t>(rank + 1) << 40) + i) * 0x9E3779B97F4A7C15;
}

// By all threads of all blocks: counts the words that are not those of `source`, from its `first` on.
__device__ void count_wrong(const std::byte* data, std::size_t bytes, int source, std::size_t first, unsigned long long* wrong)
{
    const auto* const words = reinterpret_cast<const std::uint64_t*>(data);
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    unsigned long long here = 0;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes / sizeof *words; i += stride)
    {
        here += words[i] != pattern(source, first + i);
    }
    if (here > 0) { atomicAdd_system(wrong, here); }
}

// A thread's loads before its stores, eight at a time.
__device__ void copy_words(const uint4* from, uint4* to, std::size_t n)
{
    constexpr int unroll = 8;
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += unroll * stride)
    {
        uint4 word[unroll];
        for (int u = 0; u < unroll; ++u)
        {
            if (i + u * stride < n) { word[u] = from[i + u * stride]; }
        }
        for (int u = 0; u < unroll; ++u)
        {
            if (i + u * stride < n) { to[i + u * stride] = word[u]; }
        }
    }
}

// How the blocks of a kernel write to the peer. For all threads: copy(), any number of times, and finish() before a signal.
class Stores
{
public:
    static constexpr std::size_t shared_bytes = 0;

    __device__ explicit Stores(const Watch&) {}
    __device__ void copy(const uint4* from, uint4* to, std::size_t n) { copy_words(from, to, n); }
    __device__ void finish() {}
};

constexpr unsigned stages = 12;
constexpr std::size_t stage_bytes = 8192;
constexpr std::size_t bulk_shared_bytes = stages * (stage_bytes + sizeof(std::uint64_t));

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// By the bulk copy engine, through stages in shared memory: while six pieces come in, six before them go out. The block's first
// thread drives it. Blocks take consecutive pieces in turn.
class BulkCopy
{
public:
    static constexpr std::size_t shared_bytes = bulk_shared_bytes;

    __device__ explicit BulkCopy(const Watch& watch) : watch_(watch)
    {
        if (threadIdx.x != 0) { return; }
        for (unsigned s = 0; s < stages; ++s)
        {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier(s)) : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // for the engine, which arrives at them
    }
    __device__ void copy(const uint4* from, uint4* to, std::size_t n)
    {
        if (threadIdx.x != 0) { return; }
        const std::size_t piece = min(stage_bytes / sizeof(uint4), (n + gridDim.x - 1) / gridDim.x), stride = gridDim.x * piece;
        std::size_t load_at = blockIdx.x * piece, store_at = load_at;
        for (unsigned k = 0; store_at < n; ++k)
        {
            if (load_at < n)
            {
                load(from + load_at, min(piece, n - load_at));
                load_at += stride;
            }
            if (k < ahead) { continue; }
            store(to + store_at, min(piece, n - store_at));
            store_at += stride;
        }
    }
    // M4: what was stored is there, not only read from the stages.
    __device__ void finish() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

private:
    static constexpr unsigned ahead = stages / 2; // pieces that come in

    // Of the nth piece.
    __device__ static std::uint32_t stage(unsigned nth)
    {
        extern __shared__ uint4 memory[];
        return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) + nth % stages * stage_bytes;
    }
    __device__ static std::uint32_t barrier(unsigned nth) { return stage(0) + stages * stage_bytes + nth % stages * 8; }

    __device__ void load(const uint4* from, std::size_t n)
    {
        const auto bytes = static_cast<std::uint32_t>(n * sizeof(uint4));
        // The piece that was in this stage has been read: all stores have but the last five.
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(stages - ahead - 1) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier(loaded_)), "r"(bytes) : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(stage(loaded_)),
            "l"(from), "r"(bytes), "r"(barrier(loaded_))
            : "memory");
        ++loaded_;
    }
    __device__ void store(uint4* to, std::size_t n)
    {
        wait_loaded();
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(stage(stored_)),
                     "r"(static_cast<std::uint32_t>(n * sizeof(uint4)))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        ++stored_;
    }
    // For the piece that is stored next. In vain only if the engine fails: told as a message from this rank itself.
    __device__ void wait_loaded() const
    {
        Patience<CudaAtomics> patience(watch_);
        while (!is_loaded())
        {
            if (patience.next() == Verdict::Reached) { continue; }
            fail<CudaAtomics>(watch_, {watch_.rank, watch_.rank, 0, Awaited::Signal, stored_, 0, 0, *watch_.tag});
            return;
        }
    }
    __device__ bool is_loaded() const
    {
        std::uint32_t is;
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(is)
                     : "r"(barrier(stored_)), "r"(stored_ / stages % 2)
                     : "memory");
        return is != 0;
    }

    const Watch& watch_;
    unsigned loaded_ = 0, stored_ = 0; // pieces so far
};
#else
class BulkCopy : public Stores // older GPUs have no such engine
{
public:
    static constexpr std::size_t shared_bytes = bulk_shared_bytes;
    using Stores::Stores;
};
#endif

enum class Turns
{
    Alternate, // the second answers each message: the time of one way
    Both       // both send, wait and unpack: the time of a round
};

// Purpose        messages of one size between two ranks
// Work           all blocks pack and unpack a part each
// Reads/Writes   local memory, own slots / local memory, the peer's slots, time and, where asked for, wrong words in host memory
// Orders         arrival counter among the blocks, then channel protocol; every block waits by itself
// Requires       all blocks of both sides running at the same time
// Cost           a message and its signal per epoch, each way
template <class How>
__global__ void messages_kernel(PairSide side, Word first_epoch, int epochs, Turns turns, const uint4* source, uint4* unpacked,
                                std::size_t bytes, unsigned long long* wrong, std::int64_t* ns)
{
    const std::size_t n = bytes / sizeof(uint4);
    How how(*side.watch);
    std::int64_t begin = 0;
    for (int k = 0; k < epochs; ++k)
    {
        const Word epoch = first_epoch + static_cast<Word>(k);
        const std::size_t at = static_cast<std::size_t>(k) * shift;
        const auto send = [&] {
            how.copy(source + at, reinterpret_cast<uint4*>(side.sender(epoch).slot()), n);
            how.finish();
            side.signal(epoch, static_cast<Word>(k) + 1);
        };
        if (turns == Turns::Both || side.is_first) { send(); }
        if (!side.wait(epoch)) { return; }
        const std::byte* const arrived = side.receiver(epoch).slot();
        if (wrong != nullptr) { count_wrong(arrived, bytes, side.receive.source, at * sizeof(uint4) / sizeof(Word), wrong); }
        if (turns == Turns::Both) { copy_words(reinterpret_cast<const uint4*>(arrived), unpacked, n); }
        else if (!side.is_first) { send(); }
        if (k == 0) { begin = CudaAtomics::nanoseconds(); } // both kernels run
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) { *ns = CudaAtomics::nanoseconds() - begin; }
}

// Purpose        how long a flag takes to a waiting thread: a signal without a message's blocks
// Work           one thread a rank
// Reads/Writes   own signals / the peer's, time in host memory
// Orders         channel protocol
// Requires       the peer's kernel running at the same time
// Cost           a flag per epoch, each way
__global__ void flags_kernel(PairSide side, Word first_epoch, int epochs, std::int64_t* ns)
{
    std::int64_t begin = 0;
    for (int k = 0; k < epochs; ++k)
    {
        const Word epoch = first_epoch + static_cast<Word>(k);
        if (side.is_first) { side.sender(epoch).signal(); }
        if (side.receiver(epoch).wait_arrived(*side.watch) != Verdict::Reached) { return; }
        if (!side.is_first) { side.sender(epoch).signal(); }
        if (k == 0) { begin = CudaAtomics::nanoseconds(); } // both kernels run
    }
    *ns = CudaAtomics::nanoseconds() - begin;
}

struct Span // of a block
{
    std::int64_t begin, end; // ns
};

// Purpose        the rate of stores to a peer
// Work           16 bytes a thread, or pieces of kilobytes
// Reads/Writes   local memory / the peer's, times in host memory
// Orders         the stores before the time of the end
// Requires       nothing
// Cost           bytes times repetitions
template <class How>
__global__ void __launch_bounds__(4 * threads)
    stores_kernel(const Watch* watch, const uint4* from, uint4* to, std::size_t n, int repetitions, Span* spans)
{
    const std::int64_t begin = CudaAtomics::nanoseconds();
    How how(*watch);
    for (int r = 0; r < repetitions; ++r) { how.copy(from, to, n); }
    how.finish();
    __threadfence_system(); // each thread's stores have come to the peer
    __syncthreads();
    if (threadIdx.x == 0) { spans[blockIdx.x] = {begin, CudaAtomics::nanoseconds()}; }
}

// Purpose        sums, one after another, without launches
// Work           one block a rank
// Reads/Writes   values, own slots / values, all slots, time in host memory
// Orders         as comm/gpu/collectives.cuh
// Requires       all ranks' kernels running at the same time
// Cost           epochs sums
__global__ void sums_kernel(GpuRankEnds ends, double* values, int n, int epochs, std::int64_t* ns)
{
    std::int64_t begin = 0;
    for (int k = 0; k < epochs; ++k)
    {
        send_to_all(ends, values, n);
        if (!receive_from_all(ends, values, n)) { return; }
        if (k == 0) { begin = CudaAtomics::nanoseconds(); } // all kernels run
    }
    if (threadIdx.x == 0) { *ns = CudaAtomics::nanoseconds() - begin; }
}

// Purpose        what a rank sends, before timing
// Work           grid-stride
// Reads/Writes   nothing / words
// Orders         nothing
// Requires       nothing
// Cost           n stores
__global__ void make_payload_kernel(std::uint64_t* words, std::size_t n, int rank)
{
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    {
        words[i] = pattern(rank, i);
    }
}

// Purpose        has it arrived, after timing
// Work           grid-stride
// Reads/Writes   data / the number of wrong words in host memory
// Orders         nothing
// Requires       the source's kernel has ended
// Cost           as many loads
__global__ void check_payload_kernel(const std::byte* data, std::size_t bytes, int source, unsigned long long* wrong)
{
    count_wrong(data, bytes, source, 0, wrong);
}

// Purpose        when a queue gets here
// Work           one thread
// Reads/Writes   nothing / time in host memory
// Orders         nothing
// Requires       nothing
// Cost           a launch
__global__ void stamp_kernel(std::int64_t* ns) { *ns = CudaAtomics::nanoseconds(); }

double message_goal(std::size_t bytes)
{
    if (bytes == 0) { return 1.2; }
    if (bytes <= 4096) { return 2.5; }
    return bytes == 65536 ? 2.2 : bytes == 131072 ? 2.4 : bytes == most_bytes ? 5 : 0;
}

double stream_goal(std::size_t bytes) { return bytes >= std::size_t{1} << 23 ? static_cast<double>(bytes) / 340e3 : 0; }

class Measurement
{
public:
    Measurement(const std::vector<int>& devices, int repetitions)
        : repetitions_(repetitions), world_(devices, options()), pair_(world_, "timing", 0, 1, most_bytes),
          meeting_(world_, "meeting", 0), landing_(world_.allocate(stream_bytes)), wrong_(1), ns_(2 * devices.size()),
          spans_(most_blocks * devices.size())
    {
        wrong_[0] = 0;
        for (int r = 0; r < world_.ranks(); ++r)
        {
            queues_.push_back(std::make_unique<GpuQueue>(world_.device(r))); // on one GPU ranks need a stream each
            GpuQueue& queue = *queues_.back();
            source_.emplace_back(stream_bytes / sizeof(uint4) + rounds * shift);
            unpacked_.emplace_back(most_bytes / sizeof(uint4));
            values_.emplace_back(most_values);
            const std::size_t words = source_.back().size() * sizeof(uint4) / sizeof(Word);
            launch(queue, PhaseTag{}, make_payload_kernel, {most_blocks, threads},
                   reinterpret_cast<std::uint64_t*>(source_.back().data()), words, r);
            allow_shared_memory(queue, messages_kernel<BulkCopy>, BulkCopy::shared_bytes);
            allow_shared_memory(queue, stores_kernel<BulkCopy>, BulkCopy::shared_bytes);
            queue.synchronize();
        }
    }

    std::vector<CommTiming> all()
    {
        timings_.push_back({"flag", 0, 1, least([&] { return flag_us(); }), message_goal(0)});
        messages();
        stores();
        collectives();
        world_.check();
        return std::move(timings_);
    }

private:
    static constexpr int most_values = 4096; // of a sum

    // Each is short enough to fit between two turns of a program that shares the GPU.
    template <class Work>
    double least(const Work& work) const
    {
        double us = work();
        for (int i = 1; i < repetitions_; ++i) { us = std::min(us, work()); }
        return us;
    }

    static GpuWorldOptions options()
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(3);
        options.payload_bytes = 2 * stream_bytes;
        return options;
    }

    double flag_us()
    {
        pair_.run(flags_kernel, {1, 1}, 1 + rounds, std::array{std::tuple(ns_.data()), std::tuple(ns_.data() + 1)});
        world_.check();
        return static_cast<double>(ns_[0]) * 1e-3 / (2 * rounds);
    }

    void messages()
    {
        for (const std::size_t bytes : {0, 1024, 4096, 16384, 65536, 94 << 10, 131072, 262144, 1048576})
        {
            for (const int blocks : {1, 4, 16, 32, 64})
            {
                const std::size_t per_block = bytes / static_cast<std::size_t>(blocks);
                if (per_block > 65536 || (blocks > 1 && per_block < 1024)) { continue; }
                time_message<Stores>(bytes == 0 ? "signal" : "put and signal", Turns::Alternate, bytes, blocks,
                                     message_goal(bytes));
                time_message<Stores>("halo round", Turns::Both, bytes, blocks, bytes <= 65536 ? 5 : 0);
                if (per_block < 2048) { continue; }
                time_message<BulkCopy>("bulk and signal", Turns::Alternate, bytes, blocks, message_goal(bytes));
            }
        }
    }

    template <class How>
    void time_message(const char* name, Turns turns, std::size_t bytes, int blocks, double goal_us)
    {
        const auto run = [&](unsigned long long* wrong) {
            const auto arguments = [&](std::size_t rank) {
                return std::tuple(turns, source_[rank].data(), unpacked_[rank].data(), bytes, wrong, ns_.data() + rank);
            };
            pair_.run(messages_kernel<How>, {blocks, threads, How::shared_bytes}, 1 + rounds,
                      std::array{arguments(0), arguments(1)});
            world_.check();
            return static_cast<double>(ns_[0]) * 1e-3 / rounds / (turns == Turns::Alternate ? 2 : 1);
        };
        timings_.push_back({name, bytes, blocks, least([&] { return run(nullptr); }), goal_us});
        run(wrong_.data());
        expect_nothing_wrong();
    }

    void stores()
    {
        constexpr std::size_t kib = 1024, mib = 1024 * kib;
        for (const std::size_t bytes : {64 * kib, 94 * kib, 256 * kib, mib, 8 * mib, 32 * mib, stream_bytes})
        {
            for (const int blocks : {1, 4, 8, 16, 32, 64, most_blocks})
            {
                if (bytes / static_cast<std::size_t>(blocks) < 2048) { continue; }
                time_stores<Stores>("stores", 1, bytes, blocks);
                time_stores<BulkCopy>("bulk stores", 1, bytes, blocks);
            }
            time_copies(bytes);
        }
        if (world_.ranks_share_gpus()) { return; } // where nobody promises that kernels run side by side
        for (const std::size_t bytes : {mib, 4 * mib, 16 * mib, stream_bytes})
        {
            for (const int blocks : {16, most_blocks})
            {
                time_stores<Stores>("ring", world_.ranks(), bytes, blocks);
                time_stores<BulkCopy>("bulk ring", world_.ranks(), bytes, blocks);
            }
        }
    }

    // The first so many ranks store to the next one, all at once, from the first block's begin to the last one's end; the time
    // of the slowest.
    template <class How>
    void time_stores(const char* name, int senders, std::size_t bytes, int blocks)
    {
        const int repetitions = repetitions_of(bytes, stream_bytes);
        clear_landing(senders, bytes);
        const double us = least([&] {
            for (int r = 0; r < senders; ++r)
            {
                const auto rank = static_cast<std::size_t>(r);
                if (senders > 1) { barrier(*queues_[rank], meeting_, r); }
                launch(*queues_[rank], PhaseTag{}, stores_kernel<How>, {blocks, 4 * threads, How::shared_bytes}, world_.watch(r),
                       source_[rank].data(), reinterpret_cast<uint4*>(landing_of(r)), bytes / sizeof(uint4), repetitions,
                       spans_.data() + r * most_blocks);
            }
            synchronize();
            std::int64_t longest = 0;
            for (int r = 0; r < senders; ++r)
            {
                const std::span of_blocks(spans_.data() + r * most_blocks, static_cast<std::size_t>(blocks));
                longest = std::max(longest, std::ranges::max(of_blocks, {}, &Span::end).end -
                                                std::ranges::min(of_blocks, {}, &Span::begin).begin);
            }
            return static_cast<double>(longest) * 1e-3 / repetitions;
        });
        check_landing(senders, bytes);
        timings_.push_back({name, bytes, blocks, us, stream_goal(bytes)});
    }

    void time_copies(std::size_t bytes)
    {
        const int copies = repetitions_of(bytes, 4 * stream_bytes); // so many that it does not count when the first begins
        GpuQueue& queue = *queues_[0];
        clear_landing(1, bytes);
        const double us = least([&] {
            launch(queue, PhaseTag{}, stamp_kernel, {1, 1}, ns_.data());
            for (int i = 0; i < copies; ++i) { gpu_memory::on_device(queue, landing_of(0), source_[0].data(), bytes); }
            launch(queue, PhaseTag{}, stamp_kernel, {1, 1}, ns_.data() + 1);
            queue.synchronize();
            return static_cast<double>(ns_[1] - ns_[0]) * 1e-3 / copies;
        });
        check_landing(1, bytes);
        timings_.push_back({"copy engine", bytes, 0, us, 0});
    }

    static int repetitions_of(std::size_t bytes, std::size_t in_all)
    {
        return static_cast<int>(std::min<std::size_t>(1000, in_all / bytes));
    }

    int next(int rank) const { return (rank + 1) % world_.ranks(); }
    std::byte* landing_of(int sender) const { return world_.data(next(sender), landing_); }

    void clear_landing(int senders, std::size_t bytes)
    {
        for (int r = 0; r < senders; ++r)
        {
            gpu_memory::set_bytes(*queues_[static_cast<std::size_t>(next(r))], landing_of(r), 0, bytes);
        }
        synchronize();
    }
    void check_landing(int senders, std::size_t bytes)
    {
        for (int r = 0; r < senders; ++r)
        {
            launch(*queues_[static_cast<std::size_t>(next(r))], PhaseTag{}, check_payload_kernel, {most_blocks, threads},
                   landing_of(r), bytes, r, wrong_.data());
        }
        synchronize();
        expect_nothing_wrong();
    }
    void expect_nothing_wrong() const
    {
        if (wrong_[0] > 0)
        {
            throw CommError("Timing: what GPUs store into each other's memory does not arrive as it was sent.");
        }
    }

    void collectives()
    {
        for (const int n : {0, 8, 64, 512, most_values})
        {
            const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(double);
            const GpuCollective collective(world_, "timed sum of " + std::to_string(n), bytes);
            const double goal = n == 0 ? 3 : 0;
            timings_.push_back({n == 0 ? "barrier" : "sum", bytes, 1, least([&] { return sum_us(collective, n); }), goal});
            check_values(n);
            // A kernel each, replayed as a run does it; where ranks share a GPU nobody promises that they run side by side.
            if (world_.ranks_share_gpus()) { continue; }
            timings_.push_back({n == 0 ? "barrier, launched" : "sum, launched", bytes, 1, launched_us(collective, n), 0});
            check_values(n);
        }
    }

    double sum_us(const GpuCollective& collective, int n)
    {
        set_values(n);
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            launch(*queues_[r], PhaseTag{}, sums_kernel, {1, threads}, collective.ends(static_cast<int>(r)), values_[r].data(), n,
                   1 + rounds, ns_.data() + r);
        }
        synchronize();
        return static_cast<double>(ns_[0]) * 1e-3 / rounds;
    }

    // On the queue of the first rank, after a sum at which all have met: the others' graphs are replayed later.
    double launched_us(const GpuCollective& collective, int n)
    {
        std::vector<GpuGraph> graphs;
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            const auto sum = [&] { all_reduce(*queues_[r], collective, static_cast<int>(r), values_[r].data(), n); };
            const auto stamp = [&](std::size_t i) {
                launch(*queues_[r], PhaseTag{}, stamp_kernel, {1, 1}, ns_.data() + 2 * r + i);
            };
            graphs.emplace_back(*queues_[r], [&] {
                sum();
                stamp(0);
                for (int k = 0; k < rounds; ++k) { sum(); }
                stamp(1);
            });
        }
        return least([&] {
            set_values(n);
            for (std::size_t r = 0; r < queues_.size(); ++r) { graphs[r].replay(*queues_[r]); }
            synchronize();
            return static_cast<double>(ns_[1] - ns_[0]) * 1e-3 / rounds;
        });
    }

    static double first_value(std::size_t rank, int i) { return static_cast<double>(rank) + i + 1; }

    void set_values(int n)
    {
        std::vector<double> values(static_cast<std::size_t>(n));
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            for (int i = 0; i < n; ++i) { values[static_cast<std::size_t>(i)] = first_value(r, i); }
            values_[r].upload(*queues_[r], values);
            queues_[r]->synchronize();
        }
    }
    // After all sums, each of the one before it.
    void check_values(int n)
    {
        std::vector<double> sums(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i)
        {
            double sum = 0;
            for (std::size_t r = 0; r < queues_.size(); ++r) { sum += first_value(r, i); }
            for (int k = 0; k < rounds; ++k)
            {
                const double one = sum;
                for (std::size_t r = 1; r < queues_.size(); ++r) { sum += one; }
            }
            sums[static_cast<std::size_t>(i)] = sum;
        }
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            if (values_[r].to_vector(*queues_[r]) != sums) { throw CommError("Timing: sums over GPUs are wrong."); }
        }
    }

    void synchronize()
    {
        for (const auto& queue : queues_) { queue->synchronize(); }
        world_.check();
    }

    int repetitions_;
    GpuWorld world_;
    GpuPair pair_;
    GpuCollective meeting_;
    Window landing_; // of stores from the rank before
    PinnedBuffer<unsigned long long> wrong_;
    PinnedBuffer<std::int64_t> ns_; // two a rank
    PinnedBuffer<Span> spans_;
    std::vector<std::unique_ptr<GpuQueue>> queues_; // by rank
    std::vector<DeviceBuffer<uint4>> source_, unpacked_;
    std::vector<DeviceBuffer<double>> values_;
    std::vector<CommTiming> timings_;
};

} // namespace

std::vector<CommTiming> time_comm(const std::vector<int>& devices, int repetitions)
{
    PARHELION_EXPECTS(devices.size() >= 2 && repetitions >= 1);
    return Measurement(devices, repetitions).all();
}

} // namespace parhelion
