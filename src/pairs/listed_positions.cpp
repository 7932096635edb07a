// SPDX-License-Identifier: Apache-2.0
#include "pairs/listed_positions.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

template <class N>
void ListedPositions<N>::keep(const ParticleState<N>& state)
{
    const auto& values = state.x.values();
    x.values().assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(3 * state.home_slots()));
    box = state.box.edges();
}

template <class N>
double largest_displacement(CpuQueue& queue, const ParticleState<N>& state, const ListedPositions<N>& listed)
{
    PARHELION_EXPECTS(listed.x.slots() == state.home_slots());
    using Signed = typename PeriodicBox<N>::Signed;
    const Box<double>& unit = state.box.nm_per_unit();
    std::vector<double> of_thread(static_cast<std::size_t>(queue.threads()));
    queue.for_range(state.home_clusters(), 1, [&](int thread, std::size_t begin, std::size_t end) {
        double largest = 0;
        for (std::size_t c = begin; c < end; ++c)
        {
            const auto *now = state.x.cluster(c), *then = listed.x.cluster(c);
            double square[cluster_size];
            for (int l = 0; l < cluster_size; ++l)
            {
                Vec3<double> move;
                for (int d = 0; d < 3; ++d)
                {
                    const int i = d * cluster_size + l;
                    move[d] = static_cast<double>(static_cast<Signed>(now[i] - then[i]));
                }
                square[l] = norm2(unit.to_nm(move));
            }
            for (const double s : square) { largest = std::max(largest, s); }
        }
        of_thread[static_cast<std::size_t>(thread)] = largest;
    });
    return std::sqrt(*std::max_element(of_thread.begin(), of_thread.end()));
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template struct ListedPositions<N>;                                                                                          \
    template double largest_displacement<N>(CpuQueue&, const ParticleState<N>&, const ListedPositions<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
