// SPDX-License-Identifier: Apache-2.0
// Estimates how much a coupling interval h adds to the fluctuations of a thermostat's kinetic energy or a barostat's volume: the
// relative error of the variance, to leading order. It is the sum of two errors.
//
// The first is the error of the period. It comes from the finite steps of the coupling's own motion. x is the deviation of
// kinetic energy or volume from its mean, x' its value after a step.
//   v-rescale: 0. The kinetic energy is drawn from its distribution, whatever the interval.
//   Berendsen: h / (2 tau). x' = x (1 - h/tau) + noise has the variance of dx = -x dt/tau + noise times 1 / (1 - h/(2 tau)).
// C-rescale: G h / (2 tau), because a part of the pressure responds to a scaling at once.
//   Nose-Hoover: 2 pi^2 (h/tau)^2. x' = x - 2 h xi', xi' = xi + h w^2 x with w = 2 pi / tau is the symplectic Euler scheme of an
//   oscillator of frequency W = sqrt(2) w. It keeps w^2 x^2 + 2 xi^2 - 2 h w^2 x xi, so the variance of x is that of short steps
//   times 1 / (1 - W^2 h^2 / 4).
//  Parrinello-Rahman: as for Nose-Hoover, with W^2 = G (2 pi / tau)^2. The error is pi^2 G (h/tau)^2.
// G is the instantaneous stiffness of the box over that of the given compressibility: 5/3 for an ideal gas. This value holds for
// edges that scale together, the fastest motion. For n joined edges it is (n + 2) / 3, so the bound holds for every edge.
//
// The second is the error of the lag. It affects Nose-Hoover and Parrinello-Rahman, which see the kinetic energy K or the
// pressure P only before a scaling. Let K or P decorrelate in a time s. Its noise enters in full at each coupling. Friction is
// the response to earlier scalings, decayed after h, 2 h, ... Noise over friction is then too large by 1 + h / (2 s - h), for any
// tau (decision 0033).
#pragma once

#include "base/units.hpp"
#include "model/run_parameters.hpp"

#include <limits>

namespace parhelion {

// The bound of the error for intervals that the program chooses. If no interval meets it, the shortest is used, with a note.
constexpr double coupling_error_bound = 0.02;

struct CouplingError
{
    double period = 0, lag = 0;
    double total() const { return period + lag; }
};

namespace coupling_error_detail {

constexpr double stiffness = 5.0 / 3;
// The decorrelation time s, ps, as measured: for K, in liquid argon; for P, in an ideal gas with tau-t = 0.1 ps.
constexpr double memory_of_kinetic_energy = 0.055, memory_of_pressure = 0.135;

inline double lag(double interval, double memory)
{
    return interval < 2 * memory ? interval / (2 * memory - interval) : std::numeric_limits<double>::infinity();
}

} // namespace coupling_error_detail

// Returns the error of the variance of the kinetic energy. tau-t and the interval are in ps and > 0.
inline CouplingError coupling_error(Thermostat kind, double tau, double interval)
{
    namespace detail = coupling_error_detail;
    const double ratio = interval / tau;
    switch (kind)
    {
    case Thermostat::Berendsen:
        return {0.5 * ratio, 0};
    case Thermostat::NoseHoover:
        return {2 * units::pi * units::pi * ratio * ratio, detail::lag(interval, detail::memory_of_kinetic_energy)};
    default:
        return {};
    }
}

// Returns the error of the variance of the volume. tau-p and the interval are in ps and > 0.
inline CouplingError coupling_error(Barostat kind, double tau, double interval)
{
    namespace detail = coupling_error_detail;
    const double ratio = interval / tau;
    switch (kind)
    {
    case Barostat::Berendsen:
        return {0.5 * ratio, 0};
    case Barostat::CRescale:
        return {0.5 * detail::stiffness * ratio, 0};
    case Barostat::ParrinelloRahman:
        return {units::pi * units::pi * detail::stiffness * ratio * ratio, detail::lag(interval, detail::memory_of_pressure)};
    default:
        return {};
    }
}

// The interval of v-rescale causes no error. This many intervals within tau-t still resolve how fast the energy relaxes.
constexpr double least_intervals = 5;
// With an interval of 1, the pressure that drives the box of Parrinello-Rahman
// lags by one step. This gave an energy drift of 2.4 kT/ns/atom in argon at 4 fs.
inline int least_interval(Thermostat) { return 1; }
inline int least_interval(Barostat kind) { return kind == Barostat::ParrinelloRahman ? 2 : 1; }

// Returns the longest interval in steps, among some divisors of 100, whose error is within the bound. If no interval is within
// it, the result is the shortest sensible interval, or 1 if the error of the period demands that. tau and dt are in ps.
template <class Kind>
int longest_coupling_interval(Kind kind, double tau, double dt)
{
    constexpr double rounding = 1 + 1e-9;
    const auto is_short_enough = [&](int steps, double error) {
        return tau * rounding >= least_intervals * steps * dt && error <= coupling_error_bound * rounding;
    };
    for (const int steps : {100, 50, 25, 20, 10, 5, 4, 2})
    {
        if (is_short_enough(steps, coupling_error(kind, tau, steps * dt).total())) { return steps; }
    }
    const int least = least_interval(kind);
    return is_short_enough(least, coupling_error(kind, tau, least * dt).period) ? least : 1;
}

} // namespace parhelion
