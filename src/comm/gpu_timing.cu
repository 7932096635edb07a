// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu_timing.hpp"

#include "base/error.hpp"
#include "comm/gpu_collectives.cuh"
#include "comm/gpu_pair.cuh"
#include "device/gpu_graph.hpp"

#include <chrono>

namespace parhelion {

namespace {

constexpr int threads = 256;
constexpr std::size_t most_bytes = std::size_t{1} << 20;    // of a message
constexpr std::size_t stream_bytes = std::size_t{32} << 20; // stored at a time

// A thread's loads before its stores, eight at a time.
__device__ void copy(const uint4* from, uint4* to, std::size_t n)
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

// The same by the bulk copy engine, from a stage in shared memory: one thread's instruction stores 16 KiB. Returns when the
// stores are done. Blocks take
// consecutive pieces in turn. Older GPUs copy as above.
__device__ void copy_in_bulk(const uint4* from, uint4* to, std::size_t n)
{
#if __CUDA_ARCH__ >= 900
    constexpr std::size_t piece = 1024; // 16 KiB
    __shared__ alignas(128) uint4 stage[piece];
    for (std::size_t begin = blockIdx.x * piece; begin < n; begin += gridDim.x * piece)
    {
        const std::size_t count = min(piece, n - begin);
        for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) { stage[i] = from[begin + i]; }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // M4: stores to the stage before the engine's reads of it
        __syncthreads();
        if (threadIdx.x == 0)
        {
            const auto stage_at = static_cast<std::uint32_t>(__cvta_generic_to_shared(stage));
            const auto bytes = static_cast<std::uint32_t>(count * sizeof(uint4));
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + begin), "r"(stage_at),
                         "r"(bytes)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); // complete, not only read
        }
        __syncthreads();
    }
#else
    copy(from, to, n);
#endif
}

enum class How
{
    Stores,
    BulkCopy
};

enum class Turns
{
    Alternate, // the second answers each message: the time of one way
    Both       // both send, wait and unpack: the time of a round
};

// Purpose        messages of one size between two ranks
// Work           all blocks pack and unpack a part each
// Reads/Writes   local memory, own slots / local memory, the peer's slots, time in host memory
// Orders         arrival counter among the blocks, then channel protocol; every block waits by itself
// Requires       all blocks of both sides running at the same time
// Cost           a message and its signal per epoch, each way
__global__ void messages_kernel(PairSide side, Word first_epoch, int epochs, Turns turns, How how, uint4* local,
                                std::size_t bytes, std::int64_t* ns)
{
    const std::size_t n = bytes / sizeof(uint4);
    const std::int64_t begin = CudaAtomics::nanoseconds();
    for (int k = 0; k < epochs; ++k)
    {
        const Word epoch = first_epoch + static_cast<Word>(k);
        const auto send = [&] {
            auto* const slot = reinterpret_cast<uint4*>(side.sender(epoch).slot());
            how == How::Stores ? copy(local, slot, n) : copy_in_bulk(local, slot, n);
            side.signal(epoch, static_cast<Word>(k) + 1);
        };
        if (turns == Turns::Both || side.is_first) { send(); }
        if (!side.wait(epoch)) { return; }
        if (turns == Turns::Both) { copy(reinterpret_cast<const uint4*>(side.receiver(epoch).slot()), local + n, n); }
        else if (!side.is_first) { send(); }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) { *ns = CudaAtomics::nanoseconds() - begin; }
}

// Purpose        the rate of stores to a peer
// Work           grid-stride, 16 bytes a thread
// Reads/Writes   local memory / the peer's
// Orders         nothing
// Requires       nothing
// Cost           bytes times repetitions
__global__ void stores_kernel(const uint4* from, uint4* to, std::size_t n, int repetitions)
{
    for (int r = 0; r < repetitions; ++r) { copy(from, to, n); }
}

// Purpose        sums, one after another, without launches
// Work           one block a rank
// Reads/Writes   values, own slots / values, all slots, time in host memory
// Orders         as comm/gpu_collectives.cuh
// Requires       all ranks' kernels running at the same time
// Cost           epochs sums
__global__ void sums_kernel(GpuRankEnds ends, double* values, int n, int epochs, std::int64_t* ns)
{
    const std::int64_t begin = CudaAtomics::nanoseconds();
    for (int k = 0; k < epochs; ++k)
    {
        send_to_all(ends, values, n);
        if (!receive_from_all(ends, values, n)) { return; }
    }
    if (threadIdx.x == 0) { *ns = CudaAtomics::nanoseconds() - begin; }
}

double message_goal(std::size_t bytes)
{
    if (bytes == 0) { return 1.2; }
    if (bytes <= 4096) { return 2.5; }
    return bytes == 65536 ? 2.2 : bytes == 131072 ? 2.4 : bytes == most_bytes ? 5 : 0;
}

class Measurement
{
public:
    Measurement(const std::vector<int>& devices, int repetitions)
        : repetitions_(repetitions), world_(devices, options()), pair_(world_, {"timing"}, 0, 1, most_bytes),
          ns_(static_cast<std::size_t>(world_.ranks()))
    {
        for (int r = 0; r < world_.ranks(); ++r)
        {
            queues_.push_back(std::make_unique<GpuQueue>(world_.device(r))); // on one GPU ranks need a stream each
            local_.emplace_back(2 * most_bytes);
            local_.back().clear(*queues_.back());
            queues_.back()->synchronize();
        }
    }

    std::vector<CommTiming> all()
    {
        messages();
        stores();
        collectives();
        world_.check();
        return std::move(timings_);
    }

private:
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

    void messages()
    {
        for (const std::size_t bytes : {0, 1024, 4096, 16384, 65536, 131072, 262144, 1048576})
        {
            for (const int blocks : {1, 4, 16, 64})
            {
                const std::size_t per_block = bytes / static_cast<std::size_t>(blocks);
                if (per_block > 65536 || (blocks > 1 && per_block < 1024)) { continue; }
                time_message(bytes == 0 ? "signal" : "put and signal", Turns::Alternate, How::Stores, bytes, blocks,
                             message_goal(bytes));
                time_message("halo round", Turns::Both, How::Stores, bytes, blocks, bytes <= 65536 ? 5 : 0);
                if (per_block < 4096) { continue; }
                time_message("bulk and signal", Turns::Alternate, How::BulkCopy, bytes, blocks, message_goal(bytes));
            }
        }
    }

    void time_message(const char* name, Turns turns, How how, std::size_t bytes, int blocks, double goal_us)
    {
        constexpr int epochs = 100;
        const auto arguments = [&](std::size_t rank) {
            return std::tuple(turns, how, reinterpret_cast<uint4*>(local_[rank].data()), bytes, ns_.data() + rank);
        };
        const double us = least([&] {
            pair_.run(messages_kernel, {blocks, threads}, epochs, std::array{arguments(0), arguments(1)});
            world_.check();
            return static_cast<double>(ns_[0]) * 1e-3 / epochs / (turns == Turns::Alternate ? 2 : 1);
        });
        timings_.push_back({name, bytes, blocks, us, goal_us});
    }

    void stores()
    {
        const Window window = world_.allocate(stream_bytes);
        auto* const to = reinterpret_cast<uint4*>(world_.data(1, window));
        GpuQueue& queue = *queues_[0];
        queue.make_current();
        DeviceBuffer<uint4> from(stream_bytes / sizeof(uint4));
        from.clear(queue);
        const auto timed = [&](int repetitions, const auto& work) {
            return least([&] {
                queue.synchronize();
                const auto begin = std::chrono::steady_clock::now();
                work(repetitions);
                queue.synchronize();
                return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / repetitions;
            });
        };
        for (const std::size_t bytes :
             {std::size_t{1} << 16, std::size_t{1} << 18, std::size_t{1} << 20, std::size_t{1} << 23, stream_bytes})
        {
            const int repetitions = static_cast<int>(std::min<std::size_t>(1000, (std::size_t{1} << 26) / bytes));
            const double goal = bytes >= (std::size_t{1} << 23) ? static_cast<double>(bytes) / 340e3 : 0;
            for (const int blocks : {1, 4, 8, 16, 32, 64, 132})
            {
                if (bytes / static_cast<std::size_t>(blocks) < 4096) { continue; }
                const double us = timed(repetitions, [&](int n) {
                    launch(queue, Phase::Reduce, stores_kernel, {blocks, 4 * threads}, from.data(), to, bytes / sizeof(uint4), n);
                });
                timings_.push_back({"stores", bytes, blocks, us, goal});
            }
            const double us = timed(repetitions, [&](int n) {
                for (int i = 0; i < n; ++i) { gpu_memory::on_device(queue, to, from.data(), bytes); }
            });
            timings_.push_back({"copy engine", bytes, 0, us, 0});
        }
        world_.release(window);
    }

    void collectives()
    {
        for (const int n : {0, 8, 64, 512, 4096})
        {
            const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(double);
            const GpuCollective collective(world_, {"timed sum", n}, bytes);
            const double goal = n == 0 ? 3 : 0;
            timings_.push_back({n == 0 ? "barrier" : "sum", bytes, 1, least([&] { return sum_us(collective, n); }), goal});
            // A kernel each, replayed as a run does it; where ranks share a GPU nobody promises that they run side by side.
            if (world_.ranks_share_gpus()) { continue; }
            timings_.push_back({n == 0 ? "barrier, launched" : "sum, launched", bytes, 1, launched_us(collective, n), 0});
        }
    }

    double* values(std::size_t rank) { return reinterpret_cast<double*>(local_[rank].data()); }

    double sum_us(const GpuCollective& collective, int n)
    {
        constexpr int epochs = 100;
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            launch(*queues_[r], Phase::Reduce, sums_kernel, {1, threads}, collective.ends(static_cast<int>(r)), values(r), n,
                   epochs, ns_.data() + r);
        }
        synchronize();
        return static_cast<double>(ns_[0]) * 1e-3 / epochs;
    }

    double launched_us(const GpuCollective& collective, int n)
    {
        constexpr int epochs = 100;
        std::vector<GpuGraph> graphs;
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            graphs.emplace_back(*queues_[r], [&] {
                for (int k = 0; k < epochs; ++k) { all_reduce(*queues_[r], collective, static_cast<int>(r), values(r), n); }
            });
        }
        return least([&] {
            const auto begin = std::chrono::steady_clock::now();
            for (std::size_t r = 0; r < queues_.size(); ++r) { graphs[r].replay(*queues_[r]); }
            synchronize();
            return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / epochs;
        });
    }

    void synchronize()
    {
        for (const auto& queue : queues_) { queue->synchronize(); }
        world_.check();
    }

    int repetitions_;
    GpuWorld world_;
    GpuPair pair_;
    PinnedBuffer<std::int64_t> ns_;
    std::vector<std::unique_ptr<GpuQueue>> queues_; // by rank
    std::vector<DeviceBuffer<std::byte>> local_;
    std::vector<CommTiming> timings_;
};

} // namespace

std::vector<CommTiming> time_comm(const std::vector<int>& devices, int repetitions)
{
    PARHELION_EXPECTS(devices.size() >= 2 && repetitions >= 1);
    return Measurement(devices, repetitions).all();
}

} // namespace parhelion
