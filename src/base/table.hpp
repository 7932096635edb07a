// SPDX-License-Identifier: Apache-2.0
// Helpers for constant tables that have one row for each value of an enum.
#pragma once

#include <cstddef>

namespace parhelion {

// Returns whether, for every i, row i of the table holds the enum's value i.
template <class Row, std::size_t rows, class Enum>
constexpr bool is_in_order(const Row (&table)[rows], Enum Row::*key)
{
    for (std::size_t i = 0; i < rows; ++i)
    {
        if (static_cast<std::size_t>(table[i].*key) != i) { return false; }
    }
    return true;
}

} // namespace parhelion
