// SPDX-License-Identifier: Apache-2.0
// Queues list intervals on the GPUs of this process. Usually it launches a graph on each GPU, captured when the
// same sequence of steps comes for the first time. Steps that cannot be captured are queued kernel by kernel.
//
// Cost: a graph launch for each GPU and interval.
#pragma once

#include "engine/gpu/layout.hpp"

#include <cstdint>
#include <span>

namespace parhelion {

template <class N>
class GpuReplayer
{
public:
    explicit GpuReplayer(GpuLayout<N>& layout);

    // Queues steps, which begin `list_age` steps after the lists were built: a list interval, or a part of one.
    void replay(std::int64_t list_age, std::span<const StepFlags> steps);
    // If `on`, the steps that are replayed from here on leave records of their thread blocks.
    void set_tracing(bool on) { is_traced_ = on; }
    // Returns positions and velocities of the latest step with a frame. Its forces are GpuLayout::framed_forces().
    const GpuSnapshot<N>& framed() const { return framed_; }

    // Discards all graphs, after a change of the list plan's intervals. Precondition: no work is queued.
    void forget_graphs();
    // Like forget_graphs(), after a change of memory. The next steps are queued kernel by kernel once, as they may allocate.
    void forget_memory();

private:
    enum class Steps : std::uint8_t
    {
        Run,
        Captured // steps are captured into a graph
    };
    GpuSpan<N> of_gpu(int gpu) { return layout_.here().subspan(static_cast<std::size_t>(gpu), 1); }
    void queue_steps(GpuSpan<N> gpus, std::int64_t list_age, std::span<const StepPattern> steps, Steps are);
    void wait_for_earlier_steps(GpuSpan<N> gpus);

    GpuLayout<N>& layout_;
    GpuSnapshot<N> framed_;
    bool is_traced_ = false;
    bool is_allocated_ = false; // true: all memory of steps is allocated, so that they may be captured
};

} // namespace parhelion
