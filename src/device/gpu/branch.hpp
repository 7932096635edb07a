// SPDX-License-Identifier: Apache-2.0
// Work that is spread over several queues of a GPU: what comes after what is a value, which one branch gives and another takes.
//
//     const Done halo_x = nonlocal.done();                    // all that is queued on nonlocal so far
//     compute_bonded(beside.after(halo_x), ...);              // what is queued on beside from here on comes after it
//
// Cost: an event per branch; an edge of the graph, where this is captured.
#pragma once

#include "base/error.hpp"
#include "device/gpu/graph.hpp"

#include <cstdint>

namespace parhelion {

class GpuBranch;

// Valid until its branch gives the next.
class Done
{
    friend class GpuBranch;
    Done(const GpuBranch& branch, std::uint64_t number) : branch_(branch), number_(number) {}

    const GpuBranch& branch_;
    std::uint64_t number_;
};

// A queue as one user sees it; others may queue on it, too.
class GpuBranch
{
public:
    explicit GpuBranch(GpuQueue& queue) : queue_(&queue), done_(event_of(queue)) {}
    operator GpuQueue&() { return *queue_; } // as what compute functions take

    Done done()
    {
        done_.record(*queue_);
        return {*this, ++given_};
    }
    GpuBranch& after(const Done& done)
    {
        PARHELION_EXPECTS(done.number_ == done.branch_.given_);
        return after(done.branch_.done_);
    }
    GpuBranch& after(const GpuEvent& event)
    {
        wait_for(*queue_, event);
        return *this;
    }

private:
    static GpuEvent event_of(const GpuQueue& queue)
    {
        queue.make_current();
        return GpuEvent(EventFor::Queues);
    }

    GpuQueue* queue_;
    GpuEvent done_;
    std::uint64_t given_ = 0;
};

} // namespace parhelion
