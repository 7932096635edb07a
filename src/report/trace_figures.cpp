// SPDX-License-Identifier: Apache-2.0
#include "report/trace_figures.hpp"

#include "report/chart.hpp"
#include "report/html.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace parhelion {

namespace {

// Lengths in units of the SVG picture, about one pixel each.
constexpr double width = 1160, left = 200, right = 10, top = 6, lane_height = 20, axis_height = 34, plot_height = 220;
constexpr std::size_t colours = 8;
constexpr std::size_t most_lanes = 64;

// Returns the CSS class of a name's colour. Names without a colour of their own share a class.
std::string colour_of(const TraceAnalysis& analysis, const std::string& name)
{
    const auto at =
        std::find_if(analysis.names.begin(), analysis.names.end(), [&](const NamedTimes& t) { return t.name == name; });
    const auto number = static_cast<std::size_t>(at - analysis.names.begin());
    return number < colours ? fmt::format("k{}", number) : "k";
}

double place(double us, double whole) { return left + us / whole * (width - left - right); }

// Returns the time axis below a plot, from 0 to `whole` us.
std::string time_scale(double whole, double bottom)
{
    std::string svg;
    auto out = std::back_inserter(svg);
    for (const double tick : ticks(0, whole))
    {
        const double at = tick + 0.0; // turns -0 into 0
        fmt::format_to(
            out, "<path class=\"grid\" d=\"M{0:.1f} {1}V{2:.1f}\"/><text class=\"x\" x=\"{0:.1f}\" y=\"{3:.1f}\">{4:g}</text>",
            place(at, whole), top, bottom, bottom + 14, at);
    }
    fmt::format_to(out, "<text class=\"x\" x=\"{:.1f}\" y=\"{:.1f}\">time / us</text>", 0.5 * (left + width - right),
                   bottom + 30);
    return svg;
}

std::string legend(const TraceAnalysis& analysis)
{
    std::string html = "<p class=\"legend\">";
    for (std::size_t i = 0; i < std::min(colours, analysis.names.size()); ++i)
    {
        html += fmt::format("<span><span class=\"key k{}\"></span>{}</span> ", i, escaped(analysis.names[i].name));
    }
    return html + "<span><span class=\"key k\"></span>others</span></p>\n";
}

// Returns a <figure>. title, note: plain text.
std::string figure(const std::string& title, const std::string& note, double height, const std::string& svg,
                   const std::string& below)
{
    return fmt::format("<figure class=\"wide\"><figcaption>{0} <small>{1}</small></figcaption><svg viewBox=\"0 0 {2} {3:.0f}\" "
                       "role=\"img\" aria-label=\"{0}\">{4}</svg>{5}</figure>\n",
                       escaped(title), escaped(note), width, height, svg, below);
}

} // namespace

std::string draw_typical_step(const TraceAnalysis& analysis)
{
    double whole = analysis.typical_us;
    for (const Lane& lane : analysis.typical)
    {
        for (const Lane::Span& span : lane.spans) { whole = std::max(whole, span.end); }
    }
    if (!(whole > 0)) { return ""; }
    const std::size_t lanes = std::min(most_lanes, analysis.typical.size());
    const double bottom = top + lane_height * static_cast<double>(lanes);
    std::string svg = time_scale(whole, bottom);
    auto out = std::back_inserter(svg);
    for (std::size_t i = 0; i < lanes; ++i)
    {
        const Lane& lane = analysis.typical[i];
        const double y = top + lane_height * static_cast<double>(i);
        fmt::format_to(out, "<text class=\"y\" x=\"{}\" y=\"{:.1f}\">{}</text>", left - 6, y + 14, escaped(lane.name));
        for (const Lane::Span& span : lane.spans)
        {
            const double from = place(span.begin, whole), to = place(span.end, whole);
            fmt::format_to(out,
                           "<rect class=\"{}{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\"><title>{}, {:.2f} "
                           "us{}</title></rect>",
                           colour_of(analysis, span.name), span.is_on_path ? "" : " off", from, y + 2, std::max(0.5, to - from),
                           lane_height - 4, escaped(span.name), span.end - span.begin,
                           span.is_on_path ? ", on the critical path" : "");
        }
    }
    const std::string more = lanes < analysis.typical.size() ? fmt::format("<p class=\"soft\">The first {} of {} lanes.</p>\n",
                                                                           lanes, analysis.typical.size())
                                                             : "";
    return figure("A typical step", "opaque: on the critical path", bottom + axis_height, svg, legend(analysis) + more);
}

std::string draw_occupancy(const TraceAnalysis& analysis, const Occupancy& occupancy)
{
    if (occupancy.share.empty()) { return ""; }
    const double bottom = top + plot_height, whole = occupancy.typical_us;
    std::string svg = time_scale(whole, bottom);
    auto out = std::back_inserter(svg);
    const auto height = [&](double share) { return bottom - share * plot_height; };
    for (const int percent : {0, 25, 50, 75, 100})
    {
        fmt::format_to(out, "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text class=\"y\" x=\"{3}\" y=\"{4:.1f}\">{5} %</text>",
                       left, height(0.01 * percent), width - right, left - 6, height(0.01 * percent) + 4, percent);
    }
    const auto draw = [&](const std::string& colour, const std::string& name, const std::vector<double>& shares) {
        fmt::format_to(out, "<path class=\"curve {}\" d=\"", colour);
        for (std::size_t i = 0; i < shares.size(); ++i)
        {
            const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(shares.size());
            fmt::format_to(out, "{}{:.1f} {:.1f}", i == 0 ? 'M' : 'L', place(at * whole, whole),
                           height(std::min(1.0, shares[i])));
        }
        fmt::format_to(out, "\"><title>{}</title></path>", escaped(name));
    };
    draw("axis", "any kernel", occupancy.share);
    for (const Occupancy::Kernel& kernel : occupancy.kernels)
    {
        draw(colour_of(analysis, kernel.name), kernel.name, kernel.share);
    }
    return figure(occupancy.process,
                  fmt::format("share of {} multiprocessors that have a block, in a typical step; grey: of any kernel",
                              occupancy.multiprocessors),
                  bottom + axis_height, svg, legend(analysis));
}

} // namespace parhelion
