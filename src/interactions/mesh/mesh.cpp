// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/mesh.hpp"

#include "base/error.hpp"
#include "trace/phases.hpp"

namespace parhelion {

template <class N>
void MeshGrid<N>::resize(std::size_t points)
{
    values_.resize(points);
    if constexpr (N::summation == Summation::Reproducible) { charges_.resize(points); }
}

template <class N>
auto MeshGrid<N>::charges() -> ChargeSum*
{
    if constexpr (N::summation == Summation::Reproducible) { return charges_.data(); }
    else { return values_.data(); }
}

template <class N>
void MeshGrid<N>::finish_charges([[maybe_unused]] std::size_t begin, [[maybe_unused]] std::size_t end)
{
    if constexpr (N::summation == Summation::Reproducible)
    {
        for (std::size_t i = begin; i < end; ++i)
        {
            values_[i] = static_cast<Real>(static_cast<double>(charges_[i]) * (1 / mesh::charge_sum_scale));
        }
    }
}

template <class N>
Mesh<N>::Mesh(const MeshParameters& parameters) : order_(parameters.order)
{
    if (!is_used()) { return; }
    transforms_ = MeshTransforms<Real>(parameters);
    const mesh::Layout& layout = transforms_.layout();
    atoms_ = MeshAtoms<N>(layout, order_, MeshCharges<N>(parameters));
    const auto planes = static_cast<std::size_t>(layout.points[0]), rows = static_cast<std::size_t>(layout.points[1]);
    grid_.resize(planes * layout.plane());
    spectrum_.resize(planes * rows * layout.spectrum_row());
    for (std::size_t row = 0; row < planes * rows; ++row) { rows_.push_back(spectrum_.data() + row * layout.spectrum_row()); }
    for (std::size_t x = 0; x < planes; ++x) { planes_.push_back(rows_[x * rows]); }
}

template <class N>
Mesh<N>::Mesh(const Topology& topology, const RunParameters& run, const Box<double>& box)
    : Mesh(mesh_parameters(topology, run, box))
{
}

template <class N>
void Mesh<N>::sort(CpuQueue& queue, const ParticleState<N>& state)
{
    atoms_.sort(queue, state, state.home_clusters(), {0, layout().points[0]});
}

template <class N>
void Mesh<N>::find_potentials(CpuQueue& queue, const Box<double>& box, const mesh::PlaneRange& summed, Compute compute)
{
    transforms_.follow_box(box);
    transforms_.forward(queue, grid_.values(), rows_);
    transforms_.solve(queue, {{0, layout().points[1]}, summed, {planes_.data(), planes_.size()}, planes_}, compute);
    transforms_.backward(queue, rows_, grid_.values());
}

template <class N>
void Mesh<N>::gather(CpuQueue& queue, const ParticleState<N>& state, int weight, ForceBuffers<N>& buffers)
{
    const ScopedPhase span(queue.clock(), Phase::Gather);
    atoms_.gather(queue, state, grid_.values(), weight, buffers);
}

template <class N>
void Mesh<N>::add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Gather);
    atoms_.gather(queue, state, grid_.values(), weights.rest, state.f);
}

template <class N>
void Mesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                      const MeshWeights& weights)
{
    PARHELION_EXPECTS(state.slots() == state.home_slots());
    {
        const ScopedPhase span(queue.clock(), Phase::Spread);
        sort(queue, state);
        atoms_.spread(queue, state, grid_.charges());
        queue.for_range(static_cast<std::size_t>(layout().points[0]) * layout().plane(), layout().row,
                        [&](int, std::size_t begin, std::size_t end) { grid_.finish_charges(begin, end); });
    }
    find_potentials(queue, state.box.edges(), {0, layout().points[1]}, compute);
    gather(queue, state, weights.first, buffers);
    if (compute == Compute::ForcesEnergiesVirial)
    {
        transforms_.add_energies(buffers.energies[0]);
        transforms_.add_background(buffers.energies[0]);
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template class MeshGrid<N>;                                                                                                  \
    template class Mesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
