// SPDX-License-Identifier: Apache-2.0
#include "bench/partitioned/measurements.hpp"
#include "bench/partitioned/vectors.cuh"
#include "comm/partitioned/gpu/collectives_gpu.cuh"

namespace parhelion::partitioned_bench {

namespace {

constexpr Algorithm algorithms[] = {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring};
constexpr const char* algorithm_names[] = {"one shot", "two shots", "ring"};
constexpr int partition_counts[] = {1, 8, 32, 128};

// Purpose        all-reduces again and again, without a host
// Work           a block for each rank that the kernel has
// Reads/Writes   as in comm/partitioned/gpu/collectives_gpu.cuh; ns: what the epochs after the first took, of each block
// Orders         as there
// Requires       all ranks' blocks at the same time; one partition
// Cost           epochs times an all-reduce
__global__ void __launch_bounds__(512) sum_epochs_kernel(CollectivePrequest* const* requests, int epochs, std::int64_t* ns)
{
    CollectivePrequest& request = *requests[blockIdx.x];
    std::int64_t begin = 0;
    for (int e = 0; e < epochs; ++e)
    {
        if (e == 1 && threadIdx.x == 0) { begin = CudaAtomics::nanoseconds(); } // all blocks run
        if (threadIdx.x == 0) { start(request); }
        __syncthreads();
        if (!block_all<float, Reduction::Sum>(request, 0) || !block_wait(request)) { return; }
    }
    if (threadIdx.x == 0) { ns[blockIdx.x] = CudaAtomics::nanoseconds() - begin; }
}

class Sums
{
public:
    explicit Sums(const Setting& setting) : s_(setting)
    {
        for (GpuQueue* queue : s_.queues)
        {
            queue->make_current();
            inputs_.emplace_back(s_.most_bytes / sizeof(float));
            results_.emplace_back(s_.most_bytes / sizeof(float));
            const std::vector<float> ones(inputs_.back().size(), 1);
            inputs_.back().upload(*queue, ones);
            queue->synchronize();
        }
    }

    void all()
    {
        for (std::size_t bytes = 1024; bytes <= s_.most_bytes; bytes *= 4)
        {
            bytes_ = bytes;
            if (s_.nccl != nullptr)
            {
                alone("NCCL", [&] { nccl(); });
            }
            for (std::size_t a = 0; a < std::size(algorithms); ++a)
            {
                if (share_gpu())
                {
                    if (bytes <= most_of_block) { in_kernel(a); }
                    continue; // execute() is for ranks with a GPU each
                }
                if (a == 0 && bytes > (std::size_t{16} << 20)) { continue; } // its slots are the largest
                for (const int partitions : partition_counts)
                {
                    if (bytes / static_cast<std::size_t>(partitions) >= 512) { partitioned(a, partitions); }
                }
            }
        }
    }

private:
    static constexpr std::size_t most_of_block = std::size_t{16} << 10;

    std::size_t ranks() const { return s_.queues.size(); }
    bool share_gpu() const { return s_.queues[0]->device() == s_.queues[1]->device(); }

    void synchronize()
    {
        for (GpuQueue* queue : s_.queues) { spin_until_done(*queue); }
    }
    // Of what is replayed on each rank's queue.
    Spread time_graphs(const std::vector<GpuGraph>& graphs)
    {
        return time_host([&] {
            for (std::size_t r = 0; r < ranks(); ++r) { graphs[r].replay(*s_.queues[r]); }
            synchronize();
        });
    }
    void add(const std::string& method, int partitions, const Spread& us)
    {
        s_.report.add({"all-reduce", method, bytes_, partitions, us});
    }

    void nccl()
    {
        const std::size_t n = bytes_ / sizeof(float);
        std::vector<float*> values;
        for (DeviceBuffer<float>& result : results_) { values.push_back(result.data()); }
        add("NCCL", 1, time_host([&] {
                s_.nccl->sum(values, values, n);
                synchronize();
            }));
        const Graphs graphs(s_.queues, [&] { s_.nccl->sum(values, values, n); });
        add("NCCL, graph", 1, time_host([&] {
                graphs.replay();
                synchronize();
            }));
    }
    GpuWorld make_world() const
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(3);
        options.payload_bytes = (std::size_t{8} << 20) + 4 * ranks() * bytes_;
        std::vector<int> devices;
        for (const GpuQueue* queue : s_.queues) { devices.push_back(queue->device()); }
        return GpuWorld(devices, options);
    }
    std::vector<GpuCollectiveRequest> make_sums(GpuWorld& world, std::size_t algorithm, int partitions)
    {
        std::vector<GpuCollectiveBuffers> buffers;
        for (std::size_t r = 0; r < ranks(); ++r) { buffers.push_back({inputs_[r].data(), results_[r].data()}); }
        const std::size_t n = bytes_ / sizeof(float) / static_cast<std::size_t>(partitions);
        for (std::size_t r = 0; r < ranks(); ++r) { results_[r].clear(*s_.queues[r]); }
        return make_collective(world, Collective::AllReduce, {ElementType::Float, partitions, n}, Reduction::Sum, buffers, 0,
                               {.algorithm = algorithms[algorithm]});
    }
    // By the GPU's clock, a block a rank, all ranks in one kernel.
    void in_kernel(std::size_t algorithm)
    {
        GpuWorld world = make_world();
        const std::vector<GpuCollectiveRequest> sums = make_sums(world, algorithm, 1);
        GpuQueue& queue = *s_.queues[0];
        std::vector<CollectivePrequest*> of_rank;
        for (const GpuCollectiveRequest& sum : sums) { of_rank.push_back(sum.prequest()); }
        DeviceBuffer<CollectivePrequest*> requests;
        requests.upload(queue, of_rank);
        PinnedBuffer<std::int64_t> ns(ranks());
        constexpr int epochs = 201;
        std::vector<double> us;
        for (int s = 0; s < samples; ++s)
        {
            launch(queue, PhaseTag{}, sum_epochs_kernel, {static_cast<int>(ranks()), 512}, requests.data(), epochs, ns.data());
            spin_until_done(queue);
            us.push_back(static_cast<double>(ns[0]) * 1e-3 / (epochs - 1));
        }
        world.check();
        check();
        add(std::string(algorithm_names[algorithm]) + ", in a kernel", 1, spread_of(us));
    }
    void partitioned(std::size_t algorithm, int partitions)
    {
        GpuWorld world = make_world();
        std::vector<GpuCollectiveRequest> sums = make_sums(world, algorithm, partitions);
        const auto queue_sum = [&](std::size_t r) { sums[r].execute(*s_.queues[r]); };
        const Spread calls = time_host([&] {
            for (std::size_t r = 0; r < ranks(); ++r)
            {
                GpuQueue& queue = *s_.queues[r];
                sums[r].start(queue);
                sums[r].pready_all(queue);
                sums[r].run(queue);
                sums[r].wait(queue);
            }
            synchronize();
        });
        const Spread queued = time_host([&] {
            for (std::size_t r = 0; r < ranks(); ++r) { queue_sum(r); }
            synchronize();
        });
        std::vector<GpuGraph> graphs;
        for (std::size_t r = 0; r < ranks(); ++r)
        {
            graphs.emplace_back(*s_.queues[r], [&] { queue_sum(r); });
        }
        const Spread replayed = time_graphs(graphs);
        world.check();
        check();
        add(std::string(algorithm_names[algorithm]) + ", four calls", partitions, calls);
        add(std::string(algorithm_names[algorithm]) + ", one call", partitions, queued);
        add(std::string(algorithm_names[algorithm]) + ", graph", partitions, replayed);
    }
    void check()
    {
        for (std::size_t r = 0; r < ranks(); ++r)
        {
            std::vector<float> values(bytes_ / sizeof(float));
            results_[r].download(*s_.queues[r], values);
            s_.queues[r]->synchronize();
            for (const float value : values)
            {
                if (value != static_cast<float>(ranks())) { throw CommError("all-reduce: a wrong sum."); }
            }
        }
    }

    const Setting& s_;
    std::vector<DeviceBuffer<float>> inputs_, results_; // by rank
    std::size_t bytes_ = 0;
};

} // namespace

void time_sums(const Setting& setting) { Sums(setting).all(); }

} // namespace parhelion::partitioned_bench
