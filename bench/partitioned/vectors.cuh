// SPDX-License-Identifier: Apache-2.0
// The work that is timed with its communication: c = a + b, 8 bytes a thread. A block's part is a partition.
#pragma once

#include "comm/partitioned/gpu/partitioned.cuh"
#include "device/gpu/device_buffer.hpp"
#include "device/gpu/graph.hpp"
#include "device/gpu/launch.cuh"

namespace parhelion::partitioned_bench {

constexpr int most_threads = 1024;

// Until the queue is empty; the host spins, unlike in GpuQueue::synchronize().
inline void spin_until_done(GpuQueue& queue) { gpu_check(cudaStreamSynchronize(queue.stream()), "cudaStreamSynchronize"); }

// Blocks of a vector of so many bytes, and their threads.
inline LaunchShape shape_of(std::size_t bytes)
{
    const std::size_t threads = bytes / sizeof(double);
    return threads <= most_threads ? LaunchShape{1, static_cast<int>(threads)} : one_thread_each(threads, most_threads);
}

// Holds what one call queues on several queues: a graph for each, all captured at once.
class Graphs
{
public:
    template <class Work>
    Graphs(const std::vector<GpuQueue*>& queues, const Work& work) : queues_(queues), graphs_(queues.size())
    {
        for (GpuQueue* queue : queues_)
        {
            gpu_check(cudaStreamBeginCapture(queue->stream(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
        }
        work();
        std::vector<cudaGraph_t> captured(queues_.size());
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            gpu_check(cudaStreamEndCapture(queues_[r]->stream(), &captured[r]), "cudaStreamEndCapture");
        }
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            queues_[r]->make_current();
            gpu_check(cudaGraphInstantiate(&graphs_[r], captured[r], 0), "cudaGraphInstantiate");
            cudaGraphDestroy(captured[r]);
        }
    }
    ~Graphs()
    {
        for (cudaGraphExec_t graph : graphs_) { cudaGraphExecDestroy(graph); }
    }
    Graphs(const Graphs&) = delete;
    Graphs& operator=(const Graphs&) = delete;

    void replay() const
    {
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            gpu_check(cudaGraphLaunch(graphs_[r], queues_[r]->stream()), "cudaGraphLaunch");
        }
    }

private:
    std::vector<GpuQueue*> queues_;
    std::vector<cudaGraphExec_t> graphs_;
};

__device__ inline void add_one(const double* a, const double* b, double* c)
{
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

} // namespace parhelion::partitioned_bench
