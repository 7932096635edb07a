// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include "base/error.hpp"
#include "report/html.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <limits>

namespace parhelion {

namespace {

// Lengths are in the units of the SVG picture, about one pixel each.
constexpr double width = 400, height = 230, left = 62, right = 10, top = 10, bottom = 38;
constexpr std::size_t columns = 300;

struct Range
{
    double low = std::numeric_limits<double>::infinity(), high = -low;

    void include(double x) { low = std::min(low, x), high = std::max(high, x); }
    bool is_empty() const { return !(low <= high); }
    // Returns a range of non-zero width and, unless `tight`, with some space beyond the values.
    Range widened(bool tight) const
    {
        const double size = high - low, least = std::max(std::abs(low), std::abs(high)) * 1e-9;
        const double more = size > least ? (tight ? 0 : 0.05 * size) : low == 0 ? 1 : 1e-3 * std::abs(low);
        return {low - more, high + more};
    }
};

// An axis of a chart. It shows (value - offset) / unit.
struct Axis
{
    Range range; // range of the values on the axis
    double offset = 0, unit = 1;
    double begin = 0, end = 0; // coordinates of low and high in the picture

    double place(double value) const { return begin + (value - range.low) / (range.high - range.low) * (end - begin); }
};

Axis time_axis(Range range, std::string& unit)
{
    const double largest = std::max(std::abs(range.low), std::abs(range.high));
    const bool is_us = largest >= 1e6, is_ns = !is_us && largest >= 1e3;
    unit = is_us ? "µs" : is_ns ? "ns" : "ps";
    return {range.widened(true), 0, is_us ? 1e6 : is_ns ? 1e3 : 1, left, width - right};
}

// Returns the axis of values. Large or small values are in powers of a thousand; nearly constant ones relative to the first.
Axis value_axis(Range range, double first, std::string& unit)
{
    Axis axis{range.widened(false), 0, 1, height - bottom, top};
    const double largest = std::max(std::abs(range.low), std::abs(range.high));
    if (axis.range.high - axis.range.low < 1e-4 * largest)
    {
        axis.offset = first;
        unit += fmt::format(", from {:.9g}", first);
    }
    const double shown = axis.offset == 0 ? largest : axis.range.high - axis.range.low;
    if (shown > 0 && (shown >= 1e5 || shown < 1e-2))
    {
        const int power = 3 * static_cast<int>(std::floor(std::log10(shown) / 3));
        axis.unit = std::pow(10.0, power);
        unit = fmt::format("10^{} {}", power, unit);
    }
    return axis;
}

struct Tick
{
    double place;
    std::string label;
};

std::vector<Tick> ticks_of(const Axis& axis)
{
    const auto shown = [&](double value) { return (value - axis.offset) / axis.unit; };
    const std::vector<double> at = ticks(shown(axis.range.low), shown(axis.range.high));
    const double step = at.size() > 1 ? at[1] - at[0] : 1;
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
    std::vector<Tick> list;
    for (const double value : at)
    {
        list.push_back({axis.place(value * axis.unit + axis.offset),
                        fmt::format("{:.{}f}", std::abs(value) < 1e-9 * step ? 0 : value, decimals)});
    }
    return list;
}

void draw_axes(const Axis& x, const Axis& y, const std::string& along, std::string& svg)
{
    auto out = std::back_inserter(svg);
    for (const Tick& tick : ticks_of(y))
    {
        fmt::format_to(out, "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"y\" x=\"{}\" y=\"{:.1f}\">{}</text>", left,
                       tick.place, width - right, left - 5, tick.place + 4, tick.label);
    }
    for (const Tick& tick : ticks_of(x))
    {
        fmt::format_to(out, "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text class=\"x\" x=\"{0:.1f}\" y=\"{3}\">{4}</text>",
                       tick.place, top, height - bottom, height - bottom + 15, tick.label);
    }
    fmt::format_to(out, "<path class=\"axis\" d=\"M{} {}V{}H{}\"/><text class=\"x\" x=\"{:.1f}\" y=\"{}\">{}</text>", left, top,
                   height - bottom, width - right, 0.5 * (left + width - right), height - 6, escaped(along));
}

void draw_curve(const Curve& curve, std::size_t number, const Axis& x, const Axis& y, std::string& svg)
{
    const auto points = thinned(curve.times, curve.values, columns);
    if (points.empty()) { return; }
    auto out = std::back_inserter(svg);
    if (std::isfinite(curve.mean) && points.size() > 1 && curve.mean >= y.range.low && curve.mean <= y.range.high)
    {
        fmt::format_to(out, "<path class=\"mean c{}\" d=\"M{} {:.1f}H{}\"/>", number, left, y.place(curve.mean), width - right);
    }
    fmt::format_to(out, "<path class=\"curve c{}\" d=\"", number);
    for (std::size_t i = 0; i < points.size(); ++i)
    {
        fmt::format_to(out, "{}{:.2f} {:.2f}", i == 0 ? 'M' : 'L', x.place(points[i].first), y.place(points[i].second));
    }
    if (points.size() == 1) { svg += "h0"; } // draws a dot, because lines have round ends
    svg += "\"/>";
}

} // namespace

std::vector<std::pair<double, double>> thinned(std::span<const double> times, std::span<const double> values, std::size_t most)
{
    PARHELION_EXPECTS(times.size() == values.size() && most > 0);
    std::vector<std::pair<double, double>> points;
    const std::size_t stretches = std::min(most, (values.size() + 1) / 2);
    for (std::size_t s = 0; s < stretches; ++s)
    {
        const std::size_t begin = values.size() * s / stretches, end = values.size() * (s + 1) / stretches;
        std::size_t least = end, largest = end; // `end` means that no value has been found
        for (std::size_t i = begin; i < end; ++i)
        {
            if (!std::isfinite(values[i])) { continue; }
            if (least == end || values[i] < values[least]) { least = i; }
            if (largest == end || values[i] >= values[largest]) { largest = i; }
        }
        if (least == end) { continue; }
        for (const std::size_t i : {std::min(least, largest), std::max(least, largest)})
        {
            if (points.empty() || points.back().first != times[i]) { points.emplace_back(times[i], values[i]); }
        }
    }
    return points;
}

std::vector<double> ticks(double low, double high)
{
    PARHELION_EXPECTS(low < high && std::isfinite(low) && std::isfinite(high));
    constexpr double most = 6;
    const double power = std::pow(10.0, std::floor(std::log10((high - low) / most)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
    {
        if ((high - low) / (factor * power) <= most) { step = factor * power; }
    }
    std::vector<double> list;
    for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n += 1) { list.push_back(n * step); }
    return list;
}

std::string draw_chart(const ChartLabels& labels, const std::vector<Curve>& curves)
{
    Range times, values;
    double first = std::numeric_limits<double>::quiet_NaN();
    for (const Curve& curve : curves)
    {
        for (std::size_t i = 0; i < curve.values.size(); ++i)
        {
            if (!std::isfinite(curve.values[i])) { continue; }
            if (values.is_empty()) { first = curve.values[i]; }
            values.include(curve.values[i]);
            times.include(curve.times[i]);
        }
    }
    if (values.is_empty()) { return ""; }
    std::string time_unit, unit = labels.unit.empty() ? "" : labels.unit;
    const bool is_time = labels.along.empty();
    const Axis x = is_time ? time_axis(times, time_unit) : Axis{times.widened(true), 0, 1, left, width - right};
    const Axis y = value_axis(values, first, unit);
    // page.js uses these numbers to show values of the curves: value = a + b * coordinate.
    const auto slope = [](const Axis& axis) { return (axis.range.high - axis.range.low) / (axis.end - axis.begin); };
    std::string svg = fmt::format(
        "<figure><figcaption>{0}{1}</figcaption><svg viewBox=\"0 0 {2} {3}\" role=\"img\" aria-label=\"{0} over {10}\" "
        "data-x=\"{4:.9g} {5:.9g} {6}\" data-y=\"{7:.12g} {8:.9g} {9}\">",
        escaped(labels.title), unit.empty() ? "" : " <small>" + escaped(unit) + "</small>", width, height,
        (x.range.low - x.begin * slope(x)) / x.unit, slope(x) / x.unit, is_time ? time_unit : escaped(labels.along),
        y.range.low - y.begin * slope(y), slope(y), escaped(labels.unit), is_time ? "time" : escaped(labels.along));
    draw_axes(x, y, is_time ? "time / " + time_unit : labels.along, svg);
    for (std::size_t i = 0; i < curves.size(); ++i) { draw_curve(curves[i], i, x, y, svg); }
    return svg + "<path class=\"cross\" d=\"\"/><text class=\"read\" x=\"" + fmt::format("{}", left + 4) +
           "\" y=\"20\"></text></svg></figure>\n";
}

} // namespace parhelion
