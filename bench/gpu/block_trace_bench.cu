// SPDX-License-Identifier: Apache-2.0
// What the records of blocks cost: a kernel of 4 224 blocks of a warp and one of 119 blocks, as in a step, after each other in a
// graph; without a span, with one that is off, with one that records. Microseconds for the two; four repetitions.
#include "device/gpu/block_trace.cuh"
#include "device/gpu/graph.hpp"
#include "device/gpu/launch.cuh"
#include "trace/phases.hpp"

#include <chrono>
#include <cstdio>

using namespace parhelion;

namespace {

struct NoSpan
{
    __device__ explicit NoSpan(const BlockTrace&) {}
};

template <class Span>
__global__ void chain_kernel(BlockTrace tracing, float* x, int length)
{
    const Span span(tracing);
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int k = 0; k < length; ++k) { value = value * 1.0001f + 0.5f; }
    x[i] = value;
}

template <class Span>
double microseconds(GpuQueue& queue, BlockTracer* tracer, int length)
{
    constexpr int pairs = 60, replays = 50;
    DeviceBuffer<float> x(4224 * 32);
    DeviceBuffer<std::int64_t> step(1);
    x.clear(queue), step.clear(queue);
    queue.set_tracer(tracer);
    const GpuGraph graph(queue, [&] {
        if (tracer != nullptr) { tracer->begin(queue, step.data()); }
        for (int i = 0; i < pairs; ++i)
        {
            launch(queue, Phase::Nonbonded, chain_kernel<Span>, {4224, 32}, x.data(), length);
            launch(queue, Phase::Constrain, chain_kernel<Span>, {119, 128}, x.data(), length);
        }
        if (tracer != nullptr) { tracer->end(queue); }
    });
    graph.replay(queue);
    queue.synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < replays; ++i) { graph.replay(queue); }
    queue.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() * 1e6 / (pairs * replays);
}

} // namespace

int main()
{
    GpuQueue queue;
    BlockTracer tracer(queue);
    for (const int length : {500, 5000})
    {
        for (int repetition = 0; repetition < 4; ++repetition)
        {
            const double none = microseconds<NoSpan>(queue, nullptr, length);
            const double off = microseconds<BlockSpan>(queue, nullptr, length);
            const double on = microseconds<BlockSpan>(queue, &tracer, length);
            std::printf("chains of %4d: no span %.3f us, off %+.3f, on %+.3f\n", length, none, off - none, on - none);
        }
    }
}
