// SPDX-License-Identifier: Apache-2.0
#include "domain/load_balance.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace parhelion {

namespace {

constexpr double whole = 0x1p32; // units of a box edge

// Borders of one dimension in units of the box edge, with 0 and 1 at the ends.
using Borders = std::vector<double>;

Borders borders_of(const CellGrid& grid, int d)
{
    Borders borders;
    for (int c = 0; c <= grid.cells[static_cast<std::size_t>(d)]; ++c)
    {
        borders.push_back(static_cast<double>(grid.lower(d, c)) / whole);
    }
    return borders;
}

// Returns the places where the sum of the layers' work reaches equal parts. The work of a layer is even within the layer.
Borders of_equal_work(const Borders& now, const std::vector<double>& work)
{
    const std::size_t layers = work.size();
    const double total = std::accumulate(work.begin(), work.end(), 0.0);
    Borders wanted = now;
    std::size_t layer = 0;
    double below = 0; // work of the layers below `layer`
    for (std::size_t k = 1; k < layers; ++k)
    {
        const double part = total * static_cast<double>(k) / static_cast<double>(layers);
        while (layer + 1 < layers && below + work[layer] < part) { below += work[layer++]; }
        const double share = work[layer] > 0 ? std::clamp((part - below) / work[layer], 0.0, 1.0) : 1.0;
        wanted[k] = now[layer] + share * (now[layer + 1] - now[layer]);
    }
    return wanted;
}

// Widens layers that are thinner than `thinnest` at the expense of the layers next to them.
void keep_apart(Borders& borders, double thinnest)
{
    const std::size_t layers = borders.size() - 1;
    for (std::size_t k = 1; k < layers; ++k) { borders[k] = std::max(borders[k], borders[k - 1] + thinnest); }
    for (std::size_t k = layers - 1; k > 0; --k) { borders[k] = std::min(borders[k], borders[k + 1] - thinnest); }
}

// Moves borders from `now` towards `wanted`. Both have no layer thinner than `thinnest`, hence the result has none.
Borders towards(const Borders& now, Borders wanted, double thinnest)
{
    constexpr double at_once = 0.7;               // fraction of the way that a border moves at once
    constexpr double farthest = 0.25, sure = 0.5; // limits of a move, as fractions of the thinner layer beside it
    const auto thinner = [&](std::size_t k) { return std::min(now[k] - now[k - 1], now[k + 1] - now[k]); };
    for (std::size_t k = 1; k + 1 < now.size(); ++k)
    {
        const double most = farthest * thinner(k);
        wanted[k] = now[k] + std::clamp(at_once * (wanted[k] - now[k]), -most, most);
    }
    keep_apart(wanted, thinnest);
    double part = 1; // keep_apart() may have pushed a border farther than it may move
    for (std::size_t k = 1; k + 1 < now.size(); ++k)
    {
        const double way = std::abs(wanted[k] - now[k]), most = sure * thinner(k);
        if (way > most) { part = std::min(part, most / way); }
    }
    for (std::size_t k = 1; k + 1 < now.size(); ++k) { wanted[k] = now[k] + part * (wanted[k] - now[k]); }
    return wanted;
}

} // namespace

double imbalance(std::span<const RankWork> work)
{
    double sum = 0, most = 0;
    for (const RankWork& rank : work) { sum += rank.sum(), most = std::max(most, rank.sum()); }
    return sum > 0 ? most * static_cast<double>(work.size()) / sum - 1 : 0;
}

std::array<double, 3> thinnest_cells(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach)
{
    const std::array<int, 3> pulses = pulses_for({grid.cells}, box, reach);
    const Vec3<double> heights = box.heights();
    std::array<double, 3> thinnest{};
    for (std::size_t d = 0; d < 3; ++d)
    {
        constexpr double margin = 1 + 1e-3; // margin for rounding and for a box that shrinks
        const auto dim = static_cast<int>(d);
        const double equal = 1.0 / grid.cells[d];
        thinnest[d] = grid.cells[d] == 1 ? equal : std::min(equal, margin * reach[dim] / (pulses[d] * heights[dim]));
    }
    return thinnest;
}

std::array<std::vector<double>, 3> borders_in_edges(const CellGrid& grid)
{
    std::array<std::vector<double>, 3> between;
    for (int d = 0; d < 3; ++d)
    {
        const Borders borders = borders_of(grid, d);
        between[static_cast<std::size_t>(d)].assign(borders.begin() + 1, borders.end() - 1);
    }
    return between;
}

CellGrid with_moved_borders(const CellGrid& grid, std::span<const RankWork> work, const std::array<double, 3>& thinnest)
{
    PARHELION_EXPECTS(work.size() == static_cast<std::size_t>(grid.ranks()));
    CellGrid moved = grid;
    for (std::size_t d = 0; d < 3; ++d)
    {
        if (grid.cells[d] == 1) { continue; }
        std::vector<double> of_layer(static_cast<std::size_t>(grid.cells[d]));
        for (int rank = 0; rank < grid.ranks(); ++rank)
        {
            of_layer[static_cast<std::size_t>(grid.cell_of(rank)[d])] += work[static_cast<std::size_t>(rank)].of_atoms;
        }
        const Borders now = borders_of(grid, static_cast<int>(d));
        const Borders borders = towards(now, of_equal_work(now, of_layer), thinnest[d]);
        moved.borders[d].clear();
        for (std::size_t k = 1; k + 1 < borders.size(); ++k)
        {
            moved.borders[d].push_back(static_cast<std::uint32_t>(std::llround(borders[k] * whole)));
        }
    }
    return moved;
}

void LoadBalancer::rest(double imbalance)
{
    is_moving_ = false;
    times_over_ = 0;
    resting_ = imbalance;
}

std::optional<CellGrid> LoadBalancer::consider(const CellGrid& now, std::span<const RankWork> work)
{
    constexpr double balanced = 0.03;     // an imbalance that is not worth a move
    constexpr double noticeable = 0.01;   // a smaller change of the imbalance is noise
    constexpr int patience = 5, sure = 2; // numbers of calls
    if (choice_ == Balancing::Off || now.ranks() == 1) { return {}; }
    has_measured_ = true;
    record_.imbalance = imbalance(work);
    if (record_.moves == 0) { record_.first_imbalance = record_.imbalance; }
    if (!is_moving_)
    {
        const bool is_new = std::abs(record_.imbalance - resting_) > start_threshold();
        times_over_ = record_.imbalance > start_threshold() && is_new ? times_over_ + 1 : 0;
        if (times_over_ < sure) { return {}; }
        is_moving_ = true;
        best_ = std::numeric_limits<double>::infinity();
        moves_in_vain_ = 0;
    }
    if (record_.imbalance < best_ - noticeable) { best_ = record_.imbalance, moves_in_vain_ = 0; }
    else { ++moves_in_vain_; }
    if (record_.imbalance < balanced)
    {
        rest(0);
        return {};
    }
    if (moves_in_vain_ >= patience)
    {
        rest(record_.imbalance);
        return {};
    }
    ++record_.moves;
    return with_moved_borders(now, work, thinnest_);
}

} // namespace parhelion
