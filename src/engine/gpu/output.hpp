// SPDX-License-Identifier: Apache-2.0
// Hands what completed segments of a GPU leave to the observer: frames and energies of their steps, in order.
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
    // `queue`: of threads that make frames.
    GpuOutput(const RunSetup& setup, const GpuRanks<N>& ranks, CpuQueue& queue) : setup_(setup), ranks_(ranks), queue_(queue) {}

    void set_watch(HostWatch* watch) { watch_ = watch; }
    // For a run that ends at `last`; or for a single point, which is handed on even if its numbers are absurd.
    void begin_run(std::int64_t last);
    void begin_single_point() { is_single_point_ = true; }

    // Throws PhysicsError for an observed step whose numbers have left their range.
    void hand_on(const typename GpuSegments<N>::Completed& completed, Observer& observer);
    void tell_progress(std::int64_t step, Observer& observer) const;
    Frame frame(const HostSnapshot<N>& snapshot, const OutputDue& due, std::int64_t step) const;

    double latest_temperature() const { return latest_temperature_; } // of an observed step; NaN: not known yet
    const ConservedEnergy& conserved() const { return conserved_; }   // of the run's observed steps

private:
    double time(std::int64_t step) const
    {
        return setup_.parameters.start_time + static_cast<double>(step) * setup_.parameters.dt;
    }

    const RunSetup& setup_;
    const GpuRanks<N>& ranks_;
    CpuQueue& queue_;
    HostWatch* watch_ = nullptr; // nobody, if null
    std::int64_t last_ = 0;      // of the run
    bool is_single_point_ = false;
    double latest_temperature_ = std::numeric_limits<double>::quiet_NaN();
    ConservedEnergy conserved_;
};

} // namespace parhelion
