// SPDX-License-Identifier: Apache-2.0
// By how much a coupling interval h of steps makes a thermostat's kinetic energy, or a barostat's volume, fluctuate too much: the
// relative error of its variance, to leading order in h / tau, in closed form.
//
//   v-rescale            0: the kinetic energy is drawn from its distribution, whatever the interval
//   Berendsen, C-rescale x' = x (1 - h/tau) + noise has the variance of dx = -x dt/tau + noise times 1 / (1 - h/(2 tau)): h / (2
//   tau) Nose-Hoover          x' = x - 2 h xi', xi' = xi + h w^2 x with w = 2 pi / tau is the symplectic Euler scheme of an
//   oscillator of
//                        frequency W = sqrt(2) w. It keeps w^2 x^2 + 2 xi^2 - 2 h w^2 x xi, so the variance of x is that of short
//                        steps times 1 / (1 - W^2 h^2 / 4): 2 pi^2 (h/tau)^2. Heat that goes on into the potential energy makes
//                        W smaller, and the error with it.
//   Parrinello-Rahman    the same with W^2 = (2 pi / tau)^2 G: pi^2 G (h/tau)^2. G is the stiffness of the box, over that by the
//   given
//                        compressibility; it is taken as 5/3, of an ideal gas whose heat stays in it.
//
// That is all there is to first order only because the drive between two scalings is the mean of the first and the last kinetic
// energy or pressure (dynamics/thermostat.hpp, barostat.hpp). With the last one alone, as GROMACS has it, noise of correlation
// time s enters in full and its friction in part: the error is h / (2 s - h), with s = 0.05 to 0.3 ps in liquids, whatever tau
// is. docs/decisions/0033-coupling-intervals.md
#pragma once

#include "base/units.hpp"
#include "model/run_parameters.hpp"

#include <cmath>
#include <limits>

namespace parhelion {

// What intervals chosen by the program keep to.
constexpr double coupling_error_bound = 0.02;

// Relative error of the variance of the kinetic energy with so many intervals per tau-t, > 0.
inline double coupling_error(Thermostat kind, double intervals)
{
    switch (kind)
    {
    case Thermostat::Berendsen:
        return 0.5 / intervals;
    case Thermostat::NoseHoover:
        return 2 * units::pi * units::pi / (intervals * intervals);
    default:
        return 0;
    }
}

// Relative error of the variance of the volume with so many intervals per tau-p, > 0.
inline double coupling_error(Barostat kind, double intervals)
{
    constexpr double stiffness = 5.0 / 3;
    switch (kind)
    {
    case Barostat::Berendsen:
    case Barostat::CRescale:
        return 0.5 / intervals;
    case Barostat::ParrinelloRahman:
        return stiffness * units::pi * units::pi / (intervals * intervals);
    default:
        return 0;
    }
}

// The longest interval in steps that keeps to the bound: a divisor of 100; 1 where even that is too long. tau, dt: ps.
template <class Kind>
int longest_coupling_interval(Kind kind, double tau, double dt)
{
    // v-rescale has no error; so much of tau-t still shows how fast the energy relaxes.
    constexpr double least_intervals = 5;
    constexpr double rounding = 1 + 1e-9;
    for (const int interval : {100, 50, 25, 20, 10, 5, 4, 2})
    {
        const double intervals = tau / (interval * dt) * rounding;
        if (intervals >= least_intervals && coupling_error(kind, intervals) <= coupling_error_bound) { return interval; }
    }
    return 1;
}

} // namespace parhelion
