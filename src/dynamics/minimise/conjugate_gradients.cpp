// SPDX-License-Identifier: Apache-2.0
#include "dynamics/minimise/line_search.hpp"

#include <algorithm>

namespace parhelion {

namespace {

using namespace minimiser_vector;

class ConjugateGradients final : public SearchRule
{
public:
    explicit ConjugateGradients(int restart) : restart_(restart) {}

    double next(EnergySurface& surface) override
    {
        surface.combine(search, {force, 1}, {search, part_before_});
        return factor_;
    }
    void moved(EnergySurface& surface, double factor) override
    {
        const double before = surface.product(force, force), now = surface.product(new_force, new_force);
        const double part = (now - surface.product(new_force, force)) / before;
        const double slope_before = surface.product(force, search);
        ++moves_;
        part_before_ = restart_ > 0 && moves_ % restart_ == 0 ? 0 : std::max(0.0, part);
        // The line begins with the factor by which the energy would fall as much as on the previous line.
        const double slope = now + part_before_ * surface.product(new_force, search);
        factor_ = slope > 0 ? factor * std::min(10.0, slope_before / slope) : 0;
    }
    void forget() override { part_before_ = factor_ = 0; }
    bool knows_more_than_forces() const override { return part_before_ > 0 || factor_ > 0; }
    double sufficient_slope() const override { return 0.03; }

private:
    const int restart_;
    std::int64_t moves_ = 0;
    double part_before_ = 0, factor_ = 0; // weight of the last direction; factor with which the next line begins
};

} // namespace

MinimisationEnd conjugate_gradients(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener)
{
    ConjugateGradients rule(settings.restart);
    return minimise_along_lines(surface, settings, listener, rule);
}

} // namespace parhelion
