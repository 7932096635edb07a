// SPDX-License-Identifier: Apache-2.0
// What to say of an evaluation that has left the range of numbers. Cost: a pass over the forces; if something is wrong, one over
// the positions.
#pragma once

#include "engine/observer.hpp"
#include "model/topology.hpp"

#include <string>

namespace parhelion {

bool is_excluded(const Topology& topology, std::int64_t a, std::int64_t b);

// Names the atom with the worst force and what is nearest to it if an energy, a virial, the pressure or a force is not a finite
// number; else empty. `frame`: box, positions and forces.
std::string overflow_text(const Observables& observables, const Frame& frame, const Topology& topology);

} // namespace parhelion
