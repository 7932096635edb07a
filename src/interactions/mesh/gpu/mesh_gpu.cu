// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/mesh_gpu.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "interactions/mesh/gpu/mesh_atoms.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace parhelion {

namespace {

constexpr int threads = 256;

// --- device: charges

// Purpose        charges in e of charges as integers, which are cleared
// Work           a thread per grid point
// Reads/Writes   the integers / the integers, the grid
// Orders         nothing: stream order alone
// Requires       nothing
// Cost           12 bytes per point in mixed precision
template <class Real>
__global__ void __launch_bounds__(threads) charges_kernel(BlockTrace tracing, std::int64_t* charges, std::int64_t n, Real* grid)
{
    const BlockSpan span(tracing);

    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= n) { return; }
    grid[i] = static_cast<Real>(static_cast<double>(charges[i]) * (1 / mesh::charge_sum_scale));
    charges[i] = 0;
}

// --- device: waves

// As mesh_kernels.hpp has it: G(m) = f exp(-slope m^2) / (pi V m^2 B_x B_y B_z).
struct InfluenceArgs
{
    MeshPoints points;
    const double* inverse_moduli; // of x, y and z, one after another
    double slope, coulomb_factor; // nm^2; kJ nm/(mol e^2)
    double background;            // of MeshParameters
};

// Charges that the kernel of waves clears, two for each number of the half spectrum, which has more than half as many as the grid
// has points. Charges as integers are not among them.
template <class N>
struct ClearedPoints
{
    using Real = typename N::Real;

    Real* charges = nullptr;
    std::int32_t n = 0;

    explicit ClearedPoints(DeviceBuffer<mesh::ChargeSum<N>>& of)
    {
        if constexpr (std::is_same_v<mesh::ChargeSum<N>, Real>) { charges = of.data(), n = static_cast<std::int32_t>(of.size()); }
    }
    __device__ void clear(std::int32_t i) const
    {
        if (2 * i < n) { charges[2 * i] = 0; }
        if (2 * i + 1 < n) { charges[2 * i + 1] = 0; }
    }
};

// Index k stands for wave k or, in the upper half, k - n; the middle one of an even n is negative.
__device__ inline std::int32_t wave(std::int32_t k, std::int32_t points) { return 2 * k < points ? k : k - points; }

// Of thread 0 the energy of the background, of all others nothing; energy, and the virial of energy alone: -E / 2 on its
// diagonal.
template <class Sum>
__device__ void add_energy(double energy, Sum (&of_thread)[1], Sum (&virial)[9])
{
    of_thread[0] += to_sum<Sum>(energy);
    for (int d = 0; d < 3; ++d) { virial[4 * d] += to_sum<Sum>(-0.5 * energy); }
}

// Purpose        the transform of potentials from that of charges; on request the energy, 1/2 sum_m G |S|^2, and its virial;
//                clears the charges, if they are no integers
// Work           a thread per number of the half spectrum, or per several
// Reads/Writes   the transform, moduli, the box / the transform, charges, on request energy and virial (a sum per block)
// Orders         nothing: stream order alone
// Requires       nothing
// Cost           16 bytes and an exponential function in double per number of the half spectrum in mixed precision
template <class N, Compute compute>
__global__ void __launch_bounds__(threads)
    solve_kernel(BlockTrace tracing, InfluenceArgs args, const DeviceScalars* scalars, GpuComplex<typename N::Real>* transform,
                 ClearedPoints<N> cleared, EnergySums<N>* energies)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;

    const MeshPoints points = args.points;
    const Vec3<double> box = scalars->box_length;
    const double volume = box.x * box.y * box.z, scale = args.coulomb_factor / (units::pi * volume);
    const std::int32_t kz = points.kz(), n = points.x * points.y * kz;
    ScalarSum<N> energy[1] = {}, virial[9] = {};
    const std::int32_t first = static_cast<std::int32_t>(blockIdx.x) * threads + static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t stride = static_cast<std::int32_t>(gridDim.x) * threads;
    for (std::int32_t i = first; i < n; i += stride)
    {
        const std::int32_t z = i % kz, xy = i / kz, y = xy % points.y, x = xy / points.y;
        const Vec3<double> m{wave(x, points.x) / box.x, wave(y, points.y) / box.y, wave(z, points.z) / box.z};
        const double m2 = norm2(m);
        const double of_splines =
            args.inverse_moduli[x] * args.inverse_moduli[points.x + y] * args.inverse_moduli[points.x + points.y + z];
        const double influence = i == 0 ? 0 : scale * std::exp(-args.slope * m2) / m2 * of_splines;
        const double re = transform[i].re, im = transform[i].im;
        transform[i] = {static_cast<Real>(influence * re), static_cast<Real>(influence * im)};
        cleared.clear(i);
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            if (i == 0) { continue; }
            // What has no mirror image in the half spectrum counts half.
            const double e = (z == 0 || 2 * z == points.z ? 0.5 : 1.0) * influence * (re * re + im * im);
            const double h = e * (1 / m2 + args.slope);
            add_energy(e, energy, virial);
            for (int a = 0; a < 3; ++a)
            {
                for (int b = 0; b < 3; ++b) { virial[3 * a + b] += to_sum<ScalarSum<N>>(h * (m[a] * m[b])); }
            }
        }
    }
    if constexpr (compute == Compute::ForcesEnergiesVirial)
    {
        if (first == 0) { add_energy(args.background / volume, energy, virial); }
        add_block_sums(energy, &energies->energy[static_cast<std::size_t>(EnergyTerm::CoulombReciprocal)]);
        add_block_sums(virial, &energies->virial[0]);
    }
}

} // namespace

template <class N>
GpuMesh<N>::GpuMesh(GpuQueue& queue, const MeshParameters& parameters) : parameters_(parameters)
{
    if (!is_used()) { return; }
    const MeshPoints points = points_of(parameters_);
    PARHELION_EXPECTS(points.grid() <= std::numeric_limits<std::int32_t>::max() / 2); // indices have 32 bits
    queue.make_current();
    fft_ = GpuFft<Real>(queue, parameters_.points);
    std::vector<double> inverse;
    for (const std::vector<double>& moduli : parameters_.moduli)
    {
        for (const double b : moduli) { inverse.push_back(1 / b); }
    }
    inverse_moduli_.upload(queue, inverse);
    charges_.resize(points.grid()), grid_.resize(points.grid()), transformed_.resize(points.transform());
    charges_.clear(queue);
    const mesh::PlaneRange all{0, parameters_.points[0]};
    charge_planes_ = mesh_planes(queue, charges_.data(), parameters_.points, all);
    potential_planes_ = mesh_planes(queue, grid_.data(), parameters_.points, all);
    queue.synchronize(); // the host's table may go
}

template <class N>
void GpuMesh<N>::spread(GpuQueue& queue, GpuState<N>& state)
{
    spread_charges(queue, state, parameters_, MeshAtomsOf::Everybody, charge_planes_.data());
    if constexpr (N::summation == Summation::Reproducible)
    {
        launch(queue, Phase::Spread, charges_kernel<Real>, one_thread_each(grid_.size(), threads), charges_.data(),
               static_cast<std::int64_t>(grid_.size()), grid_.data());
        fft_.forward(queue, grid_.data(), transformed_.data());
    }
    else { fft_.forward(queue, charges_.data(), transformed_.data()); }
}

template <class N>
void GpuMesh<N>::solve(GpuQueue& queue, GpuState<N>& state, Compute compute)
{
    LaunchShape shape = one_thread_each(transformed_.size(), threads);
    shape.blocks = std::min(shape.blocks, 8 * queue.multiprocessors()); // not more sums to add up than that
    const InfluenceArgs args{points_of(parameters_), inverse_moduli_.data(), parameters_.slope(), parameters_.coulomb_factor,
                             parameters_.background()};
    const auto kernel =
        compute == Compute::Forces ? solve_kernel<N, Compute::Forces> : solve_kernel<N, Compute::ForcesEnergiesVirial>;
    launch(queue, Phase::Solve, kernel, shape, args, state.scalars.data(), transformed_.data(), ClearedPoints<N>(charges_),
           state.energies.data());
}

template <class N>
void GpuMesh<N>::compute(GpuQueue& queue, GpuState<N>& state, Compute compute, const MeshWeights& weights)
{
    spread(queue, state);
    solve(queue, state, compute);
    fft_.backward(queue, transformed_.data(), grid_.data());
    gather_forces(queue, state, parameters_, MeshAtomsOf::Everybody, potential_planes_.data(), weights.first);
}

template <class N>
void GpuMesh<N>::add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state)
{
    gather_forces(queue, state, parameters_, MeshAtomsOf::Everybody, potential_planes_.data(), weights.rest);
}

#define PARHELION_INSTANTIATE(N) template class GpuMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
