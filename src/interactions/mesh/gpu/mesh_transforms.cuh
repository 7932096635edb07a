// SPDX-License-Identifier: Apache-2.0
// The kernels of mesh_transforms.hpp.
#pragma once

#include "base/units.hpp"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "interactions/mesh/gpu/block_fft.cuh"
#include "interactions/mesh/gpu/mesh_transforms.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parhelion {

namespace mesh_transforms {

// Eight points a thread: 33 lines of 64 points, or 17 of 128, take 9 warps. A plane has twice as many, as it has a multiprocessor
// to itself.
inline constexpr int row_threads = 288, plane_threads = 2 * row_threads;

template <class Real>
__device__ GpuComplex<Real>* block_memory() // of the size that the launch asked for
{
    PARHELION_DYNAMIC_SHARED(double2, memory);
    return reinterpret_cast<GpuComplex<Real>*>(memory);
}

// --- planes

template <class Real>
struct PlaneArgs
{
    MeshLines lines;
    int planes; // of this rank
    SmallDivisor by_z, by_kz;
    LineFftView<Real> y, z;
    GpuComplex<Real>* in_global_memory; // null: planes are in shared memory
};

// A template argument, so that loads and stores of shared memory are known to be that.
enum class PlanePlace : std::uint8_t
{
    Shared,
    Global
};

template <class Real, PlanePlace place>
struct PlaneMemory
{
    GpuComplex<Real>*y_roots, *z_roots, *plane, *work[2];

    __device__ PlaneMemory(const PlaneArgs<Real>& a, GpuComplex<Real>* shared)
        : y_roots(shared), z_roots(y_roots + a.y.roots), plane(z_roots + a.z.roots)
    {
        const int size = a.y.points * a.lines.plane_pitch;
        if constexpr (place == PlanePlace::Shared) { work[0] = plane + size; }
        else { work[0] = std::exchange(plane, a.in_global_memory + static_cast<std::int64_t>(blockIdx.x) * size); }
        work[1] = work[0] + a.lines.plane_work;
    }
};

// All threads of a block, which see the roots after its next barrier.
template <class Real>
__device__ void load_roots(const LineFftView<Real>& fft, GpuComplex<Real>* roots)
{
    for (int i = static_cast<int>(threadIdx.x); i < fft.roots; i += static_cast<int>(blockDim.x)) { roots[i] = fft.root[i]; }
}

template <class Real>
__device__ GpuComplex<Real> exchanged(const GpuComplex<Real>& a)
{
    return {a.im, a.re};
}

template <class T>
struct Two
{
    T first, second;
};

template <class Real>
__device__ Real in_e(std::int64_t charge)
{
    return static_cast<Real>(static_cast<double>(charge) * (1 / mesh::charge_sum_scale));
}
template <class Real>
__device__ Real in_e(Real charge)
{
    return charge;
}

// Purpose        planes of charges to their transforms along z and y
// Work           a block per plane
// Reads/Writes   charges / charges (cleared), rows of the spectrum
// Orders         as the exchange policy has it
// Requires       all charges of the planes
// Cost           12 bytes per point in single precision
// Two rows of charges A and B are transformed as Z = A + i B: A(k) = (Z(k) + Z*(n - k)) / 2, B(k) = -i (Z(k) - Z*(n - k)) / 2.
template <class N, PlanePlace place, class Exchange>
__global__ void __launch_bounds__(plane_threads)
    forward_kernel(BlockTrace tracing, PlaneArgs<typename N::Real> a, mesh::ChargeSum<N>* charges,
                   const PlaneRow<typename N::Real>* rows, Exchange exchange)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;
    auto* const shared = block_memory<Real>();

    if (a.planes == 0) { return exchange.end(); }
    const PlaneMemory<Real, place> memory(a, shared);
    const int ny = a.y.points, nz = a.z.points, kz = a.lines.kz, thread = static_cast<int>(threadIdx.x);
    load_roots(a.y, memory.y_roots), load_roots(a.z, memory.z_roots);
    const Lines<Real> plane{memory.plane, a.lines.plane_pitch};
    mesh::ChargeSum<N>* const of_plane = charges + static_cast<std::int64_t>(blockIdx.x) * ny * nz;
    for (int pair = 0; 2 * pair < ny; pair += a.lines.at_a_time[2])
    {
        const int lines = min(a.lines.at_a_time[2], (ny + 1) / 2 - pair), pitch = lines | 1;
        const auto has_second = [&](int line) { return 2 * (pair + line) + 1 < ny; };
        const LineWork<Real> work{{memory.work[0], pitch}, {memory.work[1], pitch}};
        move(
            thread, lines * nz, plane_threads,
            [&](int i) {
                const int line = a.by_z.quotient(i), at = 2 * pair * nz + line * nz + i;
                return Two<mesh::ChargeSum<N>>{of_plane[at], has_second(line) ? of_plane[at + nz] : 0};
            },
            [&](int i, const Two<mesh::ChargeSum<N>>& charges) {
                const int line = a.by_z.quotient(i), at = 2 * pair * nz + line * nz + i;
                work.a.at(i - line * nz, line) = {in_e<Real>(charges.first), in_e<Real>(charges.second)};
                of_plane[at] = 0;
                if (has_second(line)) { of_plane[at + nz] = 0; }
            });
        __syncthreads();
        const Lines<Real> transforms = transform_lines(a.z, memory.z_roots, lines, work.a, work);
        move(
            thread, lines * kz, plane_threads,
            [&](int i) {
                const int line = a.by_kz.quotient(i), k = i - line * kz;
                return Two<GpuComplex<Real>>{transforms.at(k, line), transforms.at(k == 0 ? 0 : nz - k, line)};
            },
            [&](int i, const Two<GpuComplex<Real>>& of) {
                const int line = a.by_kz.quotient(i), k = i - line * kz, row = 2 * (pair + line);
                const auto& [z, mirror] = of;
                const Real half = 0.5;
                plane.at(row, k) = {half * (z.re + mirror.re), half * (z.im - mirror.im)};
                if (has_second(line)) { plane.at(row + 1, k) = {half * (z.im + mirror.im), half * (mirror.re - z.re)}; }
            });
        __syncthreads();
    }
    for (int k = 0; k < kz; k += a.lines.at_a_time[1])
    {
        const int lines = min(a.lines.at_a_time[1], kz - k), pitch = lines | 1;
        const LineWork<Real> work{{memory.work[0], pitch}, {memory.work[1], pitch}};
        const Lines<Real> transforms =
            transform_lines(a.y, memory.y_roots, lines, Lines<Real>{plane.first + k, plane.pitch}, work);
        const LineShare share(lines);
        move(
            share.member, share.end(ny), share.members, [&](int y) { return rows[y]; },
            [&](int y, const PlaneRow<Real>& row) {
                row.first[blockIdx.x * row.per_plane + k + share.line] = transforms.at(y, share.line);
            });
        __syncthreads();
    }
    exchange.end();
}

// Purpose        transforms of planes to potentials: the reverse
// Work           a block per plane
// Reads/Writes   rows of the spectrum / potentials
// Orders         as the exchange policy has it
// Requires       all rows of the planes
// Cost           8 bytes per point in single precision
template <class Real, PlanePlace place, class Exchange>
__global__ void __launch_bounds__(plane_threads)
    backward_kernel(BlockTrace tracing, PlaneArgs<Real> a, const PlaneRow<Real>* rows, Real* potentials, Exchange exchange)
{
    const BlockSpan span(tracing);
    auto* const shared = block_memory<Real>();

    const PlaneMemory<Real, place> memory(a, shared);
    const int ny = a.y.points, nz = a.z.points, kz = a.lines.kz, thread = static_cast<int>(threadIdx.x);
    load_roots(a.y, memory.y_roots), load_roots(a.z, memory.z_roots);
    const Lines<Real> plane{memory.plane, a.lines.plane_pitch};
    if (!exchange.begin()) { return; }
    if (a.planes == 0) { return exchange.end(); }
    for (int k = 0; k < kz; k += a.lines.at_a_time[1])
    {
        const int lines = min(a.lines.at_a_time[1], kz - k), pitch = lines | 1;
        const LineWork<Real> work{{memory.work[0], pitch}, {memory.work[1], pitch}};
        const LineShare share(lines);
        move(
            share.member, share.end(ny), share.members,
            [&](int y) {
                const PlaneRow<Real> row = rows[y];
                return row.first[blockIdx.x * row.per_plane + k + share.line];
            },
            [&](int y, const GpuComplex<Real>& value) { work.a.at(y, share.line) = exchanged(value); });
        __syncthreads();
        const Lines<Real> result{plane.first + k, plane.pitch};
        transform_lines(a.y, memory.y_roots, lines, work.a, work, &result);
    }
    Real* const of_plane = potentials + static_cast<std::int64_t>(blockIdx.x) * ny * nz;
    for (int pair = 0; 2 * pair < ny; pair += a.lines.at_a_time[2])
    {
        const int lines = min(a.lines.at_a_time[2], (ny + 1) / 2 - pair), pitch = lines | 1;
        const auto has_second = [&](int line) { return 2 * (pair + line) + 1 < ny; };
        const LineWork<Real> work{{memory.work[0], pitch}, {memory.work[1], pitch}};
        move(
            thread, lines * kz, plane_threads,
            [&](int i) {
                const int line = a.by_kz.quotient(i), k = i - line * kz, row = 2 * (pair + line);
                return Two<GpuComplex<Real>>{plane.at(row, k), has_second(line) ? plane.at(row + 1, k) : GpuComplex<Real>{0, 0}};
            },
            [&](int i, const Two<GpuComplex<Real>>& of) {
                // Z = A + i B at k, and with the conjugates of A and B at n - k; all numbers have their parts exchanged.
                const int line = a.by_kz.quotient(i), k = i - line * kz;
                const auto& [A, B] = of;
                work.a.at(k, line) = {A.re + B.im, A.im - B.re};
                if (k > 0 && 2 * k != nz) { work.a.at(nz - k, line) = {B.im - A.re, A.im + B.re}; }
            });
        __syncthreads();
        const Lines<Real> transforms = transform_lines(a.z, memory.z_roots, lines, work.a, work);
        move(
            thread, lines * nz, plane_threads,
            [&](int i) {
                const int line = a.by_z.quotient(i);
                return transforms.at(i - line * nz, line);
            },
            [&](int i, const GpuComplex<Real>& value) {
                const int line = a.by_z.quotient(i), at = 2 * pair * nz + line * nz + i;
                of_plane[at] = value.im;
                if (has_second(line)) { of_plane[at + nz] = value.re; }
            });
        __syncthreads();
    }
    exchange.end();
}

// --- rows

// As mesh_kernels.hpp has it: G(m) = f exp(-slope m^2) / (pi V m^2 B_x B_y B_z).
struct InfluenceArgs
{
    const double* inverse_moduli;             // of x, y and z, one after another
    double slope, coulomb_factor, background; // nm^2; kJ nm/(mol e^2); kJ nm^3/mol
};

// Index k stands for wave k or, in the upper half, k - n; the middle one of an even n is negative.
__device__ inline int wave(int k, int points) { return 2 * k < points ? k : k - points; }

// A wave number m along an axis, 1/nm, and exp(-slope m^2) / B.
template <class Real>
struct Wave
{
    Real m, factor;

    __device__ Wave(int k, int points, double edge, double slope, const double* inverse_moduli)
    {
        const double per_nm = wave(k, points) / edge;
        m = static_cast<Real>(per_nm), factor = static_cast<Real>(exp(-slope * per_nm * per_nm) * inverse_moduli[k]);
    }
};

// Energy, and the virial of energy alone: -E / 2 on its diagonal.
template <class Sum>
__device__ void add_energy(double energy, Sum (&of_thread)[1], Sum (&virial)[9])
{
    of_thread[0] += to_sum<Sum>(energy);
    for (int d = 0; d < 3; ++d) { virial[4 * d] += to_sum<Sum>(-0.5 * energy); }
}

// Purpose        rows of the spectrum: transforms along x, times G, and back; on request the energy, 1/2 sum_m G |S|^2, and its
//                virial
// Work           blocks [row][part of its lines]
// Reads/Writes   the spectrum, moduli, the box / the spectrum of potentials, on request energy and virial (a sum per block)
// Orders         as the exchange policy has it
// Requires       the parts of all planes
// Cost           16 bytes per number of the half spectrum in single precision
template <class N, Compute compute, class Exchange>
__global__ void __launch_bounds__(row_threads, 3)
    solve_kernel(BlockTrace tracing, MeshLines sizes, LineFftView<typename N::Real> fft, InfluenceArgs args,
                 SolvedRows<typename N::Real> rows, const DeviceScalars* scalars, EnergySums<N>* energies, Exchange exchange)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;
    auto* const shared = block_memory<Real>();

    const int nx = sizes.points[0], ny = sizes.points[1], nz = sizes.points[2], thread = static_cast<int>(threadIdx.x);
    const int y = rows.rows.first + static_cast<int>(blockIdx.x), k = static_cast<int>(blockIdx.y) * sizes.at_a_time[0];
    const int lines = min(sizes.at_a_time[0], sizes.kz - k), pitch = lines | 1;
    auto* const waves = reinterpret_cast<Wave<Real>*>(shared + fft.roots); // as large as a complex number
    GpuComplex<Real>* const first = shared + fft.roots + nx + sizes.at_a_time[0] + 1;
    const LineWork<Real> work{{first, pitch}, {first + sizes.row_work, pitch}};

    load_roots(fft, shared);
    const Vec3<double> box = scalars->box_length;
    for (int i = thread; i < nx + lines + 1; i += row_threads)
    {
        // Of x, of the lines, of y.
        waves[i] = i < nx           ? Wave<Real>(i, nx, box.x, args.slope, args.inverse_moduli)
                   : i < nx + lines ? Wave<Real>(k + i - nx, nz, box.z, args.slope, args.inverse_moduli + nx + ny)
                                    : Wave<Real>(y, ny, box.y, args.slope, args.inverse_moduli + nx);
    }
    if (!exchange.begin()) { return; }
    if (rows.rows.count == 0) { return exchange.end(); }
    const LineShare share(lines);
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * sizes.kz + k + share.line;
    move(
        share.member, share.end(nx), share.members, [&](int x) { return rows.from[x][at]; },
        [&](int x, const GpuComplex<Real>& value) { work.a.at(x, share.line) = value; });
    __syncthreads();
    const Lines<Real> spectrum = transform_lines(fft, shared, lines, work.a, work);

    [[maybe_unused]] const bool counts = y >= rows.summed.first && y < rows.summed.first + rows.summed.count;
    ScalarSum<N> energy[1] = {}, virial[9] = {};
    const Wave<Real> y_wave = waves[nx + lines], z_wave = waves[nx + share.line];
    const double volume = box.x * box.y * box.z;
    const auto scale = static_cast<Real>(args.coulomb_factor / (units::pi * volume)) * y_wave.factor;
    for (int x = share.member; x < share.end(nx); x += share.members)
    {
        const Real mx = waves[x].m, m2 = mx * mx + (y_wave.m * y_wave.m + z_wave.m * z_wave.m);
        const Real influence = m2 == 0 ? 0 : scale * waves[x].factor * z_wave.factor / m2;
        GpuComplex<Real>& s = spectrum.at(x, share.line);
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            if (counts && m2 != 0)
            {
                // What has no mirror image in the half spectrum counts half.
                const int kz = k + share.line;
                const double weight = kz == 0 || 2 * kz == nz ? 0.5 : 1, re = s.re, im = s.im;
                const double e = weight * influence * (re * re + im * im), h = e * (1.0 / m2 + args.slope);
                const double m[3] = {mx, y_wave.m, z_wave.m};
                add_energy(e, energy, virial);
                for (int i = 0; i < 3; ++i)
                {
                    for (int j = 0; j < 3; ++j) { virial[3 * i + j] += to_sum<ScalarSum<N>>(h * (m[i] * m[j])); }
                }
            }
        }
        s = {influence * s.im, influence * s.re};
    }
    __syncthreads();
    const Lines<Real> potentials = transform_lines(fft, shared, lines, spectrum, work);
    move(
        share.member, share.end(nx), share.members, [&](int x) { return rows.to[x]; },
        [&](int x, GpuComplex<Real>* to) {
            if (to != nullptr) { to[at] = exchanged(potentials.at(x, share.line)); }
        });
    exchange.end();
    if constexpr (compute == Compute::ForcesEnergiesVirial)
    {
        if (counts && y == 0 && k == 0 && thread == 0) { add_energy(args.background / volume, energy, virial); }
        add_block_sums(energy, &energies->energy[static_cast<std::size_t>(EnergyTerm::CoulombReciprocal)]);
        add_block_sums(virial, &energies->virial[0]);
    }
}

} // namespace mesh_transforms

template <class N>
template <class Exchange>
void GpuMeshTransforms<N>::forward(GpuQueue& queue, mesh::ChargeSum<N>* charges, const PlaneRow<Real>* rows,
                                   const Exchange& exchange)
{
    using namespace mesh_transforms;
    launch_planes(queue,
                  lines_.plane_is_shared ? forward_kernel<N, PlanePlace::Shared, Exchange>
                                         : forward_kernel<N, PlanePlace::Global, Exchange>,
                  charges, rows, exchange);
}

template <class N>
template <class Exchange>
void GpuMeshTransforms<N>::backward(GpuQueue& queue, const PlaneRow<Real>* rows, Real* potentials, const Exchange& exchange)
{
    using namespace mesh_transforms;
    launch_planes(queue,
                  lines_.plane_is_shared ? backward_kernel<Real, PlanePlace::Shared, Exchange>
                                         : backward_kernel<Real, PlanePlace::Global, Exchange>,
                  rows, potentials, exchange);
}

template <class N>
template <class Kernel, class... Arguments>
void GpuMeshTransforms<N>::launch_planes(GpuQueue& queue, Kernel kernel, const Arguments&... arguments)
{
    const mesh_transforms::PlaneArgs<Real> args{
        lines_,         planes_,        SmallDivisor(lines_.points[2]), SmallDivisor(lines_.kz),
        fft_[1].view(), fft_[2].view(), in_global_memory_.data()};
    allow_shared_memory(queue, kernel, plane_bytes_);
    launch(queue, Phase::Fft, kernel, {std::max(1, planes_), mesh_transforms::plane_threads, plane_bytes_}, args, arguments...);
}

template <class N>
template <class Exchange>
void GpuMeshTransforms<N>::solve(GpuQueue& queue, const SolvedRows<Real>& rows, GpuState<N>& state, Compute compute,
                                 const Exchange& exchange)
{
    using namespace mesh_transforms;
    const auto kernel = compute == Compute::Forces ? solve_kernel<N, Compute::Forces, Exchange>
                                                   : solve_kernel<N, Compute::ForcesEnergiesVirial, Exchange>;
    const int parts = (lines_.kz + lines_.at_a_time[0] - 1) / lines_.at_a_time[0];
    allow_shared_memory(queue, kernel, row_bytes_);
    launch(queue, Phase::Solve, kernel, {std::max(1, rows.rows.count), row_threads, row_bytes_, rows.rows.count > 0 ? parts : 1},
           lines_, fft_[0].view(), InfluenceArgs{inverse_moduli_.data(), slope_, coulomb_factor_, background_}, rows,
           state.scalars.data(), state.energies.data(), exchange);
}

} // namespace parhelion
