// SPDX-License-Identifier: Apache-2.0
// Pressure coupling for leap-frog: strains of the box along the axes of space, by the diagonal of its edges, which are called
// edges here. A tilt follows (Box::with_diagonal()), and no term has it, unless off-diagonal compressibilities let pressure move
// it (shear_body.hpp). BoxCoupling says which edges are joined: they change by
// one factor and follow the mean of their pressures. An edge with compressibility 0 keeps its bits.
//
//   Parrinello-Rahman  Parrinello, Rahman, J. Appl. Phys. 52, 7182 (1981): the box has a velocity, driven by the pressure of the
//                      previous step. Acts on the kick (advance_box_velocity) and on the box (scale_box).
//   C-rescale          Bernetti, Bussi, J. Chem. Phys. 153, 114107 (2020): stochastic, first order. Scales box and velocities.
//                      Each set of joined edges has a noise of its own. For three single edges these are their equations of a
//                      box of two lengths, written for three; Del Tatto et al., Appl. Sci. 12, 1139 (2022), do so for any cell.
//   Berendsen          Berendsen et al., J. Chem. Phys. 81, 3684 (1984): first order, not an ensemble. Scales the box.
//
// Positions are fractions of the box and follow it for free. Plain data and functions of it: the state is what a checkpoint
// keeps.
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
    double time_step = 0; // ps, from one coupling to the next
    double tau = 1;       // ps
    BoxCoupling edges = BoxCoupling::Isotropic;
    Vec3<double> compressibility;                            // 1/bar, by axis
    Vec3<double> reference;                                  // bar, by axis
    Vec3<double> shear_compressibility{}, shear_reference{}; // of the tilt: yx, zx, zy
    double surface_tension = 0;     // bar nm, of all surfaces together; 0 but for BoxCoupling::SurfaceTension
    bool follows_annealing = false; // then `temperature` is that of the temperature groups at a step's time
    double temperature = 0;         // K, of C-rescale's noise: the ensemble's
    double turning_share = 0;       // part of the kinetic energy in which groups that constraints hold together turn
    std::uint64_t seed = 0;

    PARHELION_HD bool shears() const { return shear_compressibility != Vec3<double>{}; }
};

// Requires an ensemble temperature for C-rescale. turning_share: dynamics/degrees_of_freedom.hpp.
PressureCoupling make_pressure_coupling(const RunParameters& parameters, std::uint64_t seed, double turning_share = 0);

struct BarostatState
{
    // Parrinello-Rahman
    Vec3<double> box_velocity;   // nm/ps
    Vec3<double> pressure;       // bar, joined_mean of the last step in which it was computed; the engine keeps it up to date
    Vec3<double> tilt_velocity;  // nm/ps, of yx, zx, zy; 0 unless the coupling shears the box, as the next
    Vec3<double> shear_pressure; // bar, yx, zx, zy, of that step
    bool pressure_known = false; // false until the first step has passed: the box velocity stays 0 in that step

    // Energy given to the system, kJ/mol. Parrinello-Rahman: by outer pressures that have no potential. Berendsen, C-rescale: by
    // all scalings; that of the last is known in full one step later, with the virial of the scaled positions.
    double work = 0;
    double pending_work = 0;     // what is known of it
    Vec3<double> pending_strain; // logarithms of the last scaling factors
    Vec3<double> pending_shear;  // yx, zx, zy of the last strain
};

// Parrinello-Rahman, before the kick: advances the box velocity by the last pressure and writes the drag of this step. Call in
// steps that couple; does nothing for the other barostats.
void advance_box_velocity(const PressureCoupling& coupling, const Box<double>& box, BarostatState& barostat,
                          VelocityCoupling& velocities);

// Diagonals of the virial of all forces and constraints (kJ/mol) and of the pressure (bar), both with long-range corrections; for
// coupling that shears the box also what is off them: yx, zx, zy.
struct PressureObservables
{
    Vec3<double> virial;
    Vec3<double> pressure;
    Vec3<double> shear_virial{}, shear_pressure{};
};

// After the drift and after the step's pressure is known: scales the box, and for C-rescale state.v by the inverse and half_step,
// the kinetic energies of state.v, likewise. Call in steps that couple. Atoms follow the box, but not along axes
// along which they are frozen, as in GROMACS. mobility: empty where nothing is frozen.
template <class N>
void scale_box(CpuQueue& queue, const PressureCoupling& coupling, std::int64_t step, const PressureObservables& observables,
               BarostatState& barostat, KineticEnergies& half_step, ParticleState<N>& state, const Mobility& mobility = {});

// Describes a sheared box by other edges of the same lattice if an edge leans by more than half of another one. Positions and
// velocities keep their bits; the conserved energy stays the same within rounding. Returns whether it did so.
template <class N>
bool flip_box(CpuQueue& queue, const PressureCoupling& coupling, BarostatState& barostat, ParticleState<N>& state);

} // namespace parhelion
