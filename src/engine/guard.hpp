// SPDX-License-Identifier: Apache-2.0
// The watch over a running simulation: finds the first atom whose force or velocity is not finite or absurd, every step, for the
// price of one pass over f and v.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/atom_groups.hpp"
#include "engine/observer.hpp"
#include "model/energy_terms.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"
#include "state/particle_state.hpp"

#include <optional>
#include <string>
#include <vector>

namespace parhelion {

struct UnstableAtom
{
    std::int32_t slot = 0;
    double force = 0;        // kJ/mol/nm; may be NaN
    double displacement = 0; // nm in one step; may be NaN
};

// An atom that moves this far in one step is not in a simulation any more: 100 km/s at 2 fs, fifty times the thermal speed of
// hydrogen.
inline constexpr double unstable_displacement = 0.2; // nm
// The largest force a sane configuration has is some 1e5; float pair kernels stay finite far above this.
inline constexpr double unstable_force = 1e8; // kJ/mol/nm

// The worst atom beyond the limits (not finite counts as worst), or nothing.
template <class N>
std::optional<UnstableAtom> find_unstable_atom(CpuQueue& queue, const ParticleState<N>& state, double dt);

// What to say of an evaluation whose reproducible sums may have met their limits (base/numerics.hpp); empty: nothing. `forces`:
// of all atoms, kJ/mol/nm. Not noticed: limited forces that cancel on every atom, totals of very many overlaps that have gone all
// the way round, and, among 250 000 atoms or more, some that are in one place.
template <class N>
std::string range_remark(const std::vector<Vec3<double>>& forces, const EnergyVirial& energies);

// Reproducible sums wrap at 2.1e9, and the larger the system the larger its sums: of water and ethanol, 13 kJ/mol of Coulomb
// energy an atom, at 160 million atoms; of rock salt, 430, at five million; masses of gold, of the centre of mass, at eleven
// million. Other policies have no such limits.

// Before a run, or a single point of one: throws InputError E614 if a group whose motion is to be removed weighs more, or if
// about as much Coulomb energy is to be expected.
template <class N>
void check_range(const Topology& topology, const RunParameters& parameters, const Box<double>& box, const AtomGroups& com_groups);
// At an observed step of a run: throws PhysicsError E510 if an energy, or an element of a virial or of the kinetic tensor, is
// beyond half the range. So sums that grow end a run before they wrap, and what has wrapped from the first step on is noticed up
// to one and a half times the range; for more an estimate will do.
template <class N>
void stop_if_beyond_range(const Observables& observables);

} // namespace parhelion
