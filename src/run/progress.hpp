// SPDX-License-Identifier: Apache-2.0
// The progress of a run: simulated time, temperature, pressure, ns/day and the remaining
// time; for a minimisation, energy, largest force and an estimate of the remaining steps. On a
// terminal it is one line that is overwritten. In a file it is a line per 5 % or 10 minutes,
// which keeps logs short.
// The speed is an average with exponential weights and a time constant of 30 s.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace parhelion {

enum class ProgressStyle : std::uint8_t
{
    LiveLine,
    Lines
};

// Returns the width of a terminal, or the largest number if `out` is no terminal or its width is unknown.
std::size_t columns_of(std::FILE* out);

// Returns LiveLine if `out` is a terminal, otherwise Lines.
ProgressStyle progress_style(std::FILE* out);

// The present values of a run. A value that the kind of run does not have is empty.
struct ProgressValues
{
    std::optional<double> temperature, pressure, density; // K, bar, kg/m^3
    std::optional<double> potential, largest_force;       // set in a minimisation: kJ/mol, kJ/mol/nm
    std::optional<double> steps_to_tolerance = {};        // until largest_force is small enough (run/force_trend.hpp)
};

// Returns, for example, "41 s", "15 min", "2 min 05 s", "6 h 27 min", "1 d 00 h".
std::string duration_text(double seconds);

// The speed of a run: an average with exponential weights and a time constant of 30 s.
class Speed
{
public:
    using Clock = std::chrono::steady_clock;

    // Starts measuring at `now`, after steps_done steps.
    Speed(Clock::time_point now, std::int64_t steps_done) : started_(now), measured_(now), measured_steps_(steps_done) {}

    void measure(std::int64_t steps_done, Clock::time_point now);
    double steps_per_second() const { return steps_per_second_; } // 0: it is not known yet

private:
    Clock::time_point started_, measured_;
    std::int64_t measured_steps_;
    double steps_per_second_ = 0;
};

// How far a run has advanced, for people and programs.
struct ProgressState
{
    std::int64_t steps_done = 0, steps_total = -1;      // from the begin of the run; negative: the run has no known end
    std::optional<double> time;                         // ps since the begin of the run; not set in a minimisation
    std::optional<double> steps_per_second, ns_per_day; // set once they are known; ns_per_day is not set in a minimisation
    std::optional<double> left;                         // remaining seconds; an upper limit in a minimisation
    ProgressValues values;
};

// Returns the state for people and programs. dt in ps, 0 for a minimisation. steps_per_second 0: it is not known yet.
ProgressState progress_state(std::int64_t steps_done, std::int64_t steps_total, double dt, double steps_per_second,
                             const ProgressValues& values);
// Returns, for example, " 50 %  step 1000/2000  2 ps  300.0 K  17.28 ns/day  ETA 10 s".
std::string progress_text(const ProgressState& state);

// Shows progress on one line that is overwritten, if on a terminal, otherwise on a new line each time.
class ProgressLine
{
public:
    // The caller keeps and closes `out`.
    ProgressLine(std::FILE* out, ProgressStyle style) : out_(out), style_(style) {}

    void draw(std::string text);
    // Ends the line that is being overwritten, if there is such a line.
    void finish();
    ProgressStyle style() const { return style_; }
    bool is_drawn() const { return drawn_width_ > 0; }

private:
    std::FILE* out_;
    ProgressStyle style_;
    std::size_t drawn_width_ = 0;
};

class Progress
{
public:
    using Clock = Speed::Clock;

    // dt in ps, 0 for a minimisation. The caller keeps and closes `out`.
    // The speed is measured from `now` on, after steps_done steps.
    Progress(std::FILE* out, ProgressStyle style, double dt, Clock::time_point now, std::int64_t steps_done = 0)
        : line_(out, style), dt_(dt), speed_(now, steps_done), drawn_(now), drawn_steps_(steps_done)
    {
    }

    // Updates the progress; call it as often as convenient. total < 0: the run has no known end.
    void update(std::int64_t steps_done, std::int64_t total, const ProgressValues& values, Clock::time_point now);
    // Shows the latest state if it is not shown yet, and ends the line that is being overwritten.
    void finish();

private:
    bool due(std::int64_t steps_done, std::int64_t total, Clock::time_point now) const;
    void draw();

    ProgressLine line_;
    double dt_;
    Speed speed_;
    Clock::time_point drawn_;
    std::int64_t drawn_steps_;
    std::string latest_; // text that is not shown yet
    std::int64_t latest_steps_ = 0;
};

} // namespace parhelion
