// SPDX-License-Identifier: Apache-2.0
#include "io/input/accelerated_groups.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

void take_accelerated_groups(MdpInput& input)
{
    const std::vector<double>& numbers = input.accelerations;
    std::vector<AcceleratedGroup>& groups = input.parameters.accelerated_groups;
    groups.clear();
    const bool accelerates = std::ranges::any_of(numbers, [](double a) { return a != 0; });
    if (!accelerates && (input.accelerated_groups.empty() || !numbers.empty())) { return; }
    if (numbers.size() != 3 * input.accelerated_groups.size())
    {
        throw InputError(
            "E107", input.where(input.gives("accelerate") ? "accelerate" : "acc-grps"),
            fmt::format("acc-grps names {} groups, and accelerate has {} numbers. Give three of each group, for x, y "
                        "and z.",
                        input.accelerated_groups.size(), numbers.size()));
    }
    for (std::size_t i = 0; i < input.accelerated_groups.size(); ++i)
    {
        const Vec3<double> acceleration{numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
        if (acceleration != Vec3<double>{}) { groups.push_back({input.accelerated_groups[i], acceleration}); }
    }
}

} // namespace parhelion
