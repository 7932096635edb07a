// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_graph.hpp"

#include "device/launch.cuh"

namespace parhelion {

GpuEvent::GpuEvent()
{
    cuda_check(cudaEventCreateWithFlags(&event_, cudaEventBlockingSync | cudaEventDisableTiming), "cudaEventCreate");
}
GpuEvent::~GpuEvent()
{
    if (event_ != nullptr) { cudaEventDestroy(event_); }
}
void GpuEvent::record(GpuQueue& queue) { cuda_check(cudaEventRecord(event_, queue.stream()), "cudaEventRecord"); }
bool GpuEvent::has_passed() const
{
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) { return false; }
    cuda_check(status, "waiting for the GPU");
    return true;
}
void GpuEvent::wait() const { cuda_check(cudaEventSynchronize(event_), "waiting for the GPU"); }

void wait_for(GpuQueue& queue, const GpuEvent& event)
{
    cuda_check(cudaStreamWaitEvent(queue.stream(), event.handle(), 0), "cudaStreamWaitEvent");
}

void GpuGraph::begin(GpuQueue& queue)
{
    cuda_check(cudaStreamBeginCapture(queue.stream(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

void GpuGraph::abandon(GpuQueue& queue) noexcept
{
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(queue.stream(), &graph);
    if (graph != nullptr) { cudaGraphDestroy(graph); }
    cudaGetLastError();
}

void GpuGraph::end(GpuQueue& queue)
{
    cudaGraph_t graph = nullptr;
    cuda_check(cudaStreamEndCapture(queue.stream(), &graph), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    cuda_check(status, "cudaGraphInstantiate");
}

GpuGraph::~GpuGraph()
{
    if (graph_ != nullptr) { cudaGraphExecDestroy(graph_); }
}

void GpuGraph::replay(GpuQueue& queue) const { cuda_check(cudaGraphLaunch(graph_, queue.stream()), "cudaGraphLaunch"); }

} // namespace parhelion
