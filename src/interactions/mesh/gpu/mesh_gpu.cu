// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/mesh_gpu.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "device/gpu/atomics.cuh"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "interactions/mesh/spline.hpp"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace parhelion {

namespace {

constexpr int threads = 256;

struct MeshPoints
{
    std::int32_t x, y, z;

    PARHELION_HD std::int32_t kz() const { return z / 2 + 1; }
    std::size_t grid() const { return static_cast<std::size_t>(x) * y * z; }
    std::size_t transform() const { return static_cast<std::size_t>(x) * y * kz(); }
};

MeshPoints points_of(const MeshParameters& parameters)
{
    return {parameters.points[0], parameters.points[1], parameters.points[2]};
}

// --- device: atoms

// Lanes that share an atom: one for each of its points along z, so that they load and add numbers that are neighbours.
template <int order>
constexpr int lanes_of_atom = order <= 4 ? 4 : 8;

template <int n, class Real>
__device__ Real element(const Real (&of)[n], int i) // 0 beyond the last; the array stays in registers
{
    Real value = 0;
#pragma unroll
    for (int j = 0; j < n; ++j) { value = j == i ? of[j] : value; }
    return value;
}

__device__ inline std::int32_t wrapped(std::int32_t i, std::int32_t points) { return i >= points ? i - points : i; }

// What a lane knows of its atom. Lanes beyond the order have weights of 0 and a point on the grid all the same.
template <class N, int order>
struct AtomLane
{
    using Real = typename N::Real;

    std::int32_t slot;
    int jz;
    Real charge; // e; 0: nothing to do
    std::int32_t x, y, z;
    Real x_weight[order], y_weight[order], x_derivative[order], y_derivative[order], z_weight, z_derivative;

    __device__ AtomLane(const GpuView<N>& state, const MeshPoints& points, std::int32_t slots)
    {
        const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
        slot = static_cast<std::int32_t>(item / lanes_of_atom<order>), jz = static_cast<int>(item % lanes_of_atom<order>);
        charge = 0;
        if (slot >= slots) { return; }
        const PositionCharge<N> atom = state.xq[slot];
        charge = atom.charge;
        if (charge == 0) { return; }
        const MeshPlace<Real> in_x = mesh_place(atom.x, static_cast<std::uint32_t>(points.x)),
                              in_y = mesh_place(atom.y, static_cast<std::uint32_t>(points.y)),
                              in_z = mesh_place(atom.z, static_cast<std::uint32_t>(points.z));
        x = in_x.point, y = in_y.point, z = wrapped(in_z.point + jz, points.z);
        Real weight[order], derivative[order];
        spline_weights<order, Real>(in_x.offset, x_weight, x_derivative);
        spline_weights<order, Real>(in_y.offset, y_weight, y_derivative);
        spline_weights<order, Real>(in_z.offset, weight, derivative);
        z_weight = element(weight, jz), z_derivative = element(derivative, jz);
    }
    __device__ std::int32_t point(const MeshPoints& points, int jx, int jy) const
    {
        return (wrapped(x + jx, points.x) * points.y + wrapped(y + jy, points.y)) * points.z + z;
    }
};

__device__ inline void add_charge(float* at, float charge) { atomic_add(at, charge); }
__device__ inline void add_charge(double* at, double charge) { atomic_add(at, charge); }
template <class Real>
__device__ void add_charge(std::int64_t* at, Real charge)
{
    const long long whole = std::llrint(mesh::charge_sum_scale * static_cast<double>(charge));
    atomic_add(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(whole));
}

// Purpose        charges of atoms to the grid
// Work           4 or 8 lanes per slot, each with the points at its z
// Reads/Writes   positions, charges / the grid (atomic sums)
// Orders         nothing: stream order alone
// Requires       the grid cleared
// Cost           order^3 atomics per atom, `order` of them side by side
template <class N, int order>
__global__ void __launch_bounds__(threads)
    spread_kernel(BlockTrace tracing, GpuView<N> state, MeshPoints points, std::int32_t slots, mesh::ChargeSum<N>* charges)
{
    const BlockSpan span(tracing);

    const AtomLane<N, order> atom(state, points, slots);
    if (atom.charge == 0 || atom.jz >= order) { return; }
#pragma unroll
    for (int jx = 0; jx < order; ++jx)
    {
        const typename N::Real of_plane = atom.charge * atom.x_weight[jx];
#pragma unroll
        for (int jy = 0; jy < order; ++jy)
        {
            add_charge(charges + atom.point(points, jx, jy), of_plane * atom.y_weight[jy] * atom.z_weight);
        }
    }
}

// Purpose        charges in e of charges as integers
// Work           a thread per grid point
// Reads/Writes   the integers / the grid
// Orders         nothing: stream order alone
// Requires       nothing
// Cost           12 bytes per point in mixed precision
template <class Real>
__global__ void __launch_bounds__(threads)
    charges_kernel(BlockTrace tracing, const std::int64_t* charges, std::int64_t n, Real* grid)
{
    const BlockSpan span(tracing);

    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < n) { grid[i] = static_cast<Real>(static_cast<double>(charges[i]) * (1 / mesh::charge_sum_scale)); }
}

// Purpose        forces of the grid's potentials on atoms
// Work           4 or 8 lanes per slot, each with the points at its z; the first adds the force
// Reads/Writes   positions, charges, the grid, the box / forces (atomic sums: other kernels add to them meanwhile)
// Orders         nothing: stream order alone
// Requires       forces cleared
// Cost           order^3 loads per atom, `order` of them side by side, and one force
template <class N, int order>
__global__ void __launch_bounds__(threads)
    gather_kernel(BlockTrace tracing, GpuView<N> state, MeshPoints points, std::int32_t slots, const typename N::Real* grid)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;
    using Sum = typename N::ForceSum;

    const AtomLane<N, order> atom(state, points, slots);
    Real gradient[3] = {};
    if (atom.charge != 0)
    {
        Real by_x = 0, by_y = 0, by_z = 0;
#pragma unroll
        for (int jx = 0; jx < order; ++jx)
        {
            Real value = 0, slope = 0; // along y
#pragma unroll
            for (int jy = 0; jy < order; ++jy)
            {
                const Real potential = grid[atom.point(points, jx, jy)];
                value += atom.y_weight[jy] * potential, slope += atom.y_derivative[jy] * potential;
            }
            by_x += atom.x_derivative[jx] * value, by_y += atom.x_weight[jx] * slope, by_z += atom.x_weight[jx] * value;
        }
        gradient[0] = by_x * atom.z_weight, gradient[1] = by_y * atom.z_weight, gradient[2] = by_z * atom.z_derivative;
    }
    for (Real& g : gradient)
    {
        for (int distance = lanes_of_atom<order> / 2; distance > 0; distance /= 2) { g += from_lane_across(g, distance); }
    }
    if (atom.charge == 0 || atom.jz != 0) { return; }
    const Vec3<double> box = state.scalars->box_length;
    const double charge = atom.charge;
    state.add_force(atom.slot, Vec3<Sum>{to_sum<Sum>(-charge * (points.x / box.x) * gradient[0]),
                                         to_sum<Sum>(-charge * (points.y / box.y) * gradient[1]),
                                         to_sum<Sum>(-charge * (points.z / box.z) * gradient[2])});
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

// Purpose        the transform of potentials from that of charges; on request the energy, 1/2 sum_m G |S|^2, and its virial
// Work           a thread per number of the half spectrum, or per several
// Reads/Writes   the transform, moduli, the box / the transform, on request energy and virial (a sum per block)
// Orders         nothing: stream order alone
// Requires       nothing
// Cost           16 bytes and an exponential function in double per number of the half spectrum in mixed precision
template <class N, Compute compute>
__global__ void __launch_bounds__(threads) solve_kernel(BlockTrace tracing, InfluenceArgs args, const DeviceScalars* scalars,
                                                        GpuComplex<typename N::Real>* transform, EnergySums<N>* energies)
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
    grid_.resize(points.grid()), transformed_.resize(points.transform());
    if constexpr (N::summation == Summation::Reproducible) { charges_.resize(points.grid()); }
    queue.synchronize(); // the host's table may go
}

template <class N>
void GpuMesh<N>::spread(GpuQueue& queue, GpuState<N>& state)
{
    const MeshPoints points = points_of(parameters_);
    const auto slots = static_cast<std::int32_t>(state.slots);
    const auto add = [&](DeviceBuffer<ChargeSum>& charges) {
        charges.clear(queue);
        with_order(parameters_.order, [&](auto order) {
            launch(queue, Phase::Spread, spread_kernel<N, order>, one_thread_each(state.slots * lanes_of_atom<order>, threads),
                   GpuView<N>(state), points, slots, charges.data());
        });
    };
    if constexpr (N::summation == Summation::Reproducible)
    {
        add(charges_);
        launch(queue, Phase::Spread, charges_kernel<Real>, one_thread_each(grid_.size(), threads), charges_.data(),
               static_cast<std::int64_t>(grid_.size()), grid_.data());
    }
    else { add(grid_); }
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
    launch(queue, Phase::Solve, kernel, shape, args, state.scalars.data(), transformed_.data(), state.energies.data());
}

template <class N>
void GpuMesh<N>::gather(GpuQueue& queue, GpuState<N>& state)
{
    with_order(parameters_.order, [&](auto order) {
        launch(queue, Phase::Gather, gather_kernel<N, order>, one_thread_each(state.slots * lanes_of_atom<order>, threads),
               GpuView<N>(state), points_of(parameters_), static_cast<std::int32_t>(state.slots), grid_.data());
    });
}

template <class N>
void GpuMesh<N>::compute(GpuQueue& queue, GpuState<N>& state, Compute compute)
{
    spread(queue, state);
    fft_.forward(queue, grid_.data(), transformed_.data());
    solve(queue, state, compute);
    fft_.backward(queue, transformed_.data(), grid_.data());
    gather(queue, state);
}

#define PARHELION_INSTANTIATE(N) template class GpuMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
