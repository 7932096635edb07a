// SPDX-License-Identifier: Apache-2.0
// Pauses deadlines during calls of an observer. An observer may take very long, because a disk may be slow
// or full. Other ranks and watches wait for its thread, and their deadlines must not expire during the call.
#pragma once

#include "engine/observer.hpp"

#include <utility>

namespace parhelion {

// Pauses the deadlines of `place` during its lifetime, by pause_deadlines() and resume_deadlines(). Null: there are no deadlines.
template <class Place>
class DeadlinePause
{
public:
    explicit DeadlinePause(Place* place) : place_(place)
    {
        if (place_ != nullptr) { place_->pause_deadlines(); }
    }
    ~DeadlinePause()
    {
        if (place_ != nullptr) { place_->resume_deadlines(); }
    }
    DeadlinePause(const DeadlinePause&) = delete;
    DeadlinePause& operator=(const DeadlinePause&) = delete;

private:
    Place* place_;
};

// Forwards calls to an observer, and pauses the deadlines of `place` during each call.
template <class Place>
class PausingObserver final : public Observer
{
public:
    PausingObserver(Place& place, Observer& observer) : place_(place), observer_(observer) {}

    void frame(const OutputDue& due, Frame&& frame) override
    {
        const DeadlinePause pause(&place_);
        observer_.frame(due, std::move(frame));
    }
    void energies(const OutputDue& due, const Observables& observables) override
    {
        const DeadlinePause pause(&place_);
        observer_.energies(due, observables);
    }
    void progress(std::int64_t steps_done, std::int64_t steps_total, double temperature) override
    {
        const DeadlinePause pause(&place_);
        observer_.progress(steps_done, steps_total, temperature);
    }
    bool checkpoint_due() override { return observer_.checkpoint_due(); }
    void checkpoint(SavedState&& state) override
    {
        const DeadlinePause pause(&place_);
        observer_.checkpoint(std::move(state));
    }
    void message(const std::string& text) override
    {
        const DeadlinePause pause(&place_);
        observer_.message(text);
    }

private:
    Place& place_;
    Observer& observer_;
};

} // namespace parhelion
