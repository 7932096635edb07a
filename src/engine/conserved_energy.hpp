// SPDX-License-Identifier: Apache-2.0
// What a run's conserved energy does, and what its box does meanwhile.
#pragma once

#include "engine/observer.hpp"
#include "engine/slope.hpp"

namespace parhelion {

class ConservedEnergy
{
public:
    void add(const Observables& o)
    {
        drift_.add(o.time, o.conserved);
        volume_ = o.box.volume();
        if (first_volume_ == 0) { first_volume_ = volume_; }
    }
    const Slope& drift() const { return drift_; } // kJ/mol/ps
    // From the first observed step to the last, relative.
    double volume_change() const { return first_volume_ > 0 ? volume_ / first_volume_ - 1 : 0; }

private:
    Slope drift_;
    double first_volume_ = 0, volume_ = 0; // nm^3
};

} // namespace parhelion
