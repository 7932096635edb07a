// SPDX-License-Identifier: Apache-2.0
// Passes the output of completed GPU segments to the observer, in order: frames and energies of their steps.
#pragma once

#include "engine/conserved_energy.hpp"
#include "engine/gpu/segments.hpp"
#include "engine/host_watch.hpp"

#include <limits>

namespace parhelion {

template <class N>
class GpuOutput
{
public:
    // `queue` has the threads that make frames.
    GpuOutput(const RunSetup& setup, const GpuRanks<N>& ranks, CpuQueue& queue) : setup_(setup), ranks_(ranks), queue_(queue) {}

    void set_watch(HostWatch* watch) { watch_ = watch; }
    // Call one of these before output: for a run that ends at `last`, or a single point, which may have absurd values.
    void begin_run(std::int64_t last);
    void begin_single_point() { is_single_point_ = true; }

    // Passes a segment's output to the observer. Throws PhysicsError if values of an observed step have left their range.
    void hand_on(const typename GpuSegments<N>::Completed& completed, Observer& observer);
    void tell_progress(std::int64_t step, Observer& observer) const;
    Frame frame(const HostSnapshot<N>& snapshot, const OutputDue& due, std::int64_t step) const;

    double latest_temperature() const { return latest_temperature_; } // of the last observed step, K; NaN before the first
    const ConservedEnergy& conserved() const { return conserved_; }   // covers the run's observed steps

private:
    double time(std::int64_t step) const
    {
        return setup_.parameters.start_time + static_cast<double>(step) * setup_.parameters.dt;
    }

    const RunSetup& setup_;
    const GpuRanks<N>& ranks_;
    CpuQueue& queue_;
    HostWatch* watch_ = nullptr; // null: there is no watch
    std::int64_t last_ = 0;      // last step of the run
    bool is_single_point_ = false;
    double latest_temperature_ = std::numeric_limits<double>::quiet_NaN();
    ConservedEnergy conserved_;
};

} // namespace parhelion
