// SPDX-License-Identifier: Apache-2.0
// Progress of a run: simulated time, temperature, pressure, ns/day and the time it will still take; of a minimisation the energy
// and the largest force. A terminal gets one line that is rewritten, a file one
// line per 5 % or 10 minutes, so that a cluster's log stays short. The speed is an average that forgets with a time constant of
// 30 s.
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

// LiveLine if `out` is a terminal.
ProgressStyle progress_style(std::FILE* out);

// What a run is like at present; what it does not have is left out.
struct ProgressValues
{
    std::optional<double> temperature, pressure, density; // K, bar, kg/m^3
    std::optional<double> potential, largest_force;       // of a minimisation: kJ/mol, kJ/mol/nm
};

// "41 s", "15 min", "2 min 05 s", "6 h 27 min", "1 d 00 h".
std::string duration_text(double seconds);

class Progress
{
public:
    using Clock = std::chrono::steady_clock;

    // dt in ps, 0 for a minimisation; `out` is the caller's; the speed is measured from `now` on, when steps_done have been done
    // already.
    Progress(std::FILE* out, ProgressStyle style, double dt, Clock::time_point now, std::int64_t steps_done = 0)
        : out_(out), style_(style), dt_(dt), started_(now), drawn_(now), measured_(now), drawn_steps_(steps_done),
          measured_steps_(steps_done)
    {
    }

    // Call as often as convenient. total < 0: no end known.
    void update(std::int64_t steps_done, std::int64_t total, const ProgressValues& values, Clock::time_point now);
    // Draws the last state if that is not on show yet, and ends the live line.
    void finish();

private:
    void measure(std::int64_t steps_done, Clock::time_point now);
    bool due(std::int64_t steps_done, std::int64_t total, Clock::time_point now) const;
    std::string text(std::int64_t steps_done, std::int64_t total, const ProgressValues& values) const;
    void draw();

    std::FILE* out_;
    ProgressStyle style_;
    double dt_;
    Clock::time_point started_, drawn_, measured_;
    std::int64_t drawn_steps_, measured_steps_;
    double steps_per_second_ = 0; // 0: not known yet
    std::string latest_;          // not drawn yet
    std::int64_t latest_steps_ = 0;
    std::size_t drawn_width_ = 0;
};

} // namespace parhelion
