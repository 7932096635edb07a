// SPDX-License-Identifier: Apache-2.0
// By how much a coupling interval h makes a thermostat's kinetic energy, or a barostat's volume, fluctuate too much: the relative
// error of its variance, to leading order. Two errors add up.
//
// By the period: the coupling's own motion with finite steps.
//   v-rescale: 0. The kinetic energy is drawn from its distribution, whatever the interval.
//   Berendsen: h / (2 tau). x' = x (1 - h/tau) + noise has the variance of dx = -x dt/tau + noise times 1 / (1 - h/(2 tau)).
//   C-rescale: the same, and as much again as the pressure answers at once beyond what stays: G h / (2 tau).
//   Nose-Hoover: 2 pi^2 (h/tau)^2. x' = x - 2 h xi', xi' = xi + h w^2 x with w = 2 pi / tau is the symplectic Euler scheme of an
//   oscillator of frequency W = sqrt(2) w. It keeps w^2 x^2 + 2 xi^2 - 2 h w^2 x xi, so the variance of x is that of short steps
//   times 1 / (1 - W^2 h^2 / 4).
//   Parrinello-Rahman: the same with W^2 = G (2 pi / tau)^2: pi^2 G (h/tau)^2.
// G is the stiffness of the box at once over the one by the given compressibility: 5/3 for an ideal gas. That is for all edges
// together, their fastest motion. n joined edges have (n + 2) / 3, so that what holds for the volume holds for every edge.
//
// By the lag, of Nose-Hoover and Parrinello-Rahman: they hear K or P before each scaling only. Let that forget in a time s. Its
// noise comes in at every coupling in full. The friction is its answer to earlier scalings, as far as it is left after h, 2 h and
// so on. So noise over friction is too large by 1 + h / (2 s - h), whatever tau is (docs/decisions/0033-coupling-intervals.md).
#pragma once

#include "base/units.hpp"
#include "model/run_parameters.hpp"

#include <limits>

namespace parhelion {

// What intervals chosen by the program keep to, if any does.
constexpr double coupling_error_bound = 0.02;

struct CouplingError
{
    double period = 0, lag = 0;
    double total() const { return period + lag; }
};

namespace coupling_error_detail {

constexpr double stiffness = 5.0 / 3;
// s, ps: as measured, 0.055 of the kinetic energy of liquid argon, 0.135 of the pressure of an ideal gas with tau-t = 0.1 ps.
constexpr double memory_of_kinetic_energy = 0.055, memory_of_pressure = 0.135;

inline double lag(double interval, double memory)
{
    return interval < 2 * memory ? interval / (2 * memory - interval) : std::numeric_limits<double>::infinity();
}

} // namespace coupling_error_detail

// Of the variance of the kinetic energy; tau-t and the interval in ps, > 0.
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

// Of the variance of the volume; tau-p and the interval in ps, > 0.
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

// v-rescale has no error; so many intervals in tau-t still show how fast the energy relaxes.
constexpr double least_intervals = 5;
// In every step Parrinello-Rahman's pressure is one step behind the box, which drives the box: 2.4 kT/ns/atom in argon at 4 fs.
inline int least_interval(Thermostat) { return 1; }
inline int least_interval(Barostat kind) { return kind == Barostat::ParrinelloRahman ? 2 : 1; }

// The longest interval in steps that keeps to the bound, a divisor of 100; where none does, the shortest that makes sense, unless
// the period wants less. tau, dt: ps.
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
