// SPDX-License-Identifier: Apache-2.0
// Temperature coupling: every temperature group relaxes to its reference temperature. With
// leap-frog, the coupling is driven by the kinetic energy of v(t - dt/2), with velocity Verlet by that of v(t).
//
//   v-rescale    Bussi, Donadio, Parrinello, J. Chem. Phys. 126, 014101 (2007), eq. A7: canonical
//   Berendsen    Berendsen et al., J. Chem. Phys. 81, 3684 (1984): not an ensemble
//   Nose-Hoover  Hoover, Phys. Rev. A 31, 1695 (1985), one thermostat variable per group with leap-frog; a chain of variables
//                with velocity Verlet: Martyna, Tuckerman, Tobias, Klein, Mol. Phys. 87, 1117 (1996)
//
// The state of the coupling is plain data that a checkpoint stores; all other values are functions of this state.
#pragma once

#include "dynamics/annealing.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "model/run_parameters.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

// Returns whether a coupling with this interval acts in this step. It acts in the step after each multiple of the
// interval, as the kinetic energy and pressure of that multiple are then known. With interval 1 it acts in every step.
constexpr bool couples(std::int64_t step, int interval) { return interval == 1 || (interval > 1 && (step - 1) % interval == 0); }

// The chain of Nose-Hoover variables of each group, with velocity Verlet.
struct NoseHooverChain
{
    int links = 0; // 0: leap-frog, which has one variable and no chain
    int parts = 1; // number of parts into which the chain divides the time between couplings
};

struct TemperatureCoupling
{
    struct Group
    {
        double tau = 0;       // ps; <= 0: not coupled
        double reference = 0; // K; with annealing the value of the last anneal()
        double degrees_of_freedom = 0;
        double mass_reference = 0; // K: reference at the start; gives the inertia of Nose-Hoover's variable
        Annealing annealing = Annealing::None;
        int first_point = 0, points = 0;
    };
    Thermostat kind = Thermostat::None;
    double time_step = 0; // time between couplings, ps
    std::uint64_t seed = 0;
    bool at_full_step = false; // true with velocity Verlet
    NoseHooverChain chain;
    std::vector<Group> groups;
    std::vector<AnnealingPoint> points; // points of all groups, group by group; empty without annealing
};

// Returns the reference temperature of a group at `time` ps, K. `points`: TemperatureCoupling::points.
PARHELION_HD inline double reference_at(const TemperatureCoupling::Group& group, const AnnealingPoint* points, double time)
{
    if (group.annealing == Annealing::None) { return group.reference; }
    return annealed_temperature(group.annealing, points + group.first_point, group.points, time);
}
// Sets the reference temperatures of all groups to their values at `time` ps.
inline void anneal(double time, TemperatureCoupling& coupling)
{
    for (TemperatureCoupling::Group& group : coupling.groups)
    {
        group.reference = reference_at(group, coupling.points.data(), time);
    }
}

// Returns the coupling. Throws InputError E541 if a coupled group has less than one degree of freedom.
TemperatureCoupling make_temperature_coupling(const RunParameters& parameters, const std::vector<double>& degrees_of_freedom,
                                              std::uint64_t seed);

// The state of the thermostat of one temperature group.
struct ThermostatState
{
    double xi = 0;                        // Nose-Hoover: friction, 1/ps
    double xi_integral = 0;               // Nose-Hoover: time integral of xi
    double heat = 0;                      // v-rescale, Berendsen: total energy that the group got, kJ/mol
    double chain[most_chain_links - 1]{}; // Nose-Hoover: frictions (xi) of the further links of the chain, 1/ps
    int links_after_first = 0;            // number of values in use of `chain`, the same in all groups
};

std::vector<ThermostatState> initial_state(const TemperatureCoupling& coupling); // indexed by group

// Advances the state by one coupling step, and writes scale and friction of this step to `velocities`. `kinetic` is the
// kinetic energy of v(t - dt/2), with velocity Verlet of v(t). Call it in steps that couple; in others nothing scales velocities.
// A Nose-Hoover chain takes the first half of its step here, the second in finish_coupling().
void couple_temperature(const TemperatureCoupling& coupling, std::int64_t step, const KineticEnergies& kinetic,
                        std::span<ThermostatState> state, VelocityCoupling& velocities);

// Ends the coupling step of Nose-Hoover chains: advances them by half a coupling step, scales `kinetic`, the kinetic
// energy of v(t), and writes the factors on v(t) to `velocities`. Call it in the step after couple_temperature(), so that
// the halves enclose a step of the atoms, and before couple_temperature() if that step couples, too.
void finish_coupling(const TemperatureCoupling& coupling, KineticEnergies& kinetic, std::span<ThermostatState> state,
                     VelocityCoupling& velocities);

// Returns the difference of the conserved energy and the total energy, kJ/mol.
double conserved_contribution(const TemperatureCoupling& coupling, std::span<const ThermostatState> state);

} // namespace parhelion
