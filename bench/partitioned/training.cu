// SPDX-License-Identifier: Apache-2.0
// A step of data-parallel training, as figures 10 and 11 of the paper: every rank computes the derivatives of the binary
// cross-entropy of its own samples, 8 bytes a thread, and gets their sum over ranks. Times of partitioned sums have their starts
// and ends in them.
#include "bench/partitioned/measurements.hpp"
#include "bench/partitioned/vectors.cuh"
#include "comm/partitioned/gpu/collectives_gpu.cuh"

#include <cstring>

namespace parhelion::partitioned_bench {

namespace {

constexpr int fused_threads = 512;
constexpr int partition_counts[] = {1, 8, 32, 128};

// By the prediction, of a sample whose label is 0 or 1.
__device__ float derivative(float prediction, float label) { return (prediction - label) / (prediction * (1 - prediction)); }

// Purpose        the derivatives
// Work           a thread for two samples
// Reads/Writes   predictions, labels / derivatives
// Orders         nothing
// Requires       nothing
// Cost           12 bytes a sample
__global__ void cross_entropy_kernel(const float2* predictions, const float2* labels, float2* derivatives)
{
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const float2 p = predictions[i], y = labels[i];
    derivatives[i] = {derivative(p.x, y.x), derivative(p.y, y.y)};
}

// Purpose        the sum of what copies have brought
// Work           a thread for two samples
// Reads/Writes   own derivatives, those of others / sums
// Orders         nothing
// Requires       nothing
// Cost           8 bytes a sample and rank
__global__ void add_others_kernel(const float2* own, const float2* others, int n_others, std::size_t stride, float2* sums)
{
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    float2 sum = own[i];
    for (int k = 0; k < n_others; ++k)
    {
        const float2 other = others[static_cast<std::size_t>(k) * stride + i];
        sum.x += other.x, sum.y += other.y;
    }
    sums[i] = sum;
}

struct Trainee
{
    const float *predictions, *labels;
    float* derivatives;
    CollectivePrequest* sum;
};

// Purpose        derivatives and their sum: a block goes on with the partition that it has made
// Work           `blocks` blocks for each rank that the kernel has
// Reads/Writes   predictions, labels / derivatives, sums
// Orders         as in collectives_gpu.cuh
// Requires       the epoch started; all blocks of all ranks at the same time
// Cost           8 bytes a sample, and the sum
__global__ void __launch_bounds__(fused_threads) train_kernel(const Trainee* of_rank, int blocks)
{
    const Trainee& t = of_rank[static_cast<int>(blockIdx.x) / blocks];
    for (int p = static_cast<int>(blockIdx.x) % blocks; p < t.sum->partitions; p += blocks)
    {
        const std::size_t count = t.sum->layouts.input.count, begin = static_cast<std::size_t>(p) * count;
        for (std::size_t i = begin + threadIdx.x; i < begin + count; i += blockDim.x)
        {
            t.derivatives[i] = derivative(t.predictions[i], t.labels[i]);
        }
        if (!block_all<float, Reduction::Sum>(*t.sum, p)) { return; }
    }
}

class Training
{
public:
    explicit Training(const Setting& setting) : s_(setting)
    {
        const std::size_t n = s_.most_bytes / sizeof(float);
        for (std::size_t r = 0; r < ranks(); ++r)
        {
            GpuQueue& queue = *s_.queues[r];
            queue.make_current();
            std::vector<float> half(n, 0.5F), labels(n); // of one half derivatives are -2 and 2: sums are exact
            for (std::size_t i = 0; i < n; ++i) { labels[i] = label(r, i); }
            of_ranks_.emplace_back();
            Rank& rank = of_ranks_.back();
            rank.predictions.upload(queue, half);
            rank.labels.upload(queue, labels);
            rank.derivatives.resize(n);
            rank.sums.resize(n);
            rank.others.resize(n * (ranks() - 1));
            queue.synchronize();
        }
    }

    void all()
    {
        for (std::size_t bytes = 8192; bytes <= s_.most_bytes; bytes *= 4)
        {
            bytes_ = bytes;
            if (bytes <= (std::size_t{1} << 24)) { staged(); } // one thread adds up
            time("peer copy", 1, [&] { copy(); });
            if (s_.nccl != nullptr)
            {
                alone("NCCL", [&] { nccl(); });
            }
            for (const int partitions : partition_counts)
            {
                if (bytes / static_cast<std::size_t>(partitions) < 512) { continue; }
                alone("partitioned", [&] { partitioned(partitions); });
            }
        }
    }

private:
    struct Rank
    {
        DeviceBuffer<float> predictions, labels, derivatives, sums, others;
    };

    std::size_t ranks() const { return s_.queues.size(); }
    bool share_gpu() const { return s_.queues[0]->device() == s_.queues[1]->device(); }
    std::size_t samples() const { return bytes_ / sizeof(float); }
    static float label(std::size_t rank, std::size_t i) { return (i * 7 + rank * 3 + i / 5) % 2 == 0 ? 0.0F : 1.0F; }
    template <class Work>
    void for_ranks(const Work& work)
    {
        for (std::size_t r = 0; r < ranks(); ++r) { work(r, of_ranks_[r], *s_.queues[r]); }
    }
    void synchronize()
    {
        for (GpuQueue* queue : s_.queues) { spin_until_done(*queue); }
    }
    static const float2* pairs(DeviceBuffer<float>& buffer) { return reinterpret_cast<const float2*>(buffer.data()); }

    void compute()
    {
        const LaunchShape shape = shape_of(bytes_);
        for_ranks([&](std::size_t, Rank& rank, GpuQueue& queue) {
            launch(queue, PhaseTag{}, cross_entropy_kernel, shape, pairs(rank.predictions), pairs(rank.labels),
                   reinterpret_cast<float2*>(rank.derivatives.data()));
        });
    }
    template <class Work>
    void time(const std::string& method, int partitions, const Work& work)
    {
        for_ranks([&](std::size_t, Rank& rank, GpuQueue& queue) { rank.sums.clear(queue); });
        const Spread us = time_host([&] {
            work();
            synchronize();
        });
        check(method);
        s_.report.add({"training", method, bytes_, partitions, us});
    }
    void check(const std::string& method)
    {
        std::vector<float> sums(samples());
        for_ranks([&](std::size_t, Rank& rank, GpuQueue& queue) {
            rank.sums.download(queue, sums);
            queue.synchronize();
            for (std::size_t i = 0; i < sums.size(); ++i)
            {
                float expected = 0;
                for (std::size_t r = 0; r < ranks(); ++r) { expected += label(r, i) == 0 ? 2.0F : -2.0F; }
                if (sums[i] != expected) { throw CommError(method + ": a wrong sum."); }
            }
        });
    }

    void staged()
    {
        PinnedBuffer<float> staging(ranks() * samples());
        time("staged", 1, [&] {
            compute();
            for_ranks([&](std::size_t r, Rank& rank, GpuQueue& queue) {
                gpu_memory::to_host(queue, staging.data() + r * samples(), rank.derivatives.data(), bytes_);
            });
            synchronize();
            for (std::size_t r = 1; r < ranks(); ++r)
            {
                for (std::size_t i = 0; i < samples(); ++i) { staging[i] += staging[r * samples() + i]; }
            }
            for_ranks([&](std::size_t, Rank& rank, GpuQueue& queue) {
                gpu_memory::to_device(queue, rank.sums.data(), staging.data(), bytes_);
            });
        });
    }
    void copy()
    {
        compute();
        for_ranks([&](std::size_t r, Rank& rank, GpuQueue& queue) {
            for (std::size_t k = 1; k < ranks(); ++k)
            {
                const std::size_t to = (r + k) % ranks(), at = ranks() - 1 - k; // in the order of distance there
                gpu_memory::on_device(queue, of_ranks_[to].others.data() + at * samples(), rank.derivatives.data(), bytes_);
            }
        });
        synchronize();
        for_ranks([&](std::size_t, Rank& rank, GpuQueue& queue) {
            launch(queue, PhaseTag{}, add_others_kernel, shape_of(bytes_), pairs(rank.derivatives), pairs(rank.others),
                   static_cast<int>(ranks()) - 1, samples() / 2, reinterpret_cast<float2*>(rank.sums.data()));
        });
    }
    void nccl()
    {
        std::vector<float*> from, to;
        for (Rank& rank : of_ranks_) { from.push_back(rank.derivatives.data()), to.push_back(rank.sums.data()); }
        const auto queue = [&] {
            compute();
            s_.nccl->sum(from, to, samples());
        };
        time("NCCL", 1, queue);
        const Graphs graphs(s_.queues, queue);
        time("NCCL, graph", 1, [&] { graphs.replay(); });
    }
    void partitioned(int partitions)
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(3);
        options.payload_bytes = (std::size_t{8} << 20) + 4 * ranks() * bytes_;
        std::vector<int> devices;
        std::vector<GpuCollectiveBuffers> buffers;
        for_ranks([&](std::size_t, Rank& rank, GpuQueue& queue) {
            devices.push_back(queue.device());
            buffers.push_back({rank.derivatives.data(), rank.sums.data()});
        });
        GpuWorld world(devices, options);
        const std::size_t n = samples() / static_cast<std::size_t>(partitions);
        std::vector<GpuCollectiveRequest> sums =
            make_collective(world, Collective::AllReduce, {ElementType::Float, partitions, n}, Reduction::Sum, buffers);
        if (!share_gpu())
        {
            const auto work = [&] {
                compute();
                for_ranks([&](std::size_t r, Rank&, GpuQueue& queue) { sums[r].execute(queue); });
            };
            time("partitioned, queued", partitions, work);
            const Graphs graphs(s_.queues, work);
            time("partitioned, graph", partitions, [&] { graphs.replay(); });
        }
        fused(sums, partitions);
        world.check();
    }
    // Ranks on one GPU: all in one kernel, so that all run.
    void fused(std::vector<GpuCollectiveRequest>& sums, int partitions)
    {
        const std::size_t in_kernel = share_gpu() ? ranks() : 1;
        const int most = s_.queues[0]->multiprocessors() / static_cast<int>(in_kernel), blocks = std::min(partitions, most);
        std::vector<Trainee> trainees;
        std::vector<DeviceBuffer<Trainee>> there(ranks());
        for_ranks([&](std::size_t r, Rank& rank, GpuQueue&) {
            trainees.push_back({rank.predictions.data(), rank.labels.data(), rank.derivatives.data(), sums[r].prequest()});
        });
        for (std::size_t r = 0; r < ranks(); r += in_kernel)
        {
            s_.queues[r]->make_current();
            there[r].upload(*s_.queues[r], std::span(trainees).subspan(r, in_kernel));
            s_.queues[r]->synchronize();
        }
        const auto work = [&] {
            for (std::size_t first = 0; first < ranks(); first += in_kernel)
            {
                GpuQueue& queue = *s_.queues[first];
                for (std::size_t r = first; r < first + in_kernel; ++r) { sums[r].start(queue); }
                launch(queue, PhaseTag{}, train_kernel, {static_cast<int>(in_kernel) * blocks, fused_threads},
                       there[first].data(), blocks);
                for (std::size_t r = first; r < first + in_kernel; ++r) { sums[r].wait(queue); }
            }
        };
        time("fused, queued", partitions, work);
        const Graphs graphs(share_gpu() ? std::vector{s_.queues[0]} : s_.queues, work);
        time("fused, graph", partitions, [&] { graphs.replay(); });
    }

    const Setting& s_;
    std::vector<Rank> of_ranks_;
    std::size_t bytes_ = 0;
};

} // namespace

void time_training(const Setting& setting) { Training(setting).all(); }

} // namespace parhelion::partitioned_bench
