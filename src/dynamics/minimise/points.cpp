// SPDX-License-Identifier: Apache-2.0
#include "dynamics/minimise/points.hpp"

#include "dynamics/leap_frog.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace parhelion {

namespace {

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
std::vector<Vec3<double>>& MinimiserPoints<N>::vector(int number)
{
    const auto index = static_cast<std::size_t>(number);
    if (vectors_.size() <= index) { vectors_.resize(index + 1); }
    vectors_[index].resize(atoms_);
    return vectors_[index];
}

template <class N>
SurfacePoint MinimiserPoints<N>::take(CpuQueue& queue, double potential, const ClusterArray<double>& forces,
                                      const ParticleState<N>& state)
{
    atoms_ = state.slot_of_global.size();
    std::vector<Vec3<double>>& new_force = vector(minimiser_vector::new_force);
    for_each_atom(queue, state, [&](std::size_t slot, std::size_t atom) { new_force[atom] = forces.get(slot); });
    SurfacePoint point{.potential = potential, .largest_force = 0, .largest_force_atom = -1, .has_moved = base_.empty()};
    double largest = -1;
    for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
    {
        const std::int32_t atom = state.global_of_slot[slot];
        if (atom < 0) { continue; }
        const double force = norm2(forces.get(slot));
        if (force > largest || (force == largest && atom < point.largest_force_atom))
        {
            largest = force;
            point.largest_force_atom = atom;
        }
        if (!point.has_moved) { point.has_moved = state.x.get(slot) != base_[static_cast<std::size_t>(atom)]; }
    }
    point.largest_force = std::sqrt(std::max(largest, 0.0));
    return point;
}

template <class N>
void MinimiserPoints<N>::accept(CpuQueue& queue, const ParticleState<N>& state)
{
    base_.resize(atoms_);
    for_each_atom(queue, state, [&](std::size_t slot, std::size_t atom) { base_[atom] = state.x.get(slot); });
    std::swap(vector(minimiser_vector::force), vector(minimiser_vector::new_force));
}

template <class N>
bool MinimiserPoints<N>::move(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                              double factor, ParticleState<N>& state) const
{
    const std::vector<Vec3<double>>& search = vectors_[minimiser_vector::search];
    for_each_atom(queue, state, [&](std::size_t slot, std::size_t atom) {
        state.x.set(slot, base_[atom]);
        state.v.set(slot, static_cast<Vec3<typename N::Real>>(factor * search[atom]));
    });
    const bool holds = constraints.apply(queue, assignment, state, 1, Virial::Skip).failures == 0;
    if (holds) { drift(queue, 1, state); }
    std::fill(state.v.values().begin(), state.v.values().end(), typename N::Real{0});
    return holds;
}

template <class N>
void MinimiserPoints<N>::return_to_base(CpuQueue& queue, ParticleState<N>& state) const
{
    for_each_atom(queue, state, [&](std::size_t slot, std::size_t atom) { state.x.set(slot, base_[atom]); });
}

template <class N>
void MinimiserPoints<N>::combine(CpuQueue& queue, int into, const EnergySurface::Term& a, const EnergySurface::Term& b)
{
    const std::vector<Vec3<double>>&of_a = vector(a.vector), &of_b = vector(b.vector);
    std::vector<Vec3<double>>& result = vector(into);
    queue.for_range(atoms_, 1, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t atom = begin; atom < end; ++atom)
        {
            Vec3<double> sum = a.factor * of_a[atom];
            if (b.factor != 0) { sum += b.factor * of_b[atom]; }
            result[atom] = sum;
        }
    });
}

template <class N>
double MinimiserPoints<N>::product(CpuQueue& queue, int a, int b)
{
    constexpr std::size_t block = 4096; // atoms
    const std::vector<Vec3<double>>&left = vector(a), &right = vector(b);
    std::vector<double> sums((atoms_ + block - 1) / block);
    queue.for_range(sums.size(), 1, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
        {
            const std::size_t last = std::min(atoms_, (i + 1) * block);
            for (std::size_t atom = i * block; atom < last; ++atom) { sums[i] += dot(left[atom], right[atom]); }
        }
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <class N>
double MinimiserPoints<N>::largest(int number)
{
    double largest = 0;
    for (const Vec3<double>& element : vector(number)) { largest = std::max(largest, norm2(element)); }
    return std::sqrt(largest);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template ForcesAtRest<N> forces_at_rest(CpuQueue&, const Constraints&, const ConstraintAssignment&, const ParticleState<N>&, \
                                            ConstraintMasses, const Mobility&);                                                  \
    template class MinimiserPoints<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
