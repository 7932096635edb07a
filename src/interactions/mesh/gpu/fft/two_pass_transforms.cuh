// SPDX-License-Identifier: Apache-2.0
// The kernels of mesh_transforms.hpp for lines with two radices (GpuTwoPassFft), in single
// precision. The first and the last pass of a kernel access its input and output in global
// memory directly. So a plane, like a row, passes through shared memory only between passes.
#pragma once

#include "device/gpu/block_trace.cuh"
#include "interactions/mesh/gpu/fft/register_fft.cuh"
#include "interactions/mesh/gpu/fft/transform_parts.cuh"

namespace parhelion::mesh_transforms {

inline constexpr int most_plane_threads = 576, most_row_threads = 160;
// Planes whose lines have radices up to 8, so at most 64 points, take few
// registers: a block fits on a multiprocessor beside the pair kernel.
inline constexpr int small_radix = 8, small_plane_threads = 288, small_planes_at_once = 3;
template <class Exchange>
inline constexpr bool is_small = ExchangeGrants<Exchange>::most_radix <= small_radix;

template <class Real>
struct TwoPassPlaneArgs
{
    int planes, kz; // planes: number of the rank's planes; kz: nz / 2 + 1
    SmallDivisor by_kz;
    TwoPassFft<Real> y, z;
    int pitch;                  // row length of the half spectrum [y][kz] in shared memory; odd
    int pair_pitch, work_pitch; // pitch of a pair of lines along z: after its transform, and between its two passes
    int plane;                  // size of the first work area, in complex numbers
};

// The two work areas of a plane: one between the passes along z and the passes along y, one between the two passes of a line.
// In the second one, lines along z have one number more after each `first` numbers, to avoid bank conflicts of butterflies.
template <class Real>
struct PlaneAreas
{
    GpuComplex<Real>*y_roots, *z_roots, *plane, *work;

    __device__ explicit PlaneAreas(const TwoPassPlaneArgs<Real>& a)
        : y_roots(block_memory<Real>()), z_roots(y_roots + a.y.points), plane(z_roots + a.z.points), work(plane + a.plane)
    {
        copy_roots(a.y.root, a.y.points, y_roots), copy_roots(a.z.root, a.z.points, z_roots);
    }
};

// Calls task(t) for all t < n, distributed over the block's threads, and ends with a barrier.
template <class Task>
__device__ void all_threads(int n, Task&& task)
{
    for (int t = static_cast<int>(threadIdx.x); t < n; t += static_cast<int>(blockDim.x)) { task(t); }
    __syncthreads();
}

// The second pass along y, for lines at `work`, where the first pass has left them. Calls store(y, k, number).
template <int most, class Real, class Store>
__device__ void second_pass_along_y(const TwoPassPlaneArgs<Real>& a, const GpuComplex<Real>* work, Store&& store)
{
    with_radix<most>(a.y.second, [&](auto radix) {
        all_threads(a.kz * a.y.first, [&](int t) {
            const int j = a.by_kz.quotient(t), k = t - j * a.kz;
            second_pass<radix, Real>([&](int i) { return work[(j + a.y.first * i) * a.pitch + k]; },
                                     [&](int i, const GpuComplex<Real>& value) { store(j + a.y.first * i, k, value); });
        });
    });
}

// Purpose        transforms planes of charges along z and y
// Work           by a block per plane; a thread computes one butterfly at a time
// Reads/Writes   charges / charges (cleared), rows of the spectrum
// Orders         memory accesses, as the exchange policy does
// Requires       all charges of the planes
// Cost           12 bytes per point in single precision
// Two lines of charges A and B are transformed as Z = A + i B: A(k) = (Z(k) + Z*(n - k)) / 2, B(k) = -i (Z(k) - Z*(n - k)) / 2.
template <class N, class Exchange>
__global__ void PARHELION_LAUNCH_BOUNDS(is_small<Exchange> ? small_plane_threads : most_plane_threads,
                                        is_small<Exchange> ? small_planes_at_once : 1)
    two_pass_forward_kernel(BlockTrace tracing, TwoPassPlaneArgs<typename N::Real> a, mesh::ChargeSum<N>* charges,
                            const PlaneRow<typename N::Real>* rows, Exchange exchange)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;
    using Complex = GpuComplex<Real>;

    constexpr int most = ExchangeGrants<Exchange>::most_radix;
    const PlaneAreas<Real> areas(a);
    const int ny = a.y.points, nz = a.z.points, pairs = (ny + 1) / 2;
    await_kernel_before(), let_next_kernel_begin();
    if (a.planes == 0) { return exchange.end(); }
    mesh::ChargeSum<N>* const of_plane = charges + static_cast<std::int64_t>(blockIdx.x) * ny * nz;
    __syncthreads();
    with_radix<most>(a.z.first, [&](auto radix) {
        all_threads(pairs * a.z.second, [&](int t) {
            const int pair = a.z.by_second.quotient(t), j = t - pair * a.z.second;
            const bool has_second = 2 * pair + 1 < ny;
            mesh::ChargeSum<N>* const row = of_plane + 2 * pair * nz + j;
            Complex* const to = areas.work + pair * a.work_pitch + j * (radix + 1);
            first_pass<radix, Real>(
                j, areas.z_roots,
                [&](int k) {
                    mesh::ChargeSum<N>* const at = row + k * a.z.second;
                    return Complex{in_e<Real>(at[0]), has_second ? in_e<Real>(at[nz]) : 0};
                },
                [&](int k, const Complex& value) { to[k] = value; });
            for (int k = 0; k < radix; ++k)
            {
                mesh::ChargeSum<N>* const at = row + k * a.z.second;
                at[0] = 0;
                if (has_second) { at[nz] = 0; }
            }
        });
    });
    with_radix<most>(a.z.second, [&](auto radix) {
        all_threads(pairs * a.z.first, [&](int t) {
            const int pair = a.z.by_first.quotient(t), j = t - pair * a.z.first;
            const Complex* const from = areas.work + pair * a.work_pitch + j;
            Complex* const to = areas.plane + pair * a.pair_pitch + j;
            second_pass<radix, Real>([&](int k) { return from[k * (a.z.first + 1)]; },
                                     [&](int k, const Complex& value) { to[k * a.z.first] = value; });
        });
    });
    with_radix<most>(a.y.first, [&](auto radix) {
        all_threads(a.kz * a.y.second, [&](int t) {
            const int j = a.by_kz.quotient(t), k = t - j * a.kz, mirror = k == 0 ? 0 : nz - k;
            Complex* const to = areas.work + j * radix * a.pitch + k;
            first_pass<radix, Real>(
                j, areas.y_roots,
                [&](int i) {
                    const int y = j + a.y.second * i;
                    const Complex* const line = areas.plane + y / 2 * a.pair_pitch;
                    const Complex z = line[k], m = line[mirror];
                    const Real half = 0.5;
                    return y % 2 == 0 ? Complex{half * (z.re + m.re), half * (z.im - m.im)}
                                      : Complex{half * (z.im + m.im), half * (m.re - z.re)};
                },
                [&](int i, const Complex& value) { to[i * a.pitch] = value; });
        });
    });
    second_pass_along_y<most>(a, areas.work, [&](int y, int k, const Complex& value) {
        const PlaneRow<Real> row = rows[y];
        row.first[blockIdx.x * row.per_plane + k] = value;
    });
    exchange.end();
}

// Purpose        transforms planes back to potentials
// Work           by a block per plane; a thread computes one butterfly at a time
// Reads/Writes   rows of the spectrum / potentials
// Orders         memory accesses, as the exchange policy does
// Requires       all rows of the planes
// Cost           8 bytes per point in single precision
template <class Real, class Exchange>
__global__ void __launch_bounds__(most_plane_threads)
    two_pass_backward_kernel(BlockTrace tracing, TwoPassPlaneArgs<Real> a, const PlaneRow<Real>* rows, Real* potentials,
                             Exchange exchange)
{
    const BlockSpan span(tracing);
    using Complex = GpuComplex<Real>;

    constexpr int most = ExchangeGrants<Exchange>::most_radix;
    const PlaneAreas<Real> areas(a);
    const int ny = a.y.points, nz = a.z.points, pairs = (ny + 1) / 2;
    await_kernel_before(), let_next_kernel_begin();
    if (!exchange.begin()) { return; }
    if (a.planes == 0) { return exchange.end(); }
    __syncthreads();
    with_radix<most>(a.y.first, [&](auto radix) {
        all_threads(a.kz * a.y.second, [&](int t) {
            const int j = a.by_kz.quotient(t), k = t - j * a.kz;
            Complex* const to = areas.work + j * radix * a.pitch + k;
            first_pass<radix, Real>(
                j, areas.y_roots,
                [&](int i) {
                    const PlaneRow<Real> row = rows[j + a.y.second * i];
                    return exchanged(row.first[blockIdx.x * row.per_plane + k]);
                },
                [&](int i, const Complex& value) { to[i * a.pitch] = value; });
        });
    });
    second_pass_along_y<most>(a, areas.work, [&](int y, int k, const Complex& value) { areas.plane[y * a.pitch + k] = value; });
    with_radix<most>(a.z.first, [&](auto radix) {
        all_threads(pairs * a.z.second, [&](int t) {
            const int pair = a.z.by_second.quotient(t), j = t - pair * a.z.second;
            const bool has_second = 2 * pair + 1 < ny;
            const Complex *const row = areas.plane + 2 * pair * a.pitch, *const next = row + a.pitch;
            Complex* const to = areas.work + pair * a.work_pitch + j * (radix + 1);
            first_pass<radix, Real>(
                j, areas.z_roots,
                [&](int i) {
                    // Forms Z = A + i B at k and, from the conjugates of A and B, at n - k. Exchanges real and imaginary parts.
                    const int at = j + a.z.second * i;
                    const bool mirrored = 2 * at > nz;
                    const int k = mirrored ? nz - at : at;
                    const Complex A = row[k], B = has_second ? next[k] : Complex{0, 0};
                    return mirrored ? Complex{B.im - A.re, A.im + B.re} : Complex{A.re + B.im, A.im - B.re};
                },
                [&](int k, const Complex& value) { to[k] = value; });
        });
    });
    Real* const of_plane = potentials + static_cast<std::int64_t>(blockIdx.x) * ny * nz;
    with_radix<most>(a.z.second, [&](auto radix) {
        all_threads(pairs * a.z.first, [&](int t) {
            const int pair = a.z.by_first.quotient(t), j = t - pair * a.z.first;
            const bool has_second = 2 * pair + 1 < ny;
            const Complex* const from = areas.work + pair * a.work_pitch + j;
            Real* const to = of_plane + 2 * pair * nz + j;
            second_pass<radix, Real>([&](int k) { return from[k * (a.z.first + 1)]; },
                                     [&](int k, const Complex& value) {
                                         to[k * a.z.first] = value.im;
                                         if (has_second) { to[k * a.z.first + nz] = value.re; }
                                     });
        });
    });
    exchange.end();
}

// Purpose        transforms rows of the spectrum along x, multiplies by G, and transforms back; on request sums the energy,
//                1/2 sum_m G |S|^2, and its virial
// Work           by blocks [row][part of the row's lines]; a thread computes one butterfly at a time
// Reads/Writes   the spectrum, moduli, the box / the spectrum of potentials, on request energy and virial (a sum per block)
// Orders         memory accesses, as the exchange policy does
// Requires       the parts of a row from all planes
// Cost           16 bytes per number of the half spectrum in single precision
// The output of a butterfly of the second pass is the input of one of the inverse's first pass, where the radices change places.
template <class N, Compute compute, bool tilted, class Exchange, class Args>
__global__ void PARHELION_LAUNCH_BOUNDS(most_row_threads, compute == Compute::Forces ? 4 : 1)
    two_pass_solve_kernel(BlockTrace tracing, MeshLines sizes, int at_a_time, TwoPassFft<typename N::Real> fft, Args args,
                          SolvedRows<typename N::Real> rows, const DeviceScalars* scalars, EnergySums<N>* energies,
                          Exchange exchange)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;
    using Complex = GpuComplex<Real>;

    constexpr int most = ExchangeGrants<Exchange>::most_radix;
    const int nx = fft.points, y = rows.rows.first + static_cast<int>(blockIdx.x), k = static_cast<int>(blockIdx.y) * at_a_time;
    const int lines = min(at_a_time, sizes.kz - k), pitch = at_a_time | 1;
    Complex* const roots = block_memory<Real>();
    auto* const waves = reinterpret_cast<Wave<Real>*>(roots + nx); // a Wave is as large as a complex number
    Complex *const there = roots + 2 * nx + at_a_time + 1, *const back = there + nx * pitch;
    copy_roots(fft.root, nx, roots);
    find_waves<tilted>(waves, sizes.points, y, k, lines, scalars->box.diagonal(), args);
    await_kernel_before(), let_next_kernel_begin();
    if (!exchange.begin()) { return; }
    if (rows.rows.count == 0) { return exchange.end(); }
    __syncthreads();
    const LineShare share(lines);
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * sizes.kz + k + share.line;
    with_radix<most>(fft.first, [&](auto radix) {
        for (int j = share.member; j < share.end(fft.second); j += share.members)
        {
            Complex* const to = there + j * radix * pitch + share.line;
            first_pass<radix, Real>(
                j, roots, [&](int i) { return rows.from[j + fft.second * i][at]; },
                [&](int i, const Complex& value) { to[i * pitch] = value; });
        }
    });
    __syncthreads();
    const bool counts = y >= rows.summed.first && y < rows.summed.first + rows.summed.count;
    Influence<N, compute, tilted, Args> influence(args, *scalars, sizes.points, waves[nx + lines], waves[nx + share.line],
                                                  {y, k + share.line}, counts);
    with_radix<most>(fft.second, [&](auto radix) {
        for (int j = share.member; j < share.end(fft.first); j += share.members)
        {
            Complex s[radix];
            const Complex* const from = there + j * pitch + share.line;
            second_pass<radix, Real>([&](int i) { return from[i * fft.first * pitch]; },
                                     [&](int i, const Complex& value) { s[i] = value; });
            Complex* const to = back + j * radix * pitch + share.line;
            first_pass<radix, Real>(
                j, roots, [&](int i) { return influence.potential(j + fft.first * i, waves[j + fft.first * i], s[i]); },
                [&](int i, const Complex& value) { to[i * pitch] = value; });
        }
    });
    __syncthreads();
    with_radix<most>(fft.first, [&](auto radix) {
        for (int j = share.member; j < share.end(fft.second); j += share.members)
        {
            const Complex* const from = back + j * pitch + share.line;
            second_pass<radix, Real>([&](int i) { return from[i * fft.second * pitch]; },
                                     [&](int i, const Complex& value) {
                                         Complex* const to = rows.to[j + fft.second * i];
                                         if (to != nullptr) { to[at] = exchanged(value); }
                                     });
        }
    });
    exchange.end();
    influence.add_sums(y == 0 && k == 0 && threadIdx.x == 0, energies);
}

} // namespace parhelion::mesh_transforms
