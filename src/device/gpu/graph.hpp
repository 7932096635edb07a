// SPDX-License-Identifier: Apache-2.0
// Work that is queued once and replayed many times, and points in a queue that the host or another queue waits for.
//
// The idea: launching a kernel costs the host microseconds, replaying a captured sequence of hundreds costs it as much as one
// launch. What changes from replay to replay must be in device memory. Cost: some microseconds a kernel to capture.
#pragma once

#include "device/gpu/queue_gpu.hpp"

#include <utility>

struct CUevent_st;
struct CUgraphExec_st;

namespace parhelion {

// Who may wait for an event: the host, which sleeps, or queues alone.
enum class EventFor
{
    Host,
    Queues
};

// A point in a queue of the GPU that is current when the event is made.
class GpuEvent
{
public:
    explicit GpuEvent(EventFor whom = EventFor::Host);
    ~GpuEvent();
    GpuEvent(GpuEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    GpuEvent& operator=(GpuEvent&& other) noexcept
    {
        std::swap(event_, other.event_);
        return *this;
    }

    void record(GpuQueue& queue); // here
    // True if never recorded. Both throw DeviceError for what has gone wrong in the queue.
    bool has_passed() const;
    void wait() const; // the host sleeps until it has; not of an event for queues
    CUevent_st* handle() const { return event_; }

private:
    CUevent_st* event_ = nullptr;
};

// What is queued on `queue` from here on waits for `event`; at once if never recorded.
void wait_for(GpuQueue& queue, const GpuEvent& event);

class GpuGraph
{
public:
    // Runs queue_work(), which must queue on `queue`, or on queues that wait for its events and for which it waits in the end.
    // Nothing of it is executed. queue_work must neither allocate nor wait on the host. Queues keep their priorities.
    template <class Work>
    GpuGraph(GpuQueue& queue, Work&& queue_work)
    {
        begin(queue);
        try
        {
            queue_work();
        }
        catch (...)
        {
            abandon(queue);
            throw;
        }
        end(queue);
    }
    ~GpuGraph();
    GpuGraph(GpuGraph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
    GpuGraph& operator=(GpuGraph&&) = delete;

    void replay(GpuQueue& queue) const;

private:
    static void begin(GpuQueue& queue);
    static void abandon(GpuQueue& queue) noexcept;
    void end(GpuQueue& queue);

    CUgraphExec_st* graph_ = nullptr;
};

} // namespace parhelion
