// SPDX-License-Identifier: Apache-2.0
// Kick and drift, cluster by cluster. Inner loops over the lanes have a fixed length, so the compiler makes vector code of them.
#include "dynamics/leap_frog.hpp"

#include "base/error.hpp"
#include "trace/phases.hpp"

#include <bit>
#include <type_traits>

namespace parhelion {

KickCoefficients kick_coefficients(double dt, int groups, const VelocityCoupling& coupling, const Mobility& mobility)
{
    const auto n = static_cast<std::size_t>(groups);
    PARHELION_EXPECTS(coupling.scale.empty() || coupling.scale.size() == n);
    PARHELION_EXPECTS(coupling.friction.empty() || coupling.friction.size() == n);
    KickCoefficients kick;
    for (std::size_t g = 0; g < n; ++g)
    {
        const double scale = coupling.scale.empty() ? 1 : coupling.scale[g];
        const double friction = coupling.friction.empty() ? 0 : coupling.friction[g];
        kick.group.push_back(coupling.at_full_step ? full_step_kick(dt, scale) : group_kick(dt, scale, friction, coupling.drag));
    }
    for (std::size_t g = n; g < mobility.size(); ++g) { kick.group.push_back(along(mobility[g], kick.group[g % n])); }
    return kick;
}

namespace {

// The coefficients for the lanes of one cluster.
struct LaneKick
{
    double keep[3][cluster_size];
    double push[3][cluster_size];
};

void set_lane(LaneKick& lanes, int lane, const GroupKick& group)
{
    for (int d = 0; d < 3; ++d)
    {
        lanes.keep[d][lane] = group.keep[d];
        lanes.push[d][lane] = group.push[d];
    }
}

} // namespace

template <class N>
void kick(CpuQueue& queue, const KickCoefficients& coefficients, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Kick);
    using Real = typename N::Real;
    const bool one_group = coefficients.group.size() == 1;
    queue.for_range(state.home_clusters(), 1, [&](int, std::size_t begin, std::size_t end) {
        LaneKick lanes;
        for (int l = 0; l < cluster_size; ++l) { set_lane(lanes, l, coefficients.group[0]); }
        for (std::size_t c = begin; c < end; ++c)
        {
            const std::size_t first = c * cluster_size;
            if (!one_group)
            {
                for (int l = 0; l < cluster_size; ++l)
                {
                    set_lane(lanes, l, coefficients.group[state.temperature_group[first + l]]);
                }
            }
            double inverse_mass[cluster_size];
            for (int l = 0; l < cluster_size; ++l)
            {
                inverse_mass[l] = static_cast<double>(state.inverse_mass[first + static_cast<std::size_t>(l)]);
            }
            for (int d = 0; d < 3; ++d)
            {
                Real* v = state.v.cluster(c) + d * cluster_size;
                const auto* f = state.f.cluster(c) + d * cluster_size;
                for (int l = 0; l < cluster_size; ++l)
                {
                    const double push = lanes.push[d][l] * inverse_mass[l];
                    v[l] = static_cast<Real>(lanes.keep[d][l] * static_cast<double>(v[l]) + push * from_sum(f[l]));
                }
            }
        }
    });
}

template <class N>
void shear_velocities(CpuQueue& queue, const KickCoefficients& coefficients, double dt, const Vec3<double>& drag,
                      ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Kick);
    queue.for_range(state.home_slots(), cluster_size, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            const GroupKick& group = coefficients.group[coefficients.group.size() == 1 ? 0 : state.temperature_group[slot]];
            // The kick multiplies v by keep. The change by shear must not be multiplied, so it is divided by keep here.
            const auto share = [&](int d) { return group.push[d] == 0 ? 0 : group.push[d] / (dt * group.keep[d]); };
            auto v = static_cast<Vec3<double>>(state.v.get(slot));
            v.z -= share(2) * (drag.y * v.x + drag.z * v.y);
            v.y -= share(1) * drag.x * v.x;
            state.v.set(slot, static_cast<Vec3<typename N::Real>>(v));
        }
    });
}

template <class N>
void drift(CpuQueue& queue, double dt, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Drift);
    using Fixed = typename N::Fixed;
    const PeriodicBox<N>& box = state.box;
    const Vec3<double> shear = box.edges().shear();
    const auto drift_clusters = [&](auto tilted, std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c)
        {
            if constexpr (PeriodicBox<N>::bits == 32)
            {
                double v[3][cluster_size];
                for (int d = 0; d < 3; ++d)
                {
                    const auto* of_cluster = state.v.cluster(c) + d * cluster_size;
                    for (int l = 0; l < cluster_size; ++l) { v[d][l] = static_cast<double>(of_cluster[l]); }
                }
                for (int l = 0; l < cluster_size && tilted; ++l)
                {
                    v[1][l] -= shear.z * v[2][l];
                    v[0][l] -= shear.x * v[1][l] + shear.y * v[2][l];
                }
                for (int d = 0; d < 3; ++d)
                {
                    // Converts to integers by adding 1.5 * 2^52, which leaves the nearest integer in the low bits. Every vector
                    // unit can do this.
                    const double scale = dt / box.edges().diagonal()[d] * 0x1p32;
                    Fixed* x = state.x.cluster(c) + d * cluster_size;
                    for (int l = 0; l < cluster_size; ++l)
                    {
                        x[l] += static_cast<Fixed>(std::bit_cast<std::uint64_t>(v[d][l] * scale + 0x1.8p52));
                    }
                }
            }
            else
            {
                for (std::size_t slot = c * cluster_size; slot < (c + 1) * cluster_size; ++slot)
                {
                    state.x.set(slot, box.displaced(state.x.get(slot), dt * static_cast<Vec3<double>>(state.v.get(slot))));
                }
            }
        }
    };
    const bool is_tilted = !box.edges().is_rectangular();
    queue.for_range(state.home_clusters(), 1, [&](int, std::size_t begin, std::size_t end) {
        is_tilted ? drift_clusters(std::true_type(), begin, end) : drift_clusters(std::false_type(), begin, end);
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void kick(CpuQueue&, const KickCoefficients&, ParticleState<N>&);                                                   \
    template void shear_velocities(CpuQueue&, const KickCoefficients&, double, const Vec3<double>&, ParticleState<N>&);          \
    template void drift(CpuQueue&, double, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
