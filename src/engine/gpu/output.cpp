// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/output.hpp"

#include "engine/guard.hpp"
#include "engine/run_length.hpp"
#include "model/minimisers.hpp"

#include <algorithm>

namespace parhelion {

template <class N>
void GpuOutput<N>::begin_run(std::int64_t last)
{
    last_ = last;
    is_single_point_ = false;
    conserved_ = {};
}

template <class N>
void GpuOutput<N>::hand_on(const typename GpuSegments<N>::Completed& completed, Observer& observer)
{
    std::int64_t record = completed.segment.first_record, step = completed.segment.first;
    for (const StepFlags& flags : completed.segment.flags)
    {
        if (flags.due.any_frame())
        {
            const WatchPause pause(watch_);
            observer.frame(flags.due, frame(completed.frame, flags.due, step));
        }
        if (flags.observe)
        {
            Observables o = ranks_.coupling().observables(record++);
            o.time = time(o.step);
            if (!is_single_point_) { stop_if_beyond_range<N>(o); }
            latest_temperature_ = o.temperature;
            conserved_.add(o);
            observer.energies(flags.due, o);
        }
        ++step;
    }
}

template <class N>
void GpuOutput<N>::tell_progress(std::int64_t step, Observer& observer) const
{
    observer.progress(step - setup_.first_step, steps_in_all(setup_.first_step, last_), latest_temperature_);
}

template <class N>
Frame GpuOutput<N>::frame(const HostSnapshot<N>& snapshot, const OutputDue& due, std::int64_t step) const
{
    Frame frame = make_frame(queue_, setup_.system.topology, snapshot, due);
    frame.step = step;
    frame.time = time(step);
    if (is_minimisation(setup_.parameters.integrator)) // vectors of the minimiser take the place of velocities (surface_gpu.hpp)
    {
        std::ranges::fill(frame.v, Vec3<double>{});
    }
    return frame;
}

#define PARHELION_INSTANTIATE(N) template class GpuOutput<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
