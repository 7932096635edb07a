// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/graph.hpp"

#include "device/gpu/launch.cuh"
#include "device/implied_edges.hpp"

#include <map>
#include <memory>
#include <type_traits>
#include <vector>

namespace parhelion {

namespace {

// Removes edges that other edges imply. If a queue waits several times without work in between, its next node gets
// all these dependencies. An edge from a kernel's begin (launch_begun.cuh) implies no edge and is implied by none.
void drop_implied_edges(gpu_api::Graph graph)
{
    std::vector<gpu_api::Dependency> all;
    gpu_check(gpu_api::get_dependencies(all, graph), "edges of a graph");
    std::map<gpu_api::GraphNode, std::size_t> number;
    const auto number_of = [&](gpu_api::GraphNode node) { return number.emplace(node, number.size()).first->second; };
    std::vector<GraphEdge> edges;
    std::vector<std::size_t> place; // place[i]: index, among all edges, of the i-th edge that is no edge from a kernel's begin
    for (std::size_t e = 0; e < all.size(); ++e)
    {
        if (all[e].is_on_begin()) { continue; }
        edges.push_back({number_of(all[e].from), number_of(all[e].to)});
        place.push_back(e);
    }
    for (const std::size_t implied : implied_edges(number.size(), edges))
    {
        gpu_check(gpu_api::remove_dependency(graph, all[place[implied]]), "removing an edge of a graph");
    }
}

} // namespace

GpuEvent::GpuEvent(EventFor whom) { gpu_check(gpu_api::make_event(&event_, whom == EventFor::Host), "making an event"); }
GpuEvent::~GpuEvent()
{
    if (event_ != nullptr) { gpu_api::destroy_event(event_); }
}
void GpuEvent::record(GpuQueue& queue) { gpu_check(gpu_api::record_event(event_, queue.stream()), "recording an event"); }
bool GpuEvent::has_passed() const
{
    const gpu_api::Status status = gpu_api::query_event(event_);
    if (status == gpu_api::not_ready) { return false; }
    gpu_check(status, "waiting for the GPU");
    return true;
}
void GpuEvent::wait() const { gpu_check(gpu_api::await_event(event_), "waiting for the GPU"); }

void wait_for(GpuQueue& queue, const GpuEvent& event)
{
    gpu_check(gpu_api::queue_wait(queue.stream(), event.handle()), "waiting for an event");
}

void GpuGraph::begin(GpuQueue& queue) { gpu_check(gpu_api::begin_capture(queue.stream()), "beginning a graph"); }

void GpuGraph::abandon(GpuQueue& queue) noexcept
{
    gpu_api::Graph graph = nullptr;
    static_cast<void>(gpu_api::end_capture(queue.stream(), &graph));
    if (graph != nullptr) { gpu_api::destroy_graph(graph); }
    gpu_api::forget_error();
}

void GpuGraph::end(GpuQueue& queue)
{
    gpu_api::Graph graph = nullptr;
    gpu_check(gpu_api::end_capture(queue.stream(), &graph), "ending a graph");
    const std::unique_ptr<std::remove_pointer_t<gpu_api::Graph>, decltype(&gpu_api::destroy_graph)> owned(graph,
                                                                                                          gpu_api::destroy_graph);
    drop_implied_edges(graph);
    gpu_check(gpu_api::make_executable(&graph_, graph), "making a graph");
}

GpuGraph::~GpuGraph()
{
    if (graph_ != nullptr) { gpu_api::destroy_executable(graph_); }
}

void GpuGraph::replay(GpuQueue& queue) const { gpu_check(gpu_api::launch_graph(graph_, queue.stream()), "launching a graph"); }

} // namespace parhelion
