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
inline void spin_until_done(GpuQueue& queue) { cuda_check(cudaStreamSynchronize(queue.stream()), "cudaStreamSynchronize"); }

// Blocks of a vector of so many bytes, and their threads.
inline LaunchShape shape_of(std::size_t bytes)
{
    const std::size_t threads = bytes / sizeof(double);
    return threads <= most_threads ? LaunchShape{1, static_cast<int>(threads)} : one_thread_each(threads, most_threads);
}

// What is queued on all queues, as one graph of the first.
template <class Work>
GpuGraph graph_of(const std::vector<GpuQueue*>& queues, const Work& work)
{
    std::vector<GpuEvent> passed;
    for (GpuQueue* queue : queues)
    {
        queue->make_current();
        passed.emplace_back(EventFor::Queues);
    }
    return GpuGraph(*queues[0], [&] {
        passed[0].record(*queues[0]);
        for (std::size_t r = 1; r < queues.size(); ++r) { wait_for(*queues[r], passed[0]); }
        work();
        for (std::size_t r = 1; r < queues.size(); ++r)
        {
            passed[r].record(*queues[r]);
            wait_for(*queues[0], passed[r]);
        }
    });
}

__device__ inline void add_one(const double* a, const double* b, double* c)
{
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

} // namespace parhelion::partitioned_bench
