// SPDX-License-Identifier: Apache-2.0
#include "run/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

namespace parhelion {
namespace {

constexpr double forget_after = 30;      // s
constexpr double shortest_measure = 0.2; // s
constexpr auto live_interval = std::chrono::milliseconds(200);
constexpr auto line_interval = std::chrono::minutes(10);
constexpr std::int64_t lines_per_run = 20; // every 5 %

// A number with a unit, if there is one.
std::string value_text(const std::optional<double>& value, const char* format)
{
    return value ? fmt::format(fmt::runtime(format), *value) : "";
}

// Of a terminal; a line that is longer could not be rewritten.
std::size_t columns_of(std::FILE* terminal)
{
    winsize size{};
    const bool known = ::ioctl(::fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : std::numeric_limits<std::size_t>::max();
}

} // namespace

std::string duration_text(double seconds)
{
    const auto whole = static_cast<std::int64_t>(std::min(seconds, 1e15) + 0.5);
    if (whole < 60) { return fmt::format("{} s", whole); }
    if (whole < 3600 && whole % 60 == 0) { return fmt::format("{} min", whole / 60); }
    if (whole < 3600) { return fmt::format("{} min {:02} s", whole / 60, whole % 60); }
    if (whole < 86400) { return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60); }
    return fmt::format("{} d {:02} h", whole / 86400, whole / 3600 % 24);
}

ProgressStyle progress_style(std::FILE* out)
{
    return ::isatty(::fileno(out)) != 0 ? ProgressStyle::LiveLine : ProgressStyle::Lines;
}

void Progress::update(std::int64_t steps_done, std::int64_t total, const ProgressValues& values, Clock::time_point now)
{
    measure(steps_done, now);
    if (drawn_width_ > 0 && steps_done == drawn_steps_) { return; } // on show already
    latest_ = text(steps_done, total, values);
    latest_steps_ = steps_done;
    if (!due(steps_done, total, now)) { return; }
    draw();
    drawn_ = now;
}

void Progress::finish()
{
    if (!latest_.empty()) { draw(); }
    if (style_ == ProgressStyle::LiveLine && drawn_width_ > 0) { std::fputs("\n", out_); }
    std::fflush(out_);
}

void Progress::measure(std::int64_t steps_done, Clock::time_point now)
{
    const double seconds = std::chrono::duration<double>(now - measured_).count();
    if (seconds < shortest_measure) { return; }
    const double speed = static_cast<double>(steps_done - measured_steps_) / seconds;
    // The mean over all there has been, until there is more than is remembered.
    const double weight =
        std::max(1 - std::exp(-seconds / forget_after), seconds / std::chrono::duration<double>(now - started_).count());
    steps_per_second_ += weight * (speed - steps_per_second_);
    measured_ = now;
    measured_steps_ = steps_done;
}

bool Progress::due(std::int64_t steps_done, std::int64_t total, Clock::time_point now) const
{
    if (style_ == ProgressStyle::LiveLine) { return now - drawn_ >= live_interval || steps_done == total; }
    if (total > 0 && steps_done * lines_per_run / total > drawn_steps_ * lines_per_run / total) { return true; }
    return now - drawn_ >= line_interval;
}

std::string Progress::text(std::int64_t steps_done, std::int64_t total, const ProgressValues& values) const
{
    std::string line = total > 0 ? fmt::format("{:3} %  step {}/{}", 100 * steps_done / total, steps_done, total)
                                 : fmt::format("step {}", steps_done);
    const bool minimises = dt_ == 0;
    if (!minimises) { line += fmt::format("  {:.6g} ps", static_cast<double>(steps_done) * dt_); }
    line += value_text(values.temperature, "  {:.1f} K");
    line += value_text(values.pressure, "  {:.0f} bar");
    line += value_text(values.density, "  {:.1f} kg/m^3");
    line += value_text(values.potential, "  {:.6g} kJ/mol");
    line += value_text(values.largest_force, "  largest force {:.3g} kJ/mol/nm");
    if (steps_per_second_ > 0)
    {
        // 1 step/s of 1 ps = 86.4 ns/day
        line += minimises ? fmt::format("  {:.4g} steps/s", steps_per_second_)
                          : fmt::format("  {:.4g} ns/day", steps_per_second_ * dt_ * 86.4);
        if (total > steps_done)
        {
            // A minimisation ends when it has converged.
            line += (minimises ? "  at most " : "  ETA ") +
                    duration_text(static_cast<double>(total - steps_done) / steps_per_second_);
        }
    }
    return line;
}

void Progress::draw()
{
    if (style_ == ProgressStyle::LiveLine) { latest_.resize(std::min(latest_.size(), columns_of(out_) - 1)); }
    // A terminal that is gone must not end the run: errors are not looked at.
    const std::string record = style_ == ProgressStyle::Lines ? latest_ + "\n" : fmt::format("\r{:<{}}", latest_, drawn_width_);
    std::fputs(record.c_str(), out_);
    drawn_width_ = latest_.size();
    drawn_steps_ = latest_steps_;
    latest_.clear();
    std::fflush(out_);
}

} // namespace parhelion
