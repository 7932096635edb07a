// SPDX-License-Identifier: Apache-2.0
// An observer may take as long as it likes, a disk being slow or full: who comes to it from where others wait, or watch, says so
// before and after, and is not missed.
#pragma once

#include "engine/observer.hpp"

#include <utility>

namespace parhelion {

// A thread is away from a place that has leave() and enter() while this lives. Null: from nowhere.
template <class Place>
class Absence
{
public:
    explicit Absence(Place* place) : place_(place)
    {
        if (place_ != nullptr) { place_->leave(); }
    }
    ~Absence()
    {
        if (place_ != nullptr) { place_->enter(); }
    }
    Absence(const Absence&) = delete;
    Absence& operator=(const Absence&) = delete;

private:
    Place* place_;
};

// An observer to whom a thread comes from such a place, and goes back.
template <class Place>
class AwayFrom final : public Observer
{
public:
    AwayFrom(Place& place, Observer& observer) : place_(place), observer_(observer) {}

    void frame(const OutputDue& due, Frame&& frame) override
    {
        const Absence away(&place_);
        observer_.frame(due, std::move(frame));
    }
    void energies(const OutputDue& due, const Observables& observables) override
    {
        const Absence away(&place_);
        observer_.energies(due, observables);
    }
    void progress(std::int64_t steps_done, std::int64_t steps_total, double temperature) override
    {
        const Absence away(&place_);
        observer_.progress(steps_done, steps_total, temperature);
    }
    bool checkpoint_due() override { return observer_.checkpoint_due(); }
    void checkpoint(SavedState&& state) override
    {
        const Absence away(&place_);
        observer_.checkpoint(std::move(state));
    }
    void message(const std::string& text) override
    {
        const Absence away(&place_);
        observer_.message(text);
    }

private:
    Place& place_;
    Observer& observer_;
};

} // namespace parhelion
