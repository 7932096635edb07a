// SPDX-License-Identifier: Apache-2.0
// An observer may take as long as it likes, since a disk may be slow or full. The deadlines of those that wait for the thread it
// runs on pause meanwhile.
#pragma once

#include "engine/observer.hpp"

#include <utility>

namespace parhelion {

// Pauses the deadlines of a place that has pause_deadlines() and resume_deadlines() while this lives. Null: nobody waits.
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

// An observer during whose calls the deadlines of such a place pause.
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
