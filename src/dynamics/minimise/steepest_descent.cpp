// SPDX-License-Identifier: Apache-2.0
#include "dynamics/minimise/minimiser.hpp"

namespace parhelion {

MinimisationEnd steepest_descent(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener)
{
    constexpr double grow = 1.2, shrink = 0.2;
    using namespace minimiser_vector;
    double step = settings.step;
    std::optional<SurfacePoint> base;
    for (;;)
    {
        const std::optional<SurfacePoint> point = surface.evaluate();
        if (!point) { return MinimisationEnd::Stopped; }
        const bool is_lower = !base || point->potential < base->potential; // false if the energy is not a number
        if (is_lower)
        {
            if (base) { step *= grow; }
            base = point;
            surface.accept();
            surface.copy(search, {force, 1});
            listener.accepted(*base);
        }
        else { step *= shrink; }
        const bool is_at_rest = base->largest_force <= settings.tolerance;
        if (is_at_rest || !point->has_moved || !listener.goes_on())
        {
            if (!is_lower) { surface.return_to_base(); }
            return is_at_rest          ? MinimisationEnd::Converged
                   : !point->has_moved ? MinimisationEnd::MachinePrecision
                                       : MinimisationEnd::Stopped;
        }
        surface.move(step / base->largest_force);
    }
}

} // namespace parhelion
