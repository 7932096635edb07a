// SPDX-License-Identifier: Apache-2.0
// Holds what the parts of the runtime share: streams, events and graphs as operations of the imaginary GPUs, and how calls fail.
#pragma once

#include "gpu.hpp"
#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct CUgraph_st
{
    struct Edge
    {
        std::shared_ptr<standin::Operation> from, to;
        bool on_begin;
    };
    std::vector<std::shared_ptr<standin::Operation>> nodes; // in an order that edges follow
    std::vector<Edge> edges;
    std::set<CUstream_st*> streams; // that are captured
    bool is_invalid = false;        // something was called meanwhile that must not be
};
struct CUgraphExec_st
{
    CUgraph_st graph;
};
struct CUstream_st
{
    int device;
    std::vector<standin::Dependency> last; // what is queued next waits for these
    CUgraph_st* captured_by = nullptr;
    std::vector<standin::Dependency> before_capture;

    void begin_capture(CUgraph_st* graph)
    {
        captured_by = graph;
        graph->streams.insert(this);
        before_capture = std::exchange(last, {});
    }
    void end_capture()
    {
        captured_by = nullptr;
        last = std::exchange(before_capture, {});
    }
};
struct CUevent_st
{
    std::vector<standin::Dependency> after;
    CUgraph_st* captured_by = nullptr;
};

namespace standin {

constexpr std::size_t shared_bytes_of_block = 227 * 1024; // of a GPU
std::size_t memory_bytes();                               // of a GPU; what all of them hold counts against it

// Guards streams, events, graphs and memory: hosts may be several threads.
std::recursive_mutex& runtime_mutex();
extern thread_local std::set<CUgraph_st*> captures; // that this thread has begun

inline Machine& machine() { return Machine::instance(); }
CUstream_st& stream_of(cudaStream_t stream); // null: the device's own

// To the stream's end: of its graph, if it is captured.
std::shared_ptr<Operation> append(CUstream_st& stream, Operation&& made);
cudaError_t append_work(cudaStream_t stream, std::function<void()> work);

cudaError_t failed(cudaError_t error);           // it is the last error then
cudaError_t outcome(const std::string& failure); // of the machine; empty: success

} // namespace standin
