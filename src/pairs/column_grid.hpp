// SPDX-License-Identifier: Apache-2.0
// The grid of columns in x and y that cluster order and pair search share. A fixed-point coordinate x is
// in column (x * n) >> 32. This is computed in integers, so cluster order and pair search always agree.
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

// Returns a grid whose columns are about as wide as a cluster is deep, at the mean density of `atoms` in `box` (nm).
ColumnGrid column_grid(const Box<double>& box, std::size_t atoms);

} // namespace parhelion
