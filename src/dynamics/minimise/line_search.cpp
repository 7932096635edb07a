// SPDX-License-Identifier: Apache-2.0
#include "dynamics/minimise/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parhelion {

namespace {

using namespace minimiser_vector;

constexpr double longest_move = 0.1;     // largest move of an atom, nm: farther, it could jump over neighbours
constexpr double sufficient_fall = 1e-4; // least fall of the energy, relative to the fall that the slope at the base predicts

struct LinePoint
{
    double factor = 0, energy = 0, slope = 0; // factor on `search`; energy there, and its derivative by the factor
};

// Finds a lower point on the line from the base along `search`.
class Line
{
public:
    Line(EnergySurface& surface, MinimiserListener& listener, double rounding, double sufficient_slope, const LinePoint& base)
        : surface_(surface), listener_(listener), noise_(rounding * std::abs(base.energy)), sufficient_slope_(sufficient_slope),
          base_(base), low_(base)
    {
    }

    enum class Outcome
    {
        Found, // the surface is at point(), which was evaluated last
        NotFound,
        DoesNotMove,
        Stopped
    };
    Outcome search(double factor, double largest_factor)
    {
        constexpr int most_points = 20;
        for (int i = 0; i < most_points; ++i)
        {
            const Outcome outcome = go_to(factor);
            if (outcome != Outcome::Found) { return outcome; }
            if (!std::isfinite(now_.slope)) // the point is too far, by an unknown factor
            {
                factor = largest_factor = low_.factor + 0.2 * (factor - low_.factor);
                continue;
            }
            const bool is_low = is_lower(now_);
            if (is_low && std::abs(now_.slope) <= sufficient_slope_ * -base_.slope) { return Outcome::Found; }
            if (is_low && now_.slope < 0 && factor >= largest_factor) { return Outcome::Found; }
            if (is_low && now_.slope < 0) { before_ = low_, low_ = now_; }
            else { high_ = now_, is_enclosed_ = true; }
            factor = is_enclosed_ ? between() : std::min(largest_factor, beyond());
            if (i % 4 == 3 && is_enclosed_) { factor = 0.5 * (low_.factor + high_.factor); } // interpolation may be slow
        }
        if (low_.factor == 0) { return Outcome::NotFound; }
        return now_.factor == low_.factor ? Outcome::Found : go_to(low_.factor);
    }
    const SurfacePoint& point() const { return point_; }
    double factor() const { return now_.factor; }

private:
    Outcome go_to(double factor)
    {
        if (!listener_.goes_on()) { return Outcome::Stopped; }
        surface_.move(factor);
        const std::optional<SurfacePoint> point = surface_.evaluate();
        if (!point) { return Outcome::Stopped; }
        if (!point->has_moved) { return Outcome::DoesNotMove; }
        point_ = *point;
        now_ = {factor, point->potential, std::numeric_limits<double>::quiet_NaN()};
        if (std::isfinite(now_.energy)) { now_.slope = -surface_.product(new_force, search_); }
        return Outcome::Found;
    }
    bool is_lower(const LinePoint& p) const
    {
        const bool has_fallen = p.energy <= base_.energy + sufficient_fall * p.factor * base_.slope;
        const bool slope_tells_so = p.energy <= base_.energy + noise_ && p.slope <= (2 * sufficient_fall - 1) * base_.slope;
        return has_fallen || slope_tells_so;
    }
    // Returns a factor beyond the last point, where the slope would be 0 if it continued to change at the same rate.
    double beyond() const
    {
        const double rise = low_.slope - before_.slope, step = low_.factor - before_.factor;
        const double to_zero = rise > 0 ? -low_.slope * step / rise : std::numeric_limits<double>::infinity();
        return low_.factor + std::clamp(to_zero, 0.01 * low_.factor, 9 * low_.factor);
    }
    // Returns a factor between the two points that enclose a minimum.
    double between() const
    {
        const double width = high_.factor - low_.factor;
        double share = 0.5;
        const double above = high_.energy - low_.energy - low_.slope * width;
        if (high_.slope > 0) { share = low_.slope / (low_.slope - high_.slope); } // where the slope is 0, if it is linear
        else if (above > 0) // where the parabola through the energies and the slope at `low_` is lowest
        {
            share = -0.5 * low_.slope * width / above;
        }
        return low_.factor + std::clamp(share, 1e-3, 1 - 1e-3) * width;
    }

    static constexpr int search_ = minimiser_vector::search;
    EnergySurface& surface_;
    MinimiserListener& listener_;
    const double noise_, sufficient_slope_;
    const LinePoint base_;
    LinePoint low_, before_,
        now_;        // low_: the farthest lower point from which the energy goes on to fall; before_: the previous low_
    LinePoint high_; // a point beyond the minimum, if is_enclosed_
    bool is_enclosed_ = false;
    SurfacePoint point_;
};

} // namespace

MinimisationEnd minimise_along_lines(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener,
                                     SearchRule& rule)
{
    const std::optional<SurfacePoint> first = surface.evaluate();
    if (!first) { return MinimisationEnd::Stopped; }
    SurfacePoint base = *first;
    for (;;)
    {
        surface.accept();
        listener.accepted(base);
        if (base.largest_force <= settings.tolerance) { return MinimisationEnd::Converged; }
        for (;;)
        {
            double factor = rule.next(surface);
            double slope = -surface.product(force, search);
            if (!(slope < 0)) // rounding
            {
                rule.forget();
                factor = rule.next(surface);
                slope = -surface.product(force, search);
            }
            const double length = surface.largest(search), largest_factor = longest_move / length;
            if (factor == 0) { factor = settings.step / length; }
            Line line(surface, listener, settings.rounding, rule.sufficient_slope(), {0, base.potential, slope});
            const Line::Outcome outcome = line.search(std::min(factor, largest_factor), largest_factor);
            if (outcome == Line::Outcome::Found)
            {
                rule.moved(surface, line.factor());
                base = line.point();
                break;
            }
            const bool may_go_on = outcome != Line::Outcome::Stopped && rule.knows_more_than_forces();
            if (!may_go_on)
            {
                surface.return_to_base();
                return outcome == Line::Outcome::Stopped       ? MinimisationEnd::Stopped
                       : outcome == Line::Outcome::DoesNotMove ? MinimisationEnd::MachinePrecision
                                                               : MinimisationEnd::NoLowerEnergy;
            }
            rule.forget();
        }
    }
}

} // namespace parhelion
