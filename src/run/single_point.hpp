// SPDX-License-Identifier: Apache-2.0
// Whether one evaluation of forces is worth anything.
#pragma once

#include "engine/simulation.hpp"
#include "model/topology.hpp"

namespace parhelion {

// Throws PhysicsError, which names the atom, if the point of this simulation holds what is no finite number.
void expect_finite(Simulation& simulation, const SinglePoint& point, const Topology& topology);

} // namespace parhelion
