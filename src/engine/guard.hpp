// SPDX-License-Identifier: Apache-2.0
// Checks a running simulation for blow-ups: in every step it finds the atom whose force
// or velocity is not finite or exceeds the limits by most. Cost: one pass over f and v.
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

// The limit of an atom's displacement in one step. It is a speed of 100 km/s at 2 fs, fifty times
// the thermal speed of hydrogen. An atom beyond the limit means that the simulation is broken.
inline constexpr double unstable_displacement = 0.2; // nm
// The limit of the force on an atom. Sane configurations have at most some 1e5. Float pair kernels stay finite far above it.
inline constexpr double unstable_force = 1e8; // kJ/mol/nm

// Returns the worst atom beyond the limits, or nothing. An atom whose force or velocity is not finite counts as the worst.
template <class N>
std::optional<UnstableAtom> find_unstable_atom(CpuQueue& queue, const ParticleState<N>& state, double dt);

// Returns a remark if the reproducible sums of an evaluation may have reached their limits (base/numerics.hpp), or an
// empty text. `forces`: of all atoms, kJ/mol/nm. Three cases go unnoticed: saturated forces that cancel on every atom;
// totals that wrap around completely, as with very many overlaps; and some atoms in one place among 250 000 atoms or more.
template <class N>
std::string range_remark(const std::vector<Vec3<double>>& forces, const EnergyVirial& energies);

// Throws InputError E256 if an edge of the box, nm, is too long for the steps in which this policy stores positions.
template <class N>
void check_resolution(const Box<double>& box);

// Reproducible sums wrap at 2.1e9, which limits the size of a system. The Coulomb energy reaches this value at
// 160 million atoms of water and ethanol (13 kJ/mol an atom), or at five million atoms of rock salt (430). The
// mass of a centre-of-mass group reaches it at eleven million atoms of gold. Other policies have no such limits.

// Call it before a run or an evaluation. Throws InputError E614 if the mass of a centre-of-mass
// group exceeds the range of sums, or if the expected Coulomb energy is about as large as the range.
template <class N>
void check_range(const Topology& topology, const RunParameters& parameters, const Box<double>& box, const AtomGroups& com_groups);
// Call it for an observed step. Throws PhysicsError E510 if an energy, or an element of a virial or the kinetic tensor,
// exceeds half the range of sums. Growing sums thus end a run before they wrap. Sums that have wrapped since the first
// step are noticed up to one and a half times the range. For larger sums there is only the estimate of check_range().
template <class N>
void stop_if_beyond_range(const Observables& observables);

} // namespace parhelion
