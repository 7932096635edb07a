// SPDX-License-Identifier: Apache-2.0
// The base point and the vectors of a minimisation on a CPU (minimise/surface.hpp), by global atom, as slots change their order
// between evaluations. Holds home atoms alone. Cost: 24 bytes per atom and vector, 12 or 24 for the base.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/constraints.hpp"
#include "dynamics/minimise/surface.hpp"
#include "dynamics/motion_groups.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <deque>
#include <vector>

namespace parhelion {

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
class MinimiserPoints
{
public:
    // Takes the free forces at state.x as the vector `new_force`, and returns the point's energy and largest force.
    SurfacePoint take(CpuQueue& queue, double potential, const ClusterArray<double>& forces, const ParticleState<N>& state);
    // Makes state.x the base, and `new_force` the vector `force`.
    void accept(CpuQueue& queue, const ParticleState<N>& state);
    // Sets state.x to base + factor * search on the constraints, which must have Equal masses. Returns false, with state.x at the
    // base, if they cannot be satisfied. Uses state.v for intermediate values and leaves it 0.
    bool move(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment, double factor,
              ParticleState<N>& state) const;
    void return_to_base(CpuQueue& queue, ParticleState<N>& state) const;
    void combine(CpuQueue& queue, int into, const EnergySurface::Term& a, const EnergySurface::Term& b);
    // The sum is made by blocks of atoms, so it does not depend on the number of threads.
    double product(CpuQueue& queue, int a, int b);
    double largest(int vector);

private:
    std::vector<Vec3<double>>& vector(int number);

    std::vector<Vec3<typename N::Fixed>> base_;     // by global atom
    std::deque<std::vector<Vec3<double>>> vectors_; // [vector][global atom]; 0 for atoms that are not home
    std::size_t atoms_ = 0;
};

} // namespace parhelion
