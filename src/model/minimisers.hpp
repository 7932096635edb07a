// SPDX-License-Identifier: Apache-2.0
// The integrators that are minimisers.
#pragma once

#include "model/run_parameters.hpp"

#include <algorithm>

namespace parhelion {

struct Minimiser
{
    Integrator integrator;
    const char* word; // the value of the option `integrator`
    const char* name; // name in texts for people
};
inline constexpr Minimiser minimisers[] = {{Integrator::SteepestDescent, "steep", "steepest descent"},
                                           {Integrator::ConjugateGradients, "cg", "conjugate gradients"},
                                           {Integrator::LBfgs, "l-bfgs", "L-BFGS"}};

constexpr bool is_minimisation(Integrator integrator)
{
    return std::ranges::find(minimisers, integrator, &Minimiser::integrator) != std::end(minimisers);
}

// Precondition: is_minimisation(integrator).
constexpr const Minimiser& minimiser(Integrator integrator)
{
    return *std::ranges::find(minimisers, integrator, &Minimiser::integrator);
}

} // namespace parhelion
