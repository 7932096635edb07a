// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/graph.hpp"

#include "device/gpu/launch.cuh"
#include "device/implied_edges.hpp"

#include <map>
#include <memory>
#include <vector>

namespace parhelion {

namespace {

// Removes edges that other edges imply. If a queue waits several times without work in between, its next node gets
// all these dependencies. An edge from a kernel's begin (launch_begun.cuh) implies no edge and is implied by none.
void drop_implied_edges(cudaGraph_t graph)
{
    std::size_t count = 0;
    cuda_check(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), "cudaGraphGetEdges");
    std::vector<cudaGraphNode_t> from(count), to(count);
    std::vector<cudaGraphEdgeData> data(count);
    cuda_check(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count), "cudaGraphGetEdges");
    std::map<cudaGraphNode_t, std::size_t> number;
    const auto number_of = [&](cudaGraphNode_t node) { return number.emplace(node, number.size()).first->second; };
    std::vector<GraphEdge> edges;
    std::vector<std::size_t> place; // place[i]: index, among all edges, of the i-th edge that is no edge from a kernel's begin
    for (std::size_t e = 0; e < count; ++e)
    {
        if (data[e].from_port != cudaGraphKernelNodePortDefault) { continue; }
        edges.push_back({number_of(from[e]), number_of(to[e])});
        place.push_back(e);
    }
    for (const std::size_t implied : implied_edges(number.size(), edges))
    {
        const std::size_t e = place[implied];
        cuda_check(cudaGraphRemoveDependencies(graph, &from[e], &to[e], &data[e], 1), "cudaGraphRemoveDependencies");
    }
}

} // namespace

GpuEvent::GpuEvent(EventFor whom)
{
    const unsigned sleeps = whom == EventFor::Host ? cudaEventBlockingSync : 0;
    cuda_check(cudaEventCreateWithFlags(&event_, sleeps | cudaEventDisableTiming), "cudaEventCreate");
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
    const std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)> owned(graph, cudaGraphDestroy);
    drop_implied_edges(graph);
    cuda_check(cudaGraphInstantiate(&graph_, graph, cudaGraphInstantiateFlagUseNodePriority), "cudaGraphInstantiate");
}

GpuGraph::~GpuGraph()
{
    if (graph_ != nullptr) { cudaGraphExecDestroy(graph_); }
}

void GpuGraph::replay(GpuQueue& queue) const { cuda_check(cudaGraphLaunch(graph_, queue.stream()), "cudaGraphLaunch"); }

} // namespace parhelion
