// SPDX-License-Identifier: Apache-2.0
// An estimate of how many steps a minimisation still takes until no force is above the tolerance.
//
// The idea: as long as a minimisation advances, the largest force falls by about the same factor in equal numbers of steps. From
// one point to the next it also rises, so only the lowest value so far counts. The rate is that of the second half of the steps,
// as the first steps separate overlapping atoms and are faster. Cost: an entry for each fall by one per cent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace parhelion {

class ForceTrend
{
public:
    // tolerance: kJ/mol/nm.
    explicit ForceTrend(double tolerance) : tolerance_(tolerance) {}

    // Adds a point of a minimisation. Points must come in the order of their steps. largest_force: kJ/mol/nm.
    void add(std::int64_t step, double largest_force);
    // Returns the number of steps from the latest point on; nothing if the force has not fallen in the second half of the steps.
    std::optional<double> steps_left() const;

private:
    struct Fall
    {
        std::int64_t step;
        double lowest; // kJ/mol/nm, so far
    };
    double tolerance_;
    std::vector<Fall> falls_; // the first one is the first point
    std::int64_t latest_step_ = 0;
};

} // namespace parhelion
