// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/mesh_gpu.hpp"

#include "base/error.hpp"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "interactions/mesh/gpu/fft/mesh_transforms.cuh"
#include "interactions/mesh/gpu/mesh_atoms.cuh"

#include <limits>
#include <vector>

namespace parhelion {

namespace {

// The exchange policy of a rank that has all planes and rows. The solve kernel clears the charges, which have been read by then.
template <class Real>
struct LoneRank
{
    Real* charges;
    std::int32_t n;

    __device__ bool begin() const { return true; }
    __device__ void end() const
    {
        const auto block = static_cast<std::int32_t>(blockIdx.y * gridDim.x + blockIdx.x),
                   threads = static_cast<std::int32_t>(blockDim.x);
        const std::int32_t stride = static_cast<std::int32_t>(gridDim.x * gridDim.y) * threads;
        for (std::int32_t i = block * threads + static_cast<std::int32_t>(threadIdx.x); i < n; i += stride) { charges[i] = 0; }
    }
};

// The exchange policy of a single rank with few atoms. Its kernels are launched early.
struct EarlyChain : NoExchange
{
};

} // namespace

template <>
struct ExchangeGrants<EarlyChain>
{
    static constexpr int most_radix = mesh_transforms::small_radix;
    static constexpr bool begins_early = true;
};
template <class N>
GpuMesh<N>::GpuMesh(GpuQueue& queue, const MeshParameters& parameters) : parameters_(parameters), charges_of_(queue, parameters)
{
    if (!is_used()) { return; }
    const MeshPoints points = points_of(parameters_);
    PARHELION_EXPECTS(points.grid() <= std::numeric_limits<std::int32_t>::max() / 2); // indices have 32 bits
    queue.make_current();
    transforms_ = GpuMeshTransforms<N>(queue, parameters_, points.x);
    if constexpr (uses_cufft) { fft_ = GpuFft<Real>(queue, parameters_.points); }
    charges_.resize(points.grid()), potentials_.resize(points.grid()), spectrum_.resize(points.transform());
    charges_.clear(queue);

    const mesh::PlaneRange all{0, parameters_.points[0]};
    charge_planes_ = mesh_planes(queue, charges_.data(), parameters_.points, all);
    potential_planes_ = mesh_planes(queue, potentials_.data(), parameters_.points, all);
    std::vector<PlaneRow<Real>> rows;
    for (std::int64_t y = 0; y < points.y; ++y) { rows.push_back({spectrum_.data() + y * points.kz(), points.y * points.kz()}); }
    std::vector<GpuComplex<Real>*> planes;
    for (std::int64_t x = 0; x < points.x; ++x) { planes.push_back(spectrum_.data() + x * points.y * points.kz()); }
    rows_.upload(queue, rows), x_planes_.upload(queue, planes);
    queue.synchronize(); // the tables on the host may be destroyed afterwards
}

template <class N>
template <class Exchange>
void GpuMesh<N>::transform(GpuQueue& queue, const SolvedRows<Real>& rows, GpuState<N>& state, Compute compute,
                           const Exchange& exchange)
{
    if constexpr (GpuMeshTransforms<N>::has_two_passes || !ExchangeGrants<Exchange>::begins_early)
    {
        transforms_.forward(queue, charges_.data(), rows_.data(), exchange);
        transforms_.solve(queue, rows, state, compute, exchange);
        transforms_.backward(queue, rows_.data(), potentials_.data(), exchange);
    }
}

template <class N>
void GpuMesh<N>::compute(GpuQueue& queue, GpuState<N>& state, Compute compute, const MeshWeights& weights)
{
    const mesh::PlaneRange rows{0, parameters_.points[1]};
    const SolvedRows<Real> solved{rows, rows, x_planes_.data(), x_planes_.data()};
    spread_charges(queue, state, parameters_, MeshAtomsOf::Everybody, charge_planes_.data(), nullptr,
                   charges_of_.take(queue, state));
    const bool is_early =
        state.atoms <= few_atoms && queue.launches_early() && transforms_.has_radices_up_to(mesh_transforms::small_radix);
    if (is_early) { transform(queue, solved, state, compute, EarlyChain()); }
    else if constexpr (uses_cufft)
    {
        fft_.forward(queue, charges_.data(), spectrum_.data());
        const LoneRank<Real> lone{charges_.data(), static_cast<std::int32_t>(charges_.size())};
        transforms_.solve(queue, solved, state, compute, lone);
        fft_.backward(queue, spectrum_.data(), potentials_.data());
    }
    else { transform(queue, solved, state, compute, NoExchange()); }
    gather_forces(queue, state, parameters_, MeshAtomsOf::Everybody, potential_planes_.data(), weights.first, is_early,
                  charges_of_.atoms());
}

template <class N>
void GpuMesh<N>::add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state)
{
    gather_forces(queue, state, parameters_, MeshAtomsOf::Everybody, potential_planes_.data(), weights.rest, false,
                  charges_of_.atoms());
}

#define PARHELION_INSTANTIATE(N) template class GpuMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
