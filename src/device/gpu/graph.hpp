// SPDX-License-Identifier: Apache-2.0
// Graphs, which are captured once and replayed many times. Events: points in a queue for which the host or a queue waits.
//
// The idea: launching one kernel costs the host microseconds, and so does replaying a captured sequence of hundreds of
// kernels. Values that change from replay to replay must be in device memory. Cost: some microseconds per kernel to capture.
#pragma once

#include "device/gpu/queue_gpu.hpp"

#include <utility>

namespace parhelion {

// Selects which side may wait for an event: the host, which sleeps, or only queues.
enum class EventFor
{
    Host,
    Queues
};

// An event: a point in a queue. It belongs to the GPU that is current when the event is constructed.
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

    void record(GpuQueue& queue); // puts the event behind all work that is queued now
    // Returns true if the event has passed or was never recorded. Both this and wait() throw DeviceError for errors of the queue.
    bool has_passed() const;
    void wait() const; // the host sleeps until the event has passed; not for EventFor::Queues
    EventHandle handle() const { return event_; }

private:
    EventHandle event_ = nullptr;
};

// Makes work that is queued on `queue` from now on wait for `event`. It does not wait if the event was never recorded.
void wait_for(GpuQueue& queue, const GpuEvent& event);

class GpuGraph
{
public:
    // Captures the work that queue_work() queues, without executing it. That work must be on `queue`, or on queues that wait for
    // its events and that it waits for at the end. queue_work() must neither allocate nor wait on the host. Priorities are kept.
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

    ExecutableGraphHandle graph_ = nullptr;
};

} // namespace parhelion
