// SPDX-License-Identifier: Apache-2.0
// Kinetic energies: sums over atoms. Each thread has one set of six sums per group.
#include "dynamics/kinetic.hpp"

#include "base/error.hpp"
#include "trace/phases.hpp"

#include <utility>

namespace parhelion {

Mat3<double> KineticEnergies::total() const
{
    Mat3<double> sum;
    for (const Mat3<double>& g : group) { sum += g; }
    return sum;
}

KineticEnergies mean(const KineticEnergies& before, const KineticEnergies& after)
{
    PARHELION_EXPECTS(before.group.size() == after.group.size());
    KineticEnergies m;
    for (std::size_t g = 0; g < after.group.size(); ++g) { m.group.push_back(0.5 * (before.group[g] + after.group[g])); }
    return m;
}

KineticEnergies joined(const KineticEnergies& of_motion_groups, int temperature_groups)
{
    const auto n = static_cast<std::size_t>(temperature_groups);
    KineticEnergies sum = of_motion_groups;
    for (std::size_t g = n; g < sum.group.size(); ++g) { sum.group[g % n] += sum.group[g]; }
    sum.group.resize(n);
    return sum;
}

namespace {

constexpr int elements = 6; // number of elements of a symmetric tensor
constexpr int pairs_of_axes[elements][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

} // namespace

template <class N>
std::vector<ScalarSum<N>> sum_kinetic(CpuQueue& queue, const ParticleState<N>& state, int groups)
{
    const ScopedPhase span(queue.clock(), Phase::Kinetic);
    using Sums = std::vector<ScalarSum<N>>; // [group][element]
    Sums total(static_cast<std::size_t>(groups) * elements);
    std::vector<Sums> per_thread(static_cast<std::size_t>(queue.threads()), total);
    queue.for_range(state.home_clusters(), 1, [&](int thread, std::size_t begin, std::size_t end) {
        Sums sums(total.size()); // allocated by this thread, so it has cache lines of its own
        for (std::size_t c = begin; c < end; ++c)
        {
            const auto* v = state.v.cluster(c);
            const std::size_t first = c * cluster_size;
            double mass[cluster_size], product[elements][cluster_size];
            for (int l = 0; l < cluster_size; ++l)
            {
                const auto inverse_mass = static_cast<double>(state.inverse_mass[first + l]);
                mass[l] = inverse_mass > 0 ? 0.5 / inverse_mass : 0; // fillers and virtual sites have no mass
            }
            for (int k = 0; k < elements; ++k)
            {
                const auto* va = v + pairs_of_axes[k][0] * cluster_size;
                const auto* vb = v + pairs_of_axes[k][1] * cluster_size;
                for (int l = 0; l < cluster_size; ++l)
                {
                    product[k][l] = mass[l] * static_cast<double>(va[l]) * static_cast<double>(vb[l]);
                }
            }
            for (int l = 0; l < cluster_size; ++l)
            {
                ScalarSum<N>* sum = sums.data() + elements * state.temperature_group[first + l];
                for (int k = 0; k < elements; ++k) { sum[k] += to_sum<ScalarSum<N>>(product[k][l]); }
            }
        }
        per_thread[static_cast<std::size_t>(thread)] = std::move(sums);
    });
    for (const Sums& sums : per_thread)
    {
        for (std::size_t i = 0; i < total.size(); ++i) { total[i] += sums[i]; }
    }
    return total;
}

template <class Sum>
KineticEnergies finish_kinetic(const std::vector<Sum>& sums)
{
    PARHELION_EXPECTS(sums.size() % elements == 0);
    KineticEnergies result;
    for (std::size_t first = 0; first < sums.size(); first += elements)
    {
        Mat3<double> tensor;
        for (std::size_t k = 0; k < elements; ++k)
        {
            const auto [a, b] = pairs_of_axes[k];
            tensor[a][b] = tensor[b][a] = from_sum(sums[first + k]);
        }
        result.group.push_back(tensor);
    }
    return result;
}

template KineticEnergies finish_kinetic(const std::vector<double>&);
template KineticEnergies finish_kinetic(const std::vector<std::int64_t>&);

#define PARHELION_INSTANTIATE(N) template std::vector<ScalarSum<N>> sum_kinetic(CpuQueue&, const ParticleState<N>&, int);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
