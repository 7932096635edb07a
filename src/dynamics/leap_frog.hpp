// SPDX-License-Identifier: Apache-2.0
// The two halves of a leap-frog step (Hockney 1970): a kick changes velocities,
// a drift changes positions. Constraints act between kick and drift.
//
//   kick    v(t + dt/2) = keep v(t - dt/2) + push f(t) / m
//   drift   x(t + dt)   = x(t) + dt v(t + dt/2)
//
// keep and push are 1 and dt for a free system. Thermostat and barostat change these factors (see kick_coefficients()).
// Arithmetic is in double, atom by atom, with the same bits in any order. Cost: memory traffic, about 1 ns per atom and half.
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
    std::vector<GroupKick> group; // indexed by motion group
};

// The effects of thermostat and barostat on velocities in one step, before these are combined. The defaults have no effect.
struct VelocityCoupling
{
    std::vector<double> scale;    // factor on velocities, by temperature group; empty: 1 (for Berendsen, v-rescale)
    std::vector<double> friction; // half of the Nose-Hoover xi times its time step, by temperature group; empty: 0
    Vec3<double> drag;            // relative growth rate of the box times its time step (Parrinello-Rahman)
    Vec3<double> shear;           // rate of the tilt times its time step (BoxDrag::shear)
    bool at_full_step = false;    // true if scale acts on v(t), in the middle of the kick (velocity Verlet)
};

// Returns keep = (scale - friction - drag) / (1 + friction) and push = dt / (1 + friction). This is the reversible
// discretisation of GROMACS: friction acts on the mean of old and new velocity, drag on the old velocity.
PARHELION_HD inline GroupKick group_kick(double dt, double scale, double friction, const Vec3<double>& drag)
{
    GroupKick kick;
    for (int d = 0; d < 3; ++d) { kick.keep[d] = (scale - friction - drag[d]) / (1 + friction); }
    const double push = dt / (1 + friction);
    kick.push = {push, push, push};
    return kick;
}
// Returns `kick` with 0 along the axes along which atoms are frozen.
PARHELION_HD inline GroupKick along(const Vec3<double>& mobility, const GroupKick& kick)
{
    return {along(mobility, kick.keep), along(mobility, kick.push)};
}
// Returns the coefficients of two half kicks with `scale` acting between them: v(t + dt/2) = scale v(t) + dt/2 a.
PARHELION_HD inline GroupKick full_step_kick(double dt, double scale)
{
    const double push = 0.5 * dt * (1 + scale);
    return {{scale, scale, scale}, {push, push, push}};
}
// Returns the coefficients of all motion groups. groups: number of temperature groups. mobility: empty if no atom is frozen.
KickCoefficients kick_coefficients(double dt, int groups, const VelocityCoupling& coupling, const Mobility& mobility = {});

// Updates state.v of home atoms from state.v and state.f. Fillers keep velocity 0.
template <class N>
void kick(CpuQueue& queue, const KickCoefficients& coefficients, ParticleState<N>& state);

// Changes state.v by the shear of the box. Call it before a kick with these coefficients over dt. drag: VelocityCoupling::shear.
template <class N>
void shear_velocities(CpuQueue& queue, const KickCoefficients& coefficients, double dt, const Vec3<double>& drag,
                      ParticleState<N>& state);

// Adds dt state.v to state.x of home atoms. Requires |dt v| < half the box.
template <class N>
void drift(CpuQueue& queue, double dt, ParticleState<N>& state);

} // namespace parhelion
