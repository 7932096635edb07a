// SPDX-License-Identifier: Apache-2.0
// A clock that adds up the time of each phase of a program. It knows neither the
// phases nor their names: a phase is a number that the caller makes from its own enum.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>

namespace parhelion {

// A value of any enum whose underlying type has eight bits.
class PhaseTag
{
public:
    static constexpr std::size_t values = 256;

    PhaseTag() = default;
    template <class Enum>
    requires(std::is_enum_v<Enum> && sizeof(Enum) == 1) constexpr PhaseTag(Enum phase) : value_(static_cast<std::uint8_t>(phase))
    {
    }

    constexpr std::size_t index() const { return value_; }
    // Returns the value as the caller's enum.
    template <class Enum>
    constexpr Enum as() const
    {
        return static_cast<Enum>(value_);
    }
    friend constexpr bool operator==(PhaseTag, PhaseTag) = default;

private:
    std::uint8_t value_ = 0;
};

struct PhaseSpan
{
    PhaseTag phase;
    std::chrono::steady_clock::time_point begin, end;
    std::int64_t step;
};

// The time of each phase, written by the thread that drives the queue. After keep() it also keeps the latest spans.
class PhaseClock
{
public:
    using Time = std::chrono::steady_clock::time_point;

    void add(PhaseTag phase, Time begin, Time end)
    {
        total_[phase.index()] += end - begin;
        if (kept_ == 0) { return; }
        if (spans_.size() == kept_) { spans_.pop_front(); }
        spans_.push_back({phase, begin, end, step_});
    }
    void reset() { total_ = {}; }
    double seconds(PhaseTag phase) const { return std::chrono::duration<double>(total_[phase.index()]).count(); }

    void keep(std::size_t spans) { kept_ = spans; }
    void set_step(std::int64_t step) { step_ = step; } // the step number of the spans that follow
    const std::deque<PhaseSpan>& spans() const { return spans_; }

private:
    std::array<std::chrono::steady_clock::duration, PhaseTag::values> total_{};
    std::size_t kept_ = 0;
    std::int64_t step_ = 0;
    std::deque<PhaseSpan> spans_;
};

// Adds the time between its construction and its destruction to one phase.
class ScopedPhase
{
public:
    ScopedPhase(PhaseClock& clock, PhaseTag phase) : clock_(clock), phase_(phase), begin_(std::chrono::steady_clock::now()) {}
    ~ScopedPhase() { clock_.add(phase_, begin_, std::chrono::steady_clock::now()); }
    ScopedPhase(const ScopedPhase&) = delete;
    ScopedPhase& operator=(const ScopedPhase&) = delete;

private:
    PhaseClock& clock_;
    PhaseTag phase_;
    PhaseClock::Time begin_;
};

} // namespace parhelion
