// SPDX-License-Identifier: Apache-2.0
// Steepest descent with an adaptive step: robust far from a minimum, slow near it.
//
// From the best point so far the atom with the largest force moves by `step` and all others in proportion. Lower energy: the new
// point is the best one and the step grows by 1.2. Otherwise it is taken back and the step shrinks to 0.2. Constraints act on the
// displacement, with equal masses, and the force along them does not count.
// The largest force and the best point are those of the home atoms: a minimisation is one rank's.
//
// The engine drives it: compute forces and energy at state.x, then
//   while (minimizer.consider(queue, assignment, potential, state) == Minimization::Continue) { both at state.x again }
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/constraints.hpp"
#include "dynamics/motion_groups.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

enum class Minimization : std::uint8_t
{
    Continue,         // state.x holds a new point to evaluate
    Converged,        // largest force at or below the tolerance; state.x is that point
    MachinePrecision, // the step has become too small to change a position; state.x is the best point
};

// What the forces of state.f do to atoms at rest, and what of them constraints take up.
template <class N>
struct ForcesAtRest
{
    // Forces by mass, without the part that constraints take up: kJ/mol/nm/u. With Equal masses, of 1 u, these are the forces
    // that a minimisation follows.
    ClusterArray<double> free;
    ConstraintResult<N> of_constraints; // the virial of what they take up
};
// masses: those of `constraints`. mobility: empty where nothing is frozen; along frozen axes nothing is free. Throws InputError
// E158.
template <class N>
ForcesAtRest<N> forces_at_rest(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                               const ParticleState<N>& state, ConstraintMasses masses, const Mobility& mobility = {});

template <class N>
class SteepestDescent
{
public:
    // step: nm; tolerance: kJ/mol/nm. `constraints` (Equal masses) must outlive this.
    SteepestDescent(const Constraints& constraints, double step, double tolerance)
        : constraints_(constraints), step_(step), tolerance_(tolerance)
    {
    }

    // Judges state.x by its potential (kJ/mol; what is not finite counts as higher) and its free forces with Equal masses, and
    // moves state.x to the next point. Uses state.v as scratch and leaves it 0. The order of slots may change between calls. The
    // first point must have finite energy and forces and satisfy the constraints.
    Minimization consider(CpuQueue& queue, const ConstraintAssignment& assignment, double potential,
                          const ClusterArray<double>& forces, ParticleState<N>& state);

    // Takes state.x back to the best point: for who ends while consider() says Continue.
    void return_to_best(CpuQueue& queue, ParticleState<N>& state) const;

    bool accepts(double potential) const { return !started_ || potential < potential_; } // is such a point the best so far?
    bool accepted() const { return accepted_; }                                          // was the last point judged so?
    double potential() const { return potential_; }                                      // of the best point, kJ/mol
    double largest_force() const { return largest_force_; } // there, without the part along constraints, kJ/mol/nm
    std::int64_t largest_force_atom() const { return largest_force_atom_; } // global

private:
    void remember(CpuQueue& queue, double potential, const ClusterArray<double>& forces, const ParticleState<N>& state);
    bool move(CpuQueue& queue, const ConstraintAssignment& assignment, ParticleState<N>& state);

    const Constraints& constraints_;
    double step_, tolerance_; // nm, kJ/mol/nm
    bool started_ = false, accepted_ = false;
    double potential_ = 0, largest_force_ = 0;
    std::int64_t largest_force_atom_ = -1;
    std::vector<Vec3<typename N::Fixed>> best_x_; // by global atom
    std::vector<Vec3<double>> best_f_;
};

} // namespace parhelion
