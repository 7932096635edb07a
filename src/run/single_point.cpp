// SPDX-License-Identifier: Apache-2.0
#include "run/single_point.hpp"

#include "base/error.hpp"
#include "engine/overflow.hpp"

#include <string>

namespace parhelion {

void expect_finite(Simulation& simulation, const SinglePoint& point, const Topology& topology)
{
    Frame frame = simulation.frame();
    frame.f = point.forces;
    const std::string text = overflow_text(point.observables, frame, topology);
    if (!text.empty()) { throw PhysicsError(point.observables.step, point.trouble.empty() ? text : point.trouble); }
}

} // namespace parhelion
