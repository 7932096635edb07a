// SPDX-License-Identifier: Apache-2.0
// Temperature coupling for leap-frog: every temperature group relaxes to its reference, driven by the kinetic energy of v(t -
// dt/2).
//
//   v-rescale    Bussi, Donadio, Parrinello, J. Chem. Phys. 126, 014101 (2007), eq. A7: canonical
//   Berendsen    Berendsen et al., J. Chem. Phys. 81, 3684 (1984): not an ensemble
//   Nose-Hoover  Hoover, Phys. Rev. A 31, 1695 (1985), one thermostat variable per group (leap-frog uses no chain)
//
// Plain data and functions of it: the state is what a checkpoint keeps.
#pragma once

#include "dynamics/annealing.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "model/run_parameters.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// Does the coupling with this interval act in this step? In the step after each multiple of the interval, when that step's
// kinetic energy and pressure are known; every step for interval 1.
constexpr bool couples(std::int64_t step, int interval) { return interval == 1 || (interval > 1 && (step - 1) % interval == 0); }

struct TemperatureCoupling
{
    struct Group
    {
        double tau = 0;       // ps; <= 0: not coupled
        double reference = 0; // K; with annealing, at the time of the last anneal()
        double degrees_of_freedom = 0;
        double mass_reference = 0; // K: reference at the start, by which Nose-Hoover's variable has its inertia
        Annealing annealing = Annealing::None;
        int first_point = 0, points = 0;
    };
    Thermostat kind = Thermostat::None;
    double time_step = 0; // ps, from one coupling to the next
    std::uint64_t seed = 0;
    std::vector<Group> groups;
    std::vector<AnnealingPoint> points; // of all groups; empty without annealing
};

// The reference temperature of a group at `time` ps; `points` are the coupling's.
PARHELION_HD inline double reference_at(const TemperatureCoupling::Group& group, const AnnealingPoint* points, double time)
{
    if (group.annealing == Annealing::None) { return group.reference; }
    return annealed_temperature(group.annealing, points + group.first_point, group.points, time);
}
// Sets all references to those of a time.
inline void anneal(double time, TemperatureCoupling& coupling)
{
    for (TemperatureCoupling::Group& group : coupling.groups)
    {
        group.reference = reference_at(group, coupling.points.data(), time);
    }
}

// Throws InputError E541 if a coupled group has less than one degree of freedom.
TemperatureCoupling make_temperature_coupling(const RunParameters& parameters, const std::vector<double>& degrees_of_freedom,
                                              std::uint64_t seed);

struct ThermostatState
{
    std::vector<double> xi;          // Nose-Hoover: friction, 1/ps, by group
    std::vector<double> xi_integral; // Nose-Hoover: its time integral
    std::vector<double> heat;        // v-rescale, Berendsen: energy given to each group so far, kJ/mol
};

ThermostatState initial_state(const TemperatureCoupling& coupling);

// Advances the state by one coupling step and writes scale and friction of this step. `half_step` is the kinetic energy of v(t -
// dt/2). Call in steps that couple; in others scale and friction are neutral.
void couple_temperature(const TemperatureCoupling& coupling, std::int64_t step, const KineticEnergies& half_step,
                        ThermostatState& state, VelocityCoupling& velocities);

// What must be added to the total energy to obtain the conserved one, kJ/mol.
double conserved_contribution(const TemperatureCoupling& coupling, const ThermostatState& state);

} // namespace parhelion
