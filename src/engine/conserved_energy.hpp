// SPDX-License-Identifier: Apache-2.0
// Records how a run's conserved energy and the volume of its box change over time.
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
    // Returns the relative change of the volume from the first observed step to the last.
    double volume_change() const { return first_volume_ > 0 ? volume_ / first_volume_ - 1 : 0; }

private:
    Slope drift_;
    double first_volume_ = 0, volume_ = 0; // volume at the first and at the last observed step, nm^3
};

} // namespace parhelion
