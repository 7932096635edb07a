// SPDX-License-Identifier: Apache-2.0
// Simulated annealing: reference temperatures that follow given points in time.
//
// The idea: the temperature is a function of time alone, so that a run that is continued needs no state of it. It is the one that
// thermostats, friction and the noise of C-rescale use at the time of the step they act in.
#pragma once

#include "base/host_device.hpp"
#include "model/run_parameters.hpp"

#include <cmath>

namespace parhelion {

// K, at `time` ps: linear between points, the last one's after it, or from the first again after the last one's time (Periodic).
// At a jump, two points of one time, it is that of the first; before the first point its line goes on. points: two or more, of
// which the last is later than 0 for Periodic.
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
