// SPDX-License-Identifier: Apache-2.0
#include "bench/partitioned/measurements.hpp"
#include "bench/partitioned/vectors.cuh"
#include "comm/partitioned/gpu/collectives_gpu.hpp"

namespace parhelion::partitioned_bench {

namespace {

constexpr Algorithm algorithms[] = {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring};
constexpr const char* algorithm_names[] = {"one shot", "two shots", "ring"};
constexpr int partition_counts[] = {1, 8, 32, 128};

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
                if (a == 0 && bytes > (std::size_t{16} << 20)) { continue; } // its slots are the largest
                for (const int partitions : partition_counts)
                {
                    if (bytes / static_cast<std::size_t>(partitions) >= 512) { partitioned(a, partitions); }
                }
            }
        }
    }

private:
    std::size_t ranks() const { return s_.queues.size(); }

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
                s_.nccl->sum(values, n);
                synchronize();
            }));
        const Graphs graphs(s_.queues, [&] { s_.nccl->sum(values, n); });
        add("NCCL, graph", 1, time_host([&] {
                graphs.replay();
                synchronize();
            }));
    }
    void partitioned(std::size_t algorithm, int partitions)
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(3);
        options.payload_bytes = (std::size_t{8} << 20) + 3 * ranks() * bytes_;
        std::vector<int> devices;
        std::vector<GpuCollectiveBuffers> buffers;
        for (std::size_t r = 0; r < ranks(); ++r)
        {
            devices.push_back(s_.queues[r]->device());
            buffers.push_back({inputs_[r].data(), results_[r].data()});
        }
        GpuWorld world(devices, options);
        const std::size_t n = bytes_ / sizeof(float) / static_cast<std::size_t>(partitions);
        std::vector<GpuCollectiveRequest> sums =
            make_collective(world, Collective::AllReduce, {ElementType::Float, partitions, n}, Reduction::Sum, buffers, 0,
                            {.algorithm = algorithms[algorithm]});
        const auto queue_sum = [&](std::size_t r) { sums[r].execute(*s_.queues[r]); };
        for (std::size_t r = 0; r < ranks(); ++r) { results_[r].clear(*s_.queues[r]); }
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
