// SPDX-License-Identifier: Apache-2.0
// Steepest descent with an adaptive step: robust far from a minimum, slow near it.
//
// From an accepted point the atom with the largest force moves by `step` and all others in proportion. Lower energy: the point is
// accepted and the step grows by 1.2. Otherwise it is taken back and the step shrinks to 0.2. Constraints act on the
// displacement, with equal masses, and the force along them does not count.
//
// The engine drives it: compute forces and energy at state.x, then
//   while (minimizer.consider(queue, ..., potential) == Minimization::Continue) { compute forces and energy at state.x }
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/constraints.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

enum class Minimization : std::uint8_t
{
    Continue,         // state.x holds a new point to evaluate
    Converged,        // largest force below the tolerance; state.x is that point
    MachinePrecision, // the step has become too small to change state.x
};

template <class N>
class SteepestDescent
{
public:
    // step: nm, for the atom with the largest force; tolerance: kJ/mol/nm. `constraints` (Equal masses) must outlive this.
    SteepestDescent(const Constraints& constraints, double step, double tolerance)
        : constraints_(constraints), step_(step), tolerance_(tolerance)
    {
    }

    // Judges state.x by its potential (kJ/mol; not finite counts as higher) and state.f, and moves state.x to the next point.
    // Uses state.v as scratch and leaves it 0. Never changes the order of slots, so the caller may, between two calls, only after
    // accepted().
    Minimization consider(CpuQueue& queue, const MoleculeList& molecules, double potential, ParticleState<N>& state);

    bool accepted() const { return accepted_; }             // was the last point considered better than all before?
    double potential() const { return potential_; }         // of the best point, kJ/mol
    double largest_force() const { return largest_force_; } // there, without the part along constraints, kJ/mol/nm
    std::int64_t largest_force_atom() const { return largest_force_atom_; } // global
    double step() const { return step_; }                                   // nm, of the next move

private:
    void remember(CpuQueue& queue, const MoleculeList& molecules, double potential, const ParticleState<N>& state);
    bool move(CpuQueue& queue, const MoleculeList& molecules, ParticleState<N>& state);

    const Constraints& constraints_;
    double step_, tolerance_;
    bool started_ = false, accepted_ = false;
    double potential_ = 0, largest_force_ = 0;
    std::int64_t largest_force_atom_ = -1;
    ClusterArray<typename N::Fixed> best_x_;
    ClusterArray<double> best_f_;
};

} // namespace parhelion
