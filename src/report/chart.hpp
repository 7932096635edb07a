// SPDX-License-Identifier: Apache-2.0
// A chart of values over time as inline SVG: axes with units, grid lines, a curve for each run. A long series is thinned to
// the smallest and largest value in each of a few hundred columns. So no peak is lost, and a chart is smaller than 20 kB.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

struct Curve
{
    std::span<const double> times, values; // times are in ps unless the labels say otherwise; same length
    double mean = 0;                       // mean of the values, drawn as a line; NaN: no line
};

struct ChartLabels
{
    std::string title, unit; // plain text, not markup
    std::string along = "";  // label of the horizontal axis; empty: time in ps
};

// Returns the points that a chart shows: the smallest and the largest value of each of at most `columns` parts of the series,
// in the order of time. Values that are not finite are left out. Precondition: both spans have the same length, columns > 0.
std::vector<std::pair<double, double>> thinned(std::span<const double> times, std::span<const double> values,
                                               std::size_t columns);

// Returns at most seven round numbers that divide the range evenly. Precondition: low < high, both finite.
std::vector<double> ticks(double low, double high);

// Returns a <figure>, or nothing if no curve has a finite value. Curves without a finite value are left out.
std::string draw_chart(const ChartLabels& labels, const std::vector<Curve>& curves);

} // namespace parhelion
