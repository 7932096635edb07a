// SPDX-License-Identifier: Apache-2.0
// Simulated annealing: reference temperatures that follow given points in time.
//
// The idea: the reference temperature depends on time alone, so a continued run needs no saved value of it. Thermostats,
// friction and the noise of C-rescale use the reference temperature at the time of the step in which they act.
#pragma once

#include "base/host_device.hpp"
#include "model/run_parameters.hpp"

#include <cmath>

namespace parhelion {

// Returns the reference temperature at `time` ps, K. It is linear between points. After the last point it is constant
// or, with Periodic, starts again from the first point. Before the first point its line is extrapolated. If two points
// have the same time, the first counts at that time. points: two or more; with Periodic the last one is later than 0.
PARHELION_HD inline double annealed_temperature(Annealing kind, const AnnealingPoint* points, int count, double time)
{
    if (kind == Annealing::Periodic)
    {
        const double period = points[count - 1].time;
        time -= period * floor(time / period);
    }
    int next = 1;
    while (next < count && time > points[next].time) { ++next; }
    if (next == count) { return points[count - 1].temperature; }
    const AnnealingPoint &a = points[next - 1], &b = points[next];
    if (!(b.time > a.time)) { return b.temperature; }
    const double part = (time - a.time) / (b.time - a.time);
    return part * b.temperature + (1 - part) * a.temperature;
}

} // namespace parhelion
