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
    NoLowerEnergy,    // no point along the forces has a lower energy, up to rounding
    Stopped           // the listener has ended the minimisation, or an evaluation has failed
};

struct MinimiserSettings
{
    double step = 0.01;    // the largest move of an atom in the first step, nm
    double tolerance = 10; // kJ/mol/nm
    // The following settings serve conjugate gradients and L-BFGS.
    double rounding = 1e-12; // relative error of energies
    int restart = 1000; // conjugate gradients: the number of moves after which the search begins anew, along the forces; 0: never
    int corrections = 10; // L-BFGS: the number of moves from which the curvature is estimated
};

// Receives the progress of a minimiser. At each call the surface is at the point that the call is about.
class MinimiserListener
{
public:
    virtual ~MinimiserListener() = default;
    virtual void accepted(const SurfacePoint& base) = 0; // a new base
    virtual bool goes_on() = 0;                          // called before each evaluation but the first; false: stop
};

// Steepest descent with an adaptive step: robust far from a minimum, slow near it. The atom with the largest force moves by
// `step`, all others in proportion to their force. If the energy falls, the new point is the base and the step grows by 1.2.
// Otherwise the step is multiplied by 0.2. At the end the surface is at the base.
MinimisationEnd steepest_descent(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener);

// Conjugate gradients (Polak and Ribiere 1969; Gilbert and Nocedal, SIAM J. Optim. 2, 21, 1992): each line goes along the forces
// plus a multiple of the previous direction. On a quadratic surface of n different curvatures it ends after n lines.
MinimisationEnd conjugate_gradients(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener);

// L-BFGS (Nocedal, Math. Comp. 35, 773, 1980): the latest moves and changes of forces estimate the curvature. Cost: two vectors
// for each of them.
MinimisationEnd l_bfgs(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener);

} // namespace parhelion
