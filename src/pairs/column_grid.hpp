// SPDX-License-Identifier: Apache-2.0
// The xy grid of columns that cluster order and pair search share: a fixed-point coordinate falls into column (x * n) >> 32, in
// integers, so that both sides always agree.
#pragma once

#include "base/box.hpp"

#include <cstdint>

namespace parhelion {

struct ColumnGrid
{
    int nx = 1, ny = 1;

    int columns() const { return nx * ny; }
    static int cell(std::uint32_t x, int n)
    {
        return static_cast<int>((static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(n)) >> 32);
    }
    int column(std::uint32_t x, std::uint32_t y) const { return cell(x, nx) * ny + cell(y, ny); }
};

// Columns about as wide as a cluster is deep at the mean density of `atoms` atoms in `box` (nm), so that clusters are compact.
ColumnGrid column_grid(const Box<double>& box, std::size_t atoms);

} // namespace parhelion
