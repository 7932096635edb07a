// SPDX-License-Identifier: Apache-2.0
// Steepest descent with an adaptive step: robust far from a minimum, slow near it.
//
// In a step from the best point, the atom with the largest force moves by `step`, all other atoms in proportion to
// their force. If the energy falls, the new point is the best one and `step` grows by 1.2. Otherwise the move is
// undone and `step` is multiplied by 0.2. Constraints act on the displacement, with equal masses, and forces along
// them do not count. The largest force and the best point are those of home atoms, so a minimisation runs on one rank.
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
    Continue,         // state.x is a new point to evaluate
    Converged,        // the largest force is at or below the tolerance; state.x is the point with it
    MachinePrecision, // the step is too small to change a position; state.x is the best point
};

// The forces of state.f on atoms at rest, split into the part that constraints balance and the free part.
template <class N>
struct ForcesAtRest
{
    // Forces divided by mass, without the part that constraints balance: kJ/mol/nm/u.
    // With Equal masses, of 1 u, these are the forces that a minimisation follows.
    ClusterArray<double> free;
    ConstraintResult<N> of_constraints; // has the virial of the part that constraints balance
};
// Returns the split forces. masses: those of `constraints`. mobility: empty if no
// atom is frozen; components along frozen axes become 0. Throws InputError E158.
template <class N>
ForcesAtRest<N> forces_at_rest(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                               const ParticleState<N>& state, ConstraintMasses masses, const Mobility& mobility = {});

template <class N>
class SteepestDescent
{
public:
    // `step` is in nm, `tolerance` in kJ/mol/nm. `constraints` (Equal masses) must outlive this object.
    SteepestDescent(const Constraints& constraints, double step, double tolerance)
        : constraints_(constraints), step_(step), tolerance_(tolerance)
    {
    }

    // Judges the point state.x by its potential (kJ/mol; one that is not finite counts as higher) and its free forces
    // with Equal masses, and moves state.x to the next point. Uses state.v as scratch and leaves it 0. The order of
    // slots may change between calls. The first point must have finite energy and forces and satisfy the constraints.
    Minimization consider(CpuQueue& queue, const ConstraintAssignment& assignment, double potential,
                          const ClusterArray<double>& forces, ParticleState<N>& state);

    // Moves state.x back to the best point. It serves a caller that stops although consider() returned Continue.
    void return_to_best(CpuQueue& queue, ParticleState<N>& state) const;

    bool accepts(double potential) const { return !started_ || potential < potential_; } // whether it would be the best point
    bool accepted() const { return accepted_; }                                          // whether the last point was the best
    double potential() const { return potential_; }                                      // of the best point, kJ/mol
    double largest_force() const { return largest_force_; } // at the best point, without parts along constraints, kJ/mol/nm
    std::int64_t largest_force_atom() const { return largest_force_atom_; } // global atom with the largest force

private:
    void remember(CpuQueue& queue, double potential, const ClusterArray<double>& forces, const ParticleState<N>& state);
    bool move(CpuQueue& queue, const ConstraintAssignment& assignment, ParticleState<N>& state);

    const Constraints& constraints_;
    double step_, tolerance_; // nm, kJ/mol/nm
    bool started_ = false, accepted_ = false;
    double potential_ = 0, largest_force_ = 0;
    std::int64_t largest_force_atom_ = -1;
    std::vector<Vec3<typename N::Fixed>> best_x_; // positions of the best point, by global atom
    std::vector<Vec3<double>> best_f_;
};

} // namespace parhelion
