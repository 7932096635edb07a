// SPDX-License-Identifier: Apache-2.0
#include "engine/guard.hpp"

#include <algorithm>
#include <limits>

namespace parhelion {

namespace {
// How bad an atom is: above 1 is beyond the limits, NaN counts as infinitely bad.
double badness(double force, double displacement)
{
    const double worst = std::max(force / runaway_force, displacement / runaway_displacement);
    return force + displacement < std::numeric_limits<double>::infinity() ? worst : std::numeric_limits<double>::infinity();
}
} // namespace

template <class N>
std::optional<Runaway> find_runaway(CpuQueue& queue, const ParticleState<N>& state, double dt)
{
    const ScopedPhase span(queue.clock(), Phase::SumForces);
    using Real = typename N::Real;
    using ForceSum = typename N::ForceSum;
    struct Worst
    {
        std::optional<Runaway> atom;
        double badness = 1;
    };
    std::vector<Worst> found(static_cast<std::size_t>(queue.threads()));
    const auto examine = [&](std::size_t slot, Worst& worst) {
        const Vec3<ForceSum> f = state.f.get(slot);
        const double force = norm(Vec3<double>{from_sum(f.x), from_sum(f.y), from_sum(f.z)});
        const double displacement = norm(Vec3<double>(state.v.get(slot))) * dt;
        if (const double b = badness(force, displacement); b > worst.badness)
        {
            worst = {Runaway{static_cast<std::int32_t>(slot), force, displacement}, b};
        }
    };
    // Components against half the limits, in a loop that vectorises; only a suspect cluster is looked at atom by atom. The
    // comparisons are written so that NaN is a suspect.
    const auto force_limit = to_sum<ForceSum>(0.5 * runaway_force);
    const auto speed_limit = static_cast<Real>(0.5 * runaway_displacement / dt);
    queue.for_range(state.home_clusters(), 1, [&](int thread, std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c)
        {
            const ForceSum* f = state.f.cluster(c);
            const Real* v = state.v.cluster(c);
            int sane = 0;
            for (int i = 0; i < 3 * cluster_size; ++i)
            {
                sane += static_cast<int>(f[i] < force_limit) & static_cast<int>(f[i] > -force_limit) &
                        static_cast<int>(v[i] < speed_limit) & static_cast<int>(v[i] > -speed_limit);
            }
            for (std::size_t lane = 0; sane != 3 * cluster_size && lane < cluster_size; ++lane)
            {
                examine(c * cluster_size + lane, found[static_cast<std::size_t>(thread)]);
            }
        }
    });
    Worst worst;
    for (const Worst& candidate : found)
    {
        if (candidate.atom && candidate.badness > worst.badness) { worst = candidate; }
    }
    return worst.atom;
}

template <class N>
std::string range_remark([[maybe_unused]] const std::vector<Vec3<double>>& forces, [[maybe_unused]] const EnergyVirial& energies)
{
    if constexpr (N::summation == Summation::Fast) { return ""; }
    // A pair's energy and its elements of the virial are limited to 1e7 kJ/mol. Pairs that reach it are within 0.5 nm, so that
    // their force is more than this.
    constexpr double largest_force = 2e7;
    constexpr double largest_total = 2 * fixed_sum_limit; // half the range
    // Between atoms in one place there is no force, but an energy at that limit. Liquids have some 2 kJ/mol per atom.
    const double largest_lj = 5e6 + 20 * static_cast<double>(forces.size());
    const auto too_large = [](double total) { return std::abs(total) > largest_total; };
    bool is_near = energies[EnergyTerm::LjSr] > largest_lj ||
                   std::any_of(energies.energy.begin(), energies.energy.end(), too_large) ||
                   std::any_of(forces.begin(), forces.end(), [](const Vec3<double>& f) { return norm(f) > largest_force; });
    for (int k = 0; k < 9; ++k) { is_near = is_near || too_large(energies.virial[k / 3][k % 3]); }
    return is_near ? "energies, forces or the pressure are beyond the range of --reproducible: such numbers are its limits, not "
                     "results. Leave it out to see them."
                   : "";
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::optional<Runaway> find_runaway<N>(CpuQueue&, const ParticleState<N>&, double);                                 \
    template std::string range_remark<N>(const std::vector<Vec3<double>>&, const EnergyVirial&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
