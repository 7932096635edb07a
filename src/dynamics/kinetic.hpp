// SPDX-License-Identifier: Apache-2.0
// Kinetic energies of the velocities in the state, by temperature group.
//
// Each rank sums over its home atoms. The sums are added over ranks element by element,
// and only the total is converted to numbers. Until then reproducible sums are integers.
//
// Leap-frog velocities belong to half steps. The kinetic energy of step s is the mean of the values before and after its update:
//   K(s) = (K(s - 1/2) + K(s + 1/2)) / 2.
#pragma once

#include "base/units.hpp"
#include "device/cpu_queue.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

struct KineticEnergies
{
    std::vector<Mat3<double>> group; // by group: 1/2 sum m v (x) v, kJ/mol, symmetric; the trace is the energy

    Mat3<double> total() const;
    double energy() const { return trace(total()); }
    double energy(int g) const { return trace(group[static_cast<std::size_t>(g)]); }
};

// Returns the mean of two half-step kinetic energies with the same groups.
KineticEnergies mean(const KineticEnergies& before, const KineticEnergies& after);

// Returns the temperature, K, or 0 if there are no degrees of freedom. kinetic_energy: kJ/mol.
PARHELION_HD inline double temperature(double kinetic_energy, double degrees_of_freedom)
{
    return degrees_of_freedom > 0 ? 2 * kinetic_energy / (degrees_of_freedom * units::boltzmann) : 0;
}

// Returns the kinetic energies of temperature groups, from those of motion groups (motion_groups.hpp).
KineticEnergies joined(const KineticEnergies& of_motion_groups, int temperature_groups);

// Returns this rank's part of the kinetic energies of state.v: six sums per group. Requires state.temperature_group < groups.
template <class N>
std::vector<ScalarSum<N>> sum_kinetic(CpuQueue& queue, const ParticleState<N>& state, int groups);

// Returns kinetic energies from the sums over all ranks. Sum: ScalarSum of some policy.
template <class Sum>
KineticEnergies finish_kinetic(const std::vector<Sum>& sums);

// Sums and finishes on a single rank. In reproducible policies the result depends neither on threads nor on the order of slots.
template <class N>
KineticEnergies compute_kinetic(CpuQueue& queue, const ParticleState<N>& state, int groups)
{
    return finish_kinetic(sum_kinetic(queue, state, groups));
}

// Returns the pressure tensor, bar: 2 / V (K - Xi). A third of its trace is the
// pressure. Long-range corrections are part of the virial, or the caller adds them.
PARHELION_HD inline Mat3<double> pressure_tensor(const Mat3<double>& kinetic, const Mat3<double>& virial, double volume)
{
    return (2 / volume * units::bar_per_kj_mol_nm3) * (kinetic + -1.0 * virial);
}

} // namespace parhelion
