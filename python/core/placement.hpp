// SPDX-License-Identifier: Apache-2.0
// How exactly a simulation is computed, and where, as an argument from Python.
#pragma once

#include "engine/options.hpp"
#include "state.hpp"

namespace parhelion::python {

struct Placement
{
    RunNumerics numerics;
    RunPlacement placement;
};

nb::dict to_dict(const PlanSummary& plan);

} // namespace parhelion::python
