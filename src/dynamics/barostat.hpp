// SPDX-License-Identifier: Apache-2.0
// Pressure coupling for leap-frog. It strains the box along the axes of space. Here an edge means a diagonal element
// of the box. Tilts follow (Box::with_diagonal()) and are in no formula, unless off-diagonal compressibilities let
// pressure change them (shear_body.hpp). BoxCoupling says which edges are joined. Joined edges change by one factor,
// which follows the mean of their pressures. An edge with compressibility 0 keeps its bits.
//
//   Parrinello-Rahman  Parrinello, Rahman, J. Appl. Phys. 52, 7182 (1981): the box has a velocity, driven by the pressure of the
//                      previous step. Acts on the kick (advance_box_velocity) and on the box (scale_box).
//   C-rescale          Bernetti, Bussi, J. Chem. Phys. 153, 114107 (2020): stochastic, first order. Scales box and velocities.
//                      Each set of joined edges has a noise of its own. For three single edges their equations of a box of two
//                      lengths are extended to three lengths; Del Tatto et al., Appl. Sci. 12, 1139 (2022), do so for any cell.
//   Berendsen          Berendsen et al., J. Chem. Phys. 81, 3684 (1984): first order, not an ensemble. Scales the box.
//
// Positions are fractions of the box, so they follow the box without extra work. The state of the
// coupling is plain data that a checkpoint stores; all other values are functions of this state.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "model/run_parameters.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

struct PressureCoupling
{
    Barostat kind = Barostat::None;
    double time_step = 0; // time between couplings, ps
    double tau = 1;       // ps
    BoxCoupling edges = BoxCoupling::Isotropic;
    Vec3<double> compressibility;                            // 1/bar, along each axis
    Vec3<double> reference;                                  // bar, along each axis
    Vec3<double> shear_compressibility{}, shear_reference{}; // 1/bar and bar, of the tilts yx, zx, zy
    double surface_tension = 0;     // bar nm, summed over all surfaces; 0 except for BoxCoupling::SurfaceTension
    bool follows_annealing = false; // true if annealing sets `temperature` in every step
    double temperature = 0;         // ensemble temperature for the noise of C-rescale, K
    double turning_share = 0;       // part of the kinetic energy in rotations within groups that constraints hold together
    std::uint64_t seed = 0;

    PARHELION_HD bool shears() const { return shear_compressibility != Vec3<double>{}; }
};

// Returns the coupling. C-rescale requires an ensemble temperature. turning_share: dynamics/degrees_of_freedom.hpp.
PressureCoupling make_pressure_coupling(const RunParameters& parameters, std::uint64_t seed, double turning_share = 0);

struct BarostatState
{
    // The next five members serve Parrinello-Rahman.
    Vec3<double> box_velocity;   // nm/ps
    Vec3<double> pressure;       // joined_mean() of the last known pressure, bar; set by the engine
    Vec3<double> tilt_velocity;  // elements yx, zx, zy, nm/ps; 0 unless the coupling shears the box, as is shear_pressure
    Vec3<double> shear_pressure; // elements yx, zx, zy of the pressure in the same step, bar
    bool pressure_known = false; // false before the end of the first step, in which the box velocity stays 0

    // Energy given to the system, kJ/mol. Parrinello-Rahman: work of outer pressures without a potential. Berendsen,
    // C-rescale: work of all scalings; that of the last one is complete a step later, with the virial at the scaled positions.
    double work = 0;
    double pending_work = 0;     // known part of the work of the last scaling, kJ/mol
    Vec3<double> pending_strain; // logarithms of the factors of the last scaling
    Vec3<double> pending_shear;  // elements yx, zx, zy of the strain in the last scaling
};

// Advances the box velocity of Parrinello-Rahman by the last pressure, and writes the drag of
// this step. Call it before the kick in steps that couple. It does nothing for other barostats.
void advance_box_velocity(const PressureCoupling& coupling, const Box<double>& box, BarostatState& barostat,
                          VelocityCoupling& velocities);

// The diagonals of the virial of all forces and constraints (kJ/mol) and of the pressure (bar), with long-range
// corrections. If the coupling shears the box, the off-diagonal elements yx, zx, zy are set as well.
struct PressureObservables
{
    Vec3<double> virial;
    Vec3<double> pressure;
    Vec3<double> shear_virial{}, shear_pressure{};
};

// Scales the box after the drift, when the step's pressure is known. With C-rescale, it also scales state.v
// by the inverse, and half_step, the kinetic energies of state.v, to match. Call it in steps that couple.
// Atoms follow the box, except along their frozen axes, as in GROMACS. mobility: empty if no atom is frozen.
template <class N>
void scale_box(CpuQueue& queue, const PressureCoupling& coupling, std::int64_t step, const PressureObservables& observables,
               BarostatState& barostat, KineticEnergies& half_step, ParticleState<N>& state, const Mobility& mobility = {});

// Replaces the edges of a sheared box by other edges of the same lattice if an edge leans by more than half of another edge.
// Positions and velocities keep their bits; the conserved energy stays the same within rounding. Returns true if it has done so.
template <class N>
bool flip_box(CpuQueue& queue, const PressureCoupling& coupling, BarostatState& barostat, ParticleState<N>& state);

} // namespace parhelion
