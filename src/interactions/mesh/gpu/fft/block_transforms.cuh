// SPDX-License-Identifier: Apache-2.0
// The kernels of mesh_transforms.hpp for lines of any length. They work pass by pass
// in shared memory (block_fft.cuh). Planes that do not fit there are in global memory.
#pragma once

#include "device/gpu/block_trace.cuh"
#include "interactions/mesh/gpu/fft/block_fft.cuh"
#include "interactions/mesh/gpu/fft/transform_parts.cuh"

#include <utility>

namespace parhelion::mesh_transforms {

// Threads of a block. Each has about eight points: a block of 9 warps takes 33 lines of 64 points, or 17 of 128. The block of a
// plane has twice as many threads, because it has a multiprocessor to itself.
inline constexpr int row_threads = 288, plane_threads = 2 * row_threads;

// --- planes

template <class Real>
struct PlaneArgs
{
    MeshLines lines;
    int planes; // number of planes of this rank
    SmallDivisor by_z, by_kz;
    LineFftView<Real> y, z;
    GpuComplex<Real>* in_global_memory; // working memory of planes that do not fit shared memory; else null
};

// The memory that holds a plane. It is a template argument so that the compiler generates accesses to shared memory.
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

template <class T>
struct Two
{
    T first, second;
};

// Purpose        transforms planes of charges along z and y
// Work           by a block per plane
// Reads/Writes   charges / charges (cleared), rows of the spectrum
// Orders         memory accesses, as the exchange policy does
// Requires       all charges of the planes
// Cost           12 bytes per point in single precision
// Two lines of charges A and B are transformed as Z = A + i B: A(k) = (Z(k) + Z*(n - k)) / 2, B(k) = -i (Z(k) - Z*(n - k)) / 2.
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
    copy_roots(a.y.root, a.y.roots, memory.y_roots), copy_roots(a.z.root, a.z.roots, memory.z_roots);
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

// Purpose        transforms planes back to potentials
// Work           by a block per plane
// Reads/Writes   rows of the spectrum / potentials
// Orders         memory accesses, as the exchange policy does
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
    copy_roots(a.y.root, a.y.roots, memory.y_roots), copy_roots(a.z.root, a.z.roots, memory.z_roots);
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
                // Forms Z = A + i B at k and, from the conjugates of A and B, at n - k. Exchanges real and imaginary parts.
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

// Purpose        transforms rows of the spectrum along x, multiplies by G, and transforms back; on request sums the energy,
//                1/2 sum_m G |S|^2, and its virial
// Work           by blocks [row][part of the row's lines]
// Reads/Writes   the spectrum, moduli, the box / the spectrum of potentials, on request energy and virial (a sum per block)
// Orders         memory accesses, as the exchange policy does
// Requires       the parts of a row from all planes
// Cost           16 bytes per number of the half spectrum in single precision
template <class N, Compute compute, bool tilted, class Exchange, class Args>
__global__ void PARHELION_LAUNCH_BOUNDS(row_threads, 3)
    solve_kernel(BlockTrace tracing, MeshLines sizes, LineFftView<typename N::Real> fft, Args args,
                 SolvedRows<typename N::Real> rows, const DeviceScalars* scalars, EnergySums<N>* energies, Exchange exchange)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;
    auto* const shared = block_memory<Real>();

    const int nx = sizes.points[0];
    const int y = rows.rows.first + static_cast<int>(blockIdx.x), k = static_cast<int>(blockIdx.y) * sizes.at_a_time[0];
    const int lines = min(sizes.at_a_time[0], sizes.kz - k), pitch = lines | 1;
    auto* const waves = reinterpret_cast<Wave<Real>*>(shared + fft.roots); // a Wave is as large as a complex number
    GpuComplex<Real>* const first = shared + fft.roots + nx + sizes.at_a_time[0] + 1;
    const LineWork<Real> work{{first, pitch}, {first + sizes.row_work, pitch}};

    copy_roots(fft.root, fft.roots, shared);
    find_waves<tilted>(waves, sizes.points, y, k, lines, scalars->box.diagonal(), args);
    if (!exchange.begin()) { return; }
    if (rows.rows.count == 0) { return exchange.end(); }
    const LineShare share(lines);
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * sizes.kz + k + share.line;
    move(
        share.member, share.end(nx), share.members, [&](int x) { return rows.from[x][at]; },
        [&](int x, const GpuComplex<Real>& value) { work.a.at(x, share.line) = value; });
    __syncthreads();
    const Lines<Real> spectrum = transform_lines(fft, shared, lines, work.a, work);

    const bool counts = y >= rows.summed.first && y < rows.summed.first + rows.summed.count;
    Influence<N, compute, tilted, Args> influence(args, *scalars, sizes.points, waves[nx + lines], waves[nx + share.line],
                                                  {y, k + share.line}, counts);
    for (int x = share.member; x < share.end(nx); x += share.members)
    {
        GpuComplex<Real>& s = spectrum.at(x, share.line);
        s = influence.potential(x, waves[x], s);
    }
    __syncthreads();
    const Lines<Real> potentials = transform_lines(fft, shared, lines, spectrum, work);
    move(
        share.member, share.end(nx), share.members, [&](int x) { return rows.to[x]; },
        [&](int x, GpuComplex<Real>* to) {
            if (to != nullptr) { to[at] = exchanged(potentials.at(x, share.line)); }
        });
    exchange.end();
    influence.add_sums(y == 0 && k == 0 && threadIdx.x == 0, energies);
}

} // namespace parhelion::mesh_transforms
