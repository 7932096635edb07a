// SPDX-License-Identifier: Apache-2.0
// Kinetic energies of the velocities in the state, per temperature group.
//
// With several ranks each sums over its home atoms, the sums are added over ranks element by element, and only the total is
// finished: reproducible sums are integers until then.
//
// Leap-frog velocities belong to half steps. The kinetic energy of step s is the mean of those before and after its update:
//   K(s) = (K(s - 1/2) + K(s + 1/2)) / 2.
#pragma once

#include "base/units.hpp"
#include "device/cpu_queue.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

struct KineticEnergies
{
    std::vector<Mat3<double>> group; // 1/2 sum m v (x) v, kJ/mol, symmetric; its trace is the energy

    Mat3<double> total() const;
    double energy() const { return trace(total()); }
    double energy(int g) const { return trace(group[static_cast<std::size_t>(g)]); }
};

// The mean of two half-step kinetic energies with the same groups.
KineticEnergies mean(const KineticEnergies& before, const KineticEnergies& after);

// K; 0 where dof is 0.
PARHELION_HD inline double temperature(double kinetic_energy, double degrees_of_freedom)
{
    return degrees_of_freedom > 0 ? 2 * kinetic_energy / (degrees_of_freedom * units::boltzmann) : 0;
}

// The kinetic energies of temperature groups, of those of motion groups (motion_groups.hpp).
KineticEnergies joined(const KineticEnergies& of_motion_groups, int temperature_groups);

// This rank's part of the kinetic energies of state.v: six sums for each group. groups > every state.temperature_group.
template <class N>
std::vector<ScalarSum<N>> sum_kinetic(CpuQueue& queue, const ParticleState<N>& state, int groups);

// Kinetic energies from the sums over all ranks. Sum: ScalarSum of some policy.
template <class Sum>
KineticEnergies finish_kinetic(const std::vector<Sum>& sums);

// Both, for a single rank. In reproducible policies the result does not depend on the number of threads or the order of slots.
template <class N>
KineticEnergies compute_kinetic(CpuQueue& queue, const ParticleState<N>& state, int groups)
{
    return finish_kinetic(sum_kinetic(queue, state, groups));
}

// Pressure tensor in bar: 2 / V (K - Xi); its trace / 3 is the pressure. Long-range corrections are in the virial or are added by
// the caller.
PARHELION_HD inline Mat3<double> pressure_tensor(const Mat3<double>& kinetic, const Mat3<double>& virial, double volume)
{
    return (2 / volume * units::bar_per_kj_mol_nm3) * (kinetic + -1.0 * virial);
}

} // namespace parhelion
