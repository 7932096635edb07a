// SPDX-License-Identifier: Apache-2.0
// Minimisers of the energy. Each is a function over a surface (minimise/surface.hpp) and knows no atoms.
#pragma once

#include "dynamics/minimise/surface.hpp"

#include <cstdint>

namespace parhelion {

enum class MinimisationEnd : std::uint8_t
{
    Converged,        // the largest force at the base is at or below the tolerance
    MachinePrecision, // the next step is too small to change a position
    Stopped           // the listener has ended the minimisation, or an evaluation has failed
};

struct MinimiserSettings
{
    double step = 0.01;    // the largest move of an atom in the first step, nm
    double tolerance = 10; // kJ/mol/nm
};

// Is told of the progress of a minimiser. When it is called, the surface is at the point in question.
class MinimiserListener
{
public:
    virtual ~MinimiserListener() = default;
    virtual void accepted(const SurfacePoint& base) = 0; // a new base
    virtual bool goes_on() = 0;                          // asked before each evaluation except the first; false: end here
};

// Steepest descent with an adaptive step: robust far from a minimum, slow near it. The atom with the largest force moves by
// `step`, all others in proportion to their force. If the energy falls, the new point is the base and the step grows by 1.2.
// Otherwise the step is multiplied by 0.2. At the end the surface is at the base.
MinimisationEnd steepest_descent(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener);

} // namespace parhelion
