// SPDX-License-Identifier: Apache-2.0
// Minimisers that search along lines: each line begins at the base, and the point that is found becomes the next base.
//
// The idea: energy and slope along the line are known at each point that is evaluated. A point is taken if the energy has fallen
// and the slope is at most a given fraction of that at the base (the conditions of Wolfe). Near the minimum the rounding of
// energies hides their fall; there a point is taken by its slope alone (Hager and Zhang, SIAM J. Optim. 16, 170, 2005). Cost:
// one or two evaluations a line.
#pragma once

#include "dynamics/minimise/minimiser.hpp"

namespace parhelion {

// A rule for the direction of the next line.
class SearchRule
{
public:
    virtual ~SearchRule() = default;
    // Sets the vector `search` for the forces at the base. Returns the factor on it with which to begin; 0: none is known.
    virtual double next(EnergySurface& surface) = 0;
    // Called after a move by factor * search, before the surface accepts its point.
    virtual void moved(EnergySurface& surface, double factor) = 0;
    virtual void forget() = 0;                       // the next line is along the forces
    virtual bool knows_more_than_forces() const = 0; // returns whether forget() would change the next line
    virtual double sufficient_slope() const = 0;     // slope with which a line may end, relative to that at the base
};

MinimisationEnd minimise_along_lines(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener,
                                     SearchRule& rule);

} // namespace parhelion
