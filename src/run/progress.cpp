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

constexpr double forget_after = 30;      // s; time constant of the average
constexpr double shortest_measure = 0.2; // s; shortest time between measurements
constexpr auto live_interval = std::chrono::milliseconds(200);
constexpr auto line_interval = std::chrono::minutes(10);
constexpr std::int64_t lines_per_run = 20; // a line every 5 %

// Returns a number with its unit, or nothing if there is no number.
std::string value_text(const std::optional<double>& value, const char* format)
{
    return value ? fmt::format(fmt::runtime(format), *value) : "";
}

// Returns a positive number as a whole number of two significant digits.
std::string rough_text(double number)
{
    const double unit = number < 100 ? 1 : std::pow(10, std::floor(std::log10(number)) - 1);
    return fmt::format("{:.0f}", std::ceil(number / unit) * unit);
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

std::size_t columns_of(std::FILE* out)
{
    winsize size{};
    const bool known = ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : std::numeric_limits<std::size_t>::max();
}

ProgressStyle progress_style(std::FILE* out)
{
    return ::isatty(::fileno(out)) != 0 ? ProgressStyle::LiveLine : ProgressStyle::Lines;
}

void Speed::measure(std::int64_t steps_done, Clock::time_point now)
{
    const double seconds = std::chrono::duration<double>(now - measured_).count();
    if (seconds < shortest_measure) { return; }
    const double speed = static_cast<double>(steps_done - measured_steps_) / seconds;
    // The mean is over the whole run until the run is longer than the time constant.
    const double weight =
        std::max(1 - std::exp(-seconds / forget_after), seconds / std::chrono::duration<double>(now - started_).count());
    steps_per_second_ += weight * (speed - steps_per_second_);
    measured_ = now;
    measured_steps_ = steps_done;
}

ProgressState progress_state(std::int64_t steps_done, std::int64_t steps_total, double dt, double steps_per_second,
                             const ProgressValues& values)
{
    ProgressState state;
    state.steps_done = steps_done, state.steps_total = steps_total, state.values = values;
    const bool minimises = dt == 0;
    if (!minimises) { state.time = static_cast<double>(steps_done) * dt; }
    if (!(steps_per_second > 0)) { return state; }
    state.steps_per_second = steps_per_second;
    if (!minimises) { state.ns_per_day = steps_per_second * dt * 86.4; } // 1 step/s of 1 ps = 86.4 ns/day
    if (steps_total >= steps_done) { state.left = static_cast<double>(steps_total - steps_done) / steps_per_second; }
    return state;
}

std::string progress_text(const ProgressState& state)
{
    std::string line = state.steps_total > 0 ? fmt::format("{:3} %  step {}/{}", 100 * state.steps_done / state.steps_total,
                                                           state.steps_done, state.steps_total)
                                             : fmt::format("step {}", state.steps_done);
    line += value_text(state.time, "  {:.6g} ps");
    line += value_text(state.values.temperature, "  {:.1f} K");
    line += value_text(state.values.pressure, "  {:.0f} bar");
    line += value_text(state.values.density, "  {:.1f} kg/m^3");
    line += value_text(state.values.potential, "  {:.6g} kJ/mol");
    line += value_text(state.values.largest_force, "  largest force {:.3g} kJ/mol/nm");
    if (state.values.steps_to_tolerance.value_or(0) > 0)
    {
        line += fmt::format("  about {} steps to go at this rate", rough_text(*state.values.steps_to_tolerance));
    }
    const bool minimises = !state.time;
    line += minimises ? value_text(state.steps_per_second, "  {:.4g} steps/s") : value_text(state.ns_per_day, "  {:.4g} ns/day");
    if (state.left && state.steps_total > state.steps_done)
    {
        // A minimisation ends earlier if it converges.
        line += (minimises ? "  at most " : "  ETA ") + duration_text(*state.left);
    }
    return line;
}

void ProgressLine::draw(std::string text)
{
    // A line longer than the terminal's width could not be overwritten.
    if (style_ == ProgressStyle::LiveLine) { text.resize(std::min(text.size(), columns_of(out_) - 1)); }
    // Errors are ignored, because a terminal that has closed must not end the run.
    const std::string record = style_ == ProgressStyle::Lines ? text + "\n" : fmt::format("\r{:<{}}", text, drawn_width_);
    std::fputs(record.c_str(), out_);
    drawn_width_ = text.size();
    std::fflush(out_);
}

void ProgressLine::finish()
{
    if (style_ == ProgressStyle::LiveLine && is_drawn()) { std::fputs("\n", out_); }
    std::fflush(out_);
}

void Progress::update(std::int64_t steps_done, std::int64_t total, const ProgressValues& values, Clock::time_point now)
{
    speed_.measure(steps_done, now);
    if (line_.is_drawn() && steps_done == drawn_steps_) { return; } // the line already shows this step
    latest_ = progress_text(progress_state(steps_done, total, dt_, speed_.steps_per_second(), values));
    latest_steps_ = steps_done;
    if (!due(steps_done, total, now)) { return; }
    draw();
    drawn_ = now;
}

void Progress::finish()
{
    if (!latest_.empty()) { draw(); }
    line_.finish();
}

bool Progress::due(std::int64_t steps_done, std::int64_t total, Clock::time_point now) const
{
    if (line_.style() == ProgressStyle::LiveLine) { return now - drawn_ >= live_interval || steps_done == total; }
    if (total > 0 && steps_done * lines_per_run / total > drawn_steps_ * lines_per_run / total) { return true; }
    return now - drawn_ >= line_interval;
}

void Progress::draw()
{
    line_.draw(latest_);
    drawn_steps_ = latest_steps_;
    latest_.clear();
}

} // namespace parhelion
