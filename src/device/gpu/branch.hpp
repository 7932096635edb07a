// SPDX-License-Identifier: Apache-2.0
// Work that is spread over several queues of a GPU. A Done value, given by one branch and taken by another, orders their work.
//
//     const Done halo_x = nonlocal.done();                    // all work that is queued on nonlocal until now
//     compute_bonded(beside.after(halo_x), ...);              // work that is queued on beside from now on comes after it
//
// Cost: an event per branch, or an edge of the graph where the work is captured.
#pragma once

#include "base/error.hpp"
#include "device/gpu/graph.hpp"

#include <cstdint>

namespace parhelion {

class GpuBranch;

// A point in the work of a branch. It is valid until the next call of done() on its branch.
class Done
{
    friend class GpuBranch;
    Done(const GpuBranch& branch, std::uint64_t number) : branch_(branch), number_(number) {}

    const GpuBranch& branch_;
    std::uint64_t number_;
};

// A queue as one branch of the work sees it. Several branches may use the same queue.
class GpuBranch
{
public:
    explicit GpuBranch(GpuQueue& queue) : queue_(&queue), done_(event_of(queue)) {}
    operator GpuQueue&() { return *queue_; } // converts to the first argument of compute functions

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
