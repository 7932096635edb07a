// SPDX-License-Identifier: Apache-2.0
// Graphs: operations that a stream's capture keeps, and copies of them, queued together.
#include "runtime.hpp"

#include <algorithm>
#include <map>

using namespace standin;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    const std::lock_guard lock(runtime_mutex());
    const auto graph = new CUgraph_st;
    captures.insert(graph);
    stream->begin_capture(graph);
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph)
{
    const std::lock_guard lock(runtime_mutex());
    *graph = stream->captured_by;
    if (*graph == nullptr) { return failed(cudaErrorStreamCaptureInvalidated); }
    captures.erase(*graph);
    // Every operation must lead to the end of this stream.
    std::set<const Operation*> joined;
    for (const Dependency& d : stream->last) { joined.insert(d.operation.get()); }
    for (const CUgraph_st::Edge& edge : (*graph)->edges) { joined.insert(edge.from.get()); }
    const bool are_all = std::all_of((*graph)->nodes.begin(), (*graph)->nodes.end(),
                                     [&](const std::shared_ptr<Operation>& node) { return joined.contains(node.get()); });
    for (CUstream_st* const captured : (*graph)->streams) { captured->end_capture(); }
    (*graph)->streams.clear();
    if (are_all && !(*graph)->is_invalid) { return cudaSuccess; }
    delete std::exchange(*graph, nullptr);
    return failed(cudaErrorStreamCaptureInvalidated);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              std::size_t* count)
{
    if (from == nullptr) { *count = graph->edges.size(); }
    else
    {
        for (std::size_t e = 0; e < *count; ++e)
        {
            const CUgraph_st::Edge& edge = graph->edges[e];
            from[e] = reinterpret_cast<cudaGraphNode_t>(edge.from.get()),
            to[e] = reinterpret_cast<cudaGraphNode_t>(edge.to.get());
            data[e].from_port = edge.on_begin ? cudaGraphKernelNodePortLaunchCompletion : cudaGraphKernelNodePortDefault;
        }
    }
    return cudaSuccess;
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* data, std::size_t count)
{
    for (std::size_t e = 0; e < count; ++e)
    {
        const std::size_t removed = std::erase_if(graph->edges, [&](const CUgraph_st::Edge& edge) {
            return reinterpret_cast<cudaGraphNode_t>(edge.from.get()) == from[e] &&
                   reinterpret_cast<cudaGraphNode_t>(edge.to.get()) == to[e] &&
                   edge.on_begin == (data[e].from_port != cudaGraphKernelNodePortDefault);
        });
        if (removed == 0) { return failed(cudaErrorInvalidValue); }
    }
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long)
{
    *executable = new CUgraphExec_st{*graph};
    return cudaSuccess;
}
// Copies of all nodes, and one behind them all.
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    const std::lock_guard lock(runtime_mutex());
    CUstream_st& queue = stream_of(stream);
    const CUgraph_st& graph = executable->graph;
    std::map<const Operation*, std::shared_ptr<Operation>> copies;
    for (const auto& node : graph.nodes)
    {
        const auto copy = std::make_shared<Operation>();
        copy->host = node->host, copy->kernel = node->kernel, copy->device = node->device;
        copies[node.get()] = copy;
    }
    for (const CUgraph_st::Edge& edge : graph.edges)
    {
        copies.at(edge.to.get())->after.push_back({copies.at(edge.from.get()), edge.on_begin});
    }
    Operation end;
    for (const auto& node : graph.nodes)
    {
        const auto& copy = copies.at(node.get());
        if (copy->after.empty()) { copy->after = queue.last; }
        end.after.push_back({copy, false});
    }
    for (const auto& node : graph.nodes) { machine().queue(copies.at(node.get())); }
    queue.last.insert(queue.last.end(), end.after.begin(), end.after.end());
    append(queue, std::move(end));
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    delete executable;
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}
