// SPDX-License-Identifier: Apache-2.0
#include "dynamics/minimise/line_search.hpp"

#include <deque>
#include <vector>

namespace parhelion {

namespace {

using namespace minimiser_vector;

class Lbfgs final : public SearchRule
{
public:
    explicit Lbfgs(int corrections) : most_(corrections) {}

    // The two loops of Nocedal's paper (minimiser.hpp). Forces are negative gradients, so some signs differ.
    double next(EnergySurface& surface) override
    {
        surface.copy(search, {force, 1});
        if (corrections_.empty()) { return 0; }
        std::vector<double> parts(corrections_.size());
        for (std::size_t i = corrections_.size(); i-- > 0;)
        {
            const Correction& c = corrections_[i];
            parts[i] = surface.product(c.move, search) / c.curvature;
            surface.combine(search, {search, 1}, {c.change, -parts[i]});
        }
        const Correction& latest = corrections_.back();
        surface.copy(search, {search, latest.curvature / surface.product(latest.change, latest.change)});
        for (std::size_t i = 0; i < corrections_.size(); ++i)
        {
            const Correction& c = corrections_[i];
            surface.combine(search, {search, 1}, {c.move, parts[i] - surface.product(c.change, search) / c.curvature});
        }
        return 1;
    }
    void moved(EnergySurface& surface, double factor) override
    {
        Correction c = corrections_.size() < static_cast<std::size_t>(most_) ? fresh() : corrections_.front();
        if (corrections_.size() == static_cast<std::size_t>(most_)) { corrections_.pop_front(); }
        surface.copy(c.move, {search, factor});
        surface.combine(c.change, {force, 1}, {new_force, -1});
        c.curvature = surface.product(c.move, c.change);
        if (c.curvature > 0) { corrections_.push_back(c); }
        else { spare_.push_back(c); }
    }
    void forget() override
    {
        spare_.insert(spare_.end(), corrections_.begin(), corrections_.end());
        corrections_.clear();
    }
    bool knows_more_than_forces() const override { return !corrections_.empty(); }
    double sufficient_slope() const override { return 0.9; }

private:
    struct Correction
    {
        int move = 0, change = 0; // indices of vectors: a move, and the fall of the forces in it
        double curvature = 0;     // their product
    };

    Correction fresh()
    {
        if (spare_.empty())
        {
            const int first = first_of_minimiser + 2 * made_++;
            return {first, first + 1, 0};
        }
        const Correction c = spare_.back();
        spare_.pop_back();
        return c;
    }

    const int most_;
    int made_ = 0;
    std::deque<Correction> corrections_; // the latest last
    std::vector<Correction> spare_;      // vectors that are not in use
};

} // namespace

MinimisationEnd l_bfgs(EnergySurface& surface, const MinimiserSettings& settings, MinimiserListener& listener)
{
    Lbfgs rule(settings.corrections);
    return minimise_along_lines(surface, settings, listener, rule);
}

} // namespace parhelion
