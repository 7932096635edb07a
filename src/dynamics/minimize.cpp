// SPDX-License-Identifier: Apache-2.0
#include "dynamics/minimize.hpp"

#include "dynamics/leap_frog.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

constexpr double grow = 1.2, shrink = 0.2;

// Calls body(slot, global atom) for every home atom, in parallel.
template <class N, class Body>
void for_each_atom(CpuQueue& queue, const ParticleState<N>& state, Body&& body)
{
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (state.global_of_slot[slot] >= 0) { body(slot, static_cast<std::size_t>(state.global_of_slot[slot])); }
        }
    });
}

} // namespace

template <class N>
ForcesAtRest<N> forces_at_rest(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                               const ParticleState<N>& state, ConstraintMasses masses, const Mobility& mobility)
{
    ForcesAtRest<N> forces;
    forces.free.resize(state.home_slots());
    for_each_atom(queue, state, [&](std::size_t slot, std::size_t) {
        const double inverse_mass = masses == ConstraintMasses::Equal ? 1 : static_cast<double>(state.inverse_mass[slot]);
        const auto f = state.f.get(slot);
        const Vec3<double> force{from_sum(f.x), from_sum(f.y), from_sum(f.z)};
        forces.free.set(slot, inverse_mass * (mobility.empty() ? force : along(mobility[state.temperature_group[slot]], force)));
    });
    forces.of_constraints = constraints.project(queue, assignment, state, forces.free, Virial::Compute);
    return forces;
}

template <class N>
Minimization SteepestDescent<N>::consider(CpuQueue& queue, const ConstraintAssignment& assignment, double potential,
                                          const ClusterArray<double>& forces, ParticleState<N>& state)
{
    accepted_ = accepts(potential);
    if (accepted_)
    {
        if (started_) { step_ *= grow; }
        remember(queue, potential, forces, state);
        started_ = true;
    }
    else
    {
        step_ *= shrink;
        return_to_best(queue, state);
    }
    std::fill(state.v.values().begin(), state.v.values().end(), typename N::Real{0});
    if (largest_force_ <= tolerance_) { return Minimization::Converged; }
    return move(queue, assignment, state) ? Minimization::Continue : Minimization::MachinePrecision;
}

template <class N>
void SteepestDescent<N>::remember(CpuQueue& queue, double potential, const ClusterArray<double>& forces,
                                  const ParticleState<N>& state)
{
    potential_ = potential;
    best_x_.resize(state.slot_of_global.size());
    best_f_.resize(state.slot_of_global.size());
    for_each_atom(queue, state, [&](std::size_t slot, std::size_t atom) {
        best_x_[atom] = state.x.get(slot);
        best_f_[atom] = forces.get(slot);
    });
    double largest = -1;
    for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
    {
        const std::int32_t atom = state.global_of_slot[slot];
        if (atom < 0) { continue; }
        const double force = norm2(forces.get(slot));
        if (force > largest || (force == largest && atom < largest_force_atom_))
        {
            largest = force;
            largest_force_atom_ = atom;
        }
    }
    largest_force_ = std::sqrt(std::max(largest, 0.0));
}

template <class N>
void SteepestDescent<N>::return_to_best(CpuQueue& queue, ParticleState<N>& state) const
{
    for_each_atom(queue, state, [&](std::size_t slot, std::size_t atom) { state.x.set(slot, best_x_[atom]); });
}

// Moves from the best point. Returns false if no position changes any more. Shortens a step that is too long for constraints.
template <class N>
bool SteepestDescent<N>::move(CpuQueue& queue, const ConstraintAssignment& assignment, ParticleState<N>& state)
{
    for (;;)
    {
        const double scale = step_ / largest_force_;
        for_each_atom(queue, state, [&](std::size_t slot, std::size_t atom) {
            state.v.set(slot, static_cast<Vec3<typename N::Real>>(scale * best_f_[atom]));
        });
        const ConstraintResult<N> constrained = constraints_.apply(queue, assignment, state, 1, Virial::Skip);
        const bool is_allowed = constrained.failures == 0;
        if (is_allowed) { drift(queue, 1, state); }
        std::fill(state.v.values().begin(), state.v.values().end(), typename N::Real{0});
        if (is_allowed) { break; }
        step_ *= shrink;
        if (!(step_ > 1e-30)) { return false; }
    }
    for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
    {
        const std::int32_t atom = state.global_of_slot[slot];
        if (atom >= 0 && state.x.get(slot) != best_x_[static_cast<std::size_t>(atom)]) { return true; }
    }
    return false;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template ForcesAtRest<N> forces_at_rest(CpuQueue&, const Constraints&, const ConstraintAssignment&, const ParticleState<N>&, \
                                            ConstraintMasses, const Mobility&);                                                  \
    template class SteepestDescent<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
