// SPDX-License-Identifier: Apache-2.0
// Checks the result of one evaluation of forces.
#pragma once

#include "engine/simulation.hpp"
#include "model/topology.hpp"

namespace parhelion {

// Throws PhysicsError, which names the atom, if the result contains a number that is not finite.
void expect_finite(Simulation& simulation, const SinglePoint& point, const Topology& topology);

} // namespace parhelion
