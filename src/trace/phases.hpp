// SPDX-License-Identifier: Apache-2.0
// The named lines of the step, and a clock that adds up the time each takes. One list for step.hpp, the report and the
// benchmarks.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

namespace parhelion {

enum class Phase : std::uint8_t
{
    Migrate,         // S  atoms to their new owners, the halo's plan
    Reorder,         // S  sort atoms into cluster order
    PairList,        // S  build the pair list
    SendCoordinates, // X  halo positions
    Nonbonded,       // L  pair forces
    Bonded,          // B  bonded, 1-4 and restraint forces
    ReturnForces,    // F  halo forces
    SumForces,       // R  clear and sum the threads' forces, guard against blow-ups
    Couple,          // T  thermostat and barostat
    Kick,            // U  velocities
    Constrain,       // C  SETTLE and LINCS
    Drift,           // D  positions
    Kinetic,         // K  kinetic energy, centre-of-mass motion
    Reduce,          // G  sums over all ranks
    Output,          // O  observables and frames
};
inline constexpr int phases = 15;
inline constexpr std::array<std::string_view, phases> phase_names = {
    "migrate", "reorder",   "pair list", "send coordinates", "nonbonded", "bonded", "return forces", "sum forces", "couple",
    "kick",    "constrain", "drift",     "kinetic",          "reduce",    "output",
};

struct PhaseSpan
{
    Phase phase;
    std::chrono::steady_clock::time_point begin, end;
    std::int64_t step;
};

// Time by phase, written by the thread that drives the queue. Keeps the latest spans, if asked to.
class PhaseClock
{
public:
    using Time = std::chrono::steady_clock::time_point;

    void add(Phase phase, Time begin, Time end)
    {
        total_[static_cast<std::size_t>(phase)] += end - begin;
        if (kept_ == 0) { return; }
        if (spans_.size() == kept_) { spans_.pop_front(); }
        spans_.push_back({phase, begin, end, step_});
    }
    void reset() { total_ = {}; }
    double seconds(Phase phase) const { return std::chrono::duration<double>(total_[static_cast<std::size_t>(phase)]).count(); }

    void keep(std::size_t spans) { kept_ = spans; }
    void set_step(std::int64_t step) { step_ = step; }
    const std::deque<PhaseSpan>& spans() const { return spans_; }

private:
    std::array<std::chrono::steady_clock::duration, phases> total_{};
    std::size_t kept_ = 0;
    std::int64_t step_ = 0;
    std::deque<PhaseSpan> spans_;
};

// Adds its own lifetime to one phase.
class ScopedPhase
{
public:
    ScopedPhase(PhaseClock& clock, Phase phase) : clock_(clock), phase_(phase), begin_(std::chrono::steady_clock::now()) {}
    ~ScopedPhase() { clock_.add(phase_, begin_, std::chrono::steady_clock::now()); }
    ScopedPhase(const ScopedPhase&) = delete;
    ScopedPhase& operator=(const ScopedPhase&) = delete;

private:
    PhaseClock& clock_;
    Phase phase_;
    PhaseClock::Time begin_;
};

} // namespace parhelion
