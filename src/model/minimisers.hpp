// SPDX-License-Identifier: Apache-2.0
// The integrators that are minimisers.
#pragma once

#include "model/run_parameters.hpp"

namespace parhelion {

inline bool is_minimisation(Integrator integrator) { return integrator == Integrator::SteepestDescent; }

} // namespace parhelion
