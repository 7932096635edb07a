// SPDX-License-Identifier: Apache-2.0
// The two halves of a leap-frog step (Hockney 1970): kick changes velocities, drift changes positions. Constraints act between
// them.
//
//   kick    v(t + dt/2) = keep v(t - dt/2) + push f(t) / m
//   drift   x(t + dt)   = x(t) + dt v(t + dt/2)
//
// keep and push are 1 and dt for a free system; thermostat and barostat put their factors there (see kick_coefficients).
// Arithmetic in double, per atom, in any order with the same bits. Cost: bound by memory, about 1 ns per atom each.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/motion_groups.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

struct GroupKick
{
    Vec3<double> keep{1, 1, 1};
    Vec3<double> push; // ps
};

struct KickCoefficients
{
    std::vector<GroupKick> group; // by motion group
};

// What thermostat and barostat do to the velocities in one step, before they are combined; all neutral by default.
struct VelocityCoupling
{
    std::vector<double> scale;    // factor on the velocity, by temperature group; empty: 1 (Berendsen, v-rescale)
    std::vector<double> friction; // half the Nose-Hoover xi times its time step; empty: 0
    Vec3<double> drag;            // rate of relative box growth times its time step (Parrinello-Rahman)
    Vec3<double> shear;           // likewise of its tilt (BoxDrag::shear)
};

// keep = (scale - friction - drag) / (1 + friction), push = dt / (1 + friction): the reversible discretisation that GROMACS uses,
// friction acting on the mean of the old and new velocity, drag on the old one.
PARHELION_HD inline GroupKick group_kick(double dt, double scale, double friction, const Vec3<double>& drag)
{
    GroupKick kick;
    for (int d = 0; d < 3; ++d) { kick.keep[d] = (scale - friction - drag[d]) / (1 + friction); }
    const double push = dt / (1 + friction);
    kick.push = {push, push, push};
    return kick;
}
// That of atoms which are frozen along some axes.
PARHELION_HD inline GroupKick along(const Vec3<double>& mobility, const GroupKick& kick)
{
    return {along(mobility, kick.keep), along(mobility, kick.push)};
}
// groups: temperature groups. mobility: empty where none of them is split.
KickCoefficients kick_coefficients(double dt, int groups, const VelocityCoupling& coupling, const Mobility& mobility = {});

// state.v from state.v and state.f. Fillers keep velocity 0. Kick and drift move home atoms.
template <class N>
void kick(CpuQueue& queue, const KickCoefficients& coefficients, ParticleState<N>& state);

// Before a kick with these coefficients over dt: what a box that is sheared does to state.v. drag: VelocityCoupling::shear.
template <class N>
void shear_velocities(CpuQueue& queue, const KickCoefficients& coefficients, double dt, const Vec3<double>& drag,
                      ParticleState<N>& state);

// state.x += dt state.v, for |dt v| < half the box.
template <class N>
void drift(CpuQueue& queue, double dt, ParticleState<N>& state);

} // namespace parhelion
