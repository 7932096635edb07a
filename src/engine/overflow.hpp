// SPDX-License-Identifier: Apache-2.0
// Explains an evaluation whose values are not finite. Cost: a pass over the
// forces, and a second pass over the positions if a value is not finite.
#pragma once

#include "engine/observer.hpp"
#include "model/topology.hpp"

#include <string>

namespace parhelion {

bool is_excluded(const Topology& topology, std::int64_t a, std::int64_t b);

// Returns an empty text if energies, virials, pressure and forces are all finite. Otherwise the text names
// the atom with the worst force and the atom nearest to that atom. `frame` has box, positions and forces.
std::string overflow_text(const Observables& observables, const Frame& frame, const Topology& topology);

} // namespace parhelion
