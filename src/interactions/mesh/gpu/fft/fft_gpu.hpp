// SPDX-License-Identifier: Apache-2.0
// Transforms of all planes of a grid on a GPU, real to complex and back, by cuFFT: S(k) = sum_j a(j) exp(-2 pi i j k / n)
// along y and z, not normalised. Only this file uses cuFFT. The CPU stand-in has a cuFFT of its own (tests/standin/cufft.cpp).
//
// Plans and their work area are made once, so transforms allocate nothing and may be captured in graphs. A plan
// always runs the same kernels, without atomics, so on one GPU the same grid gives the same bits every time. Another
// GPU or version of cuFFT may give other bits. cuFFT's kernels write no records for timelines: there they are gaps between spread
// and solve, and between solve and gather. Decision 0011 says why there are also transforms of our own.
//
// Cost: the work area, up to about the size of the grid; the grid is read and written two or three times.
#pragma once

#include "interactions/mesh/gpu/fft/line_fft_gpu.hpp"

#include <array>
#include <memory>

namespace parhelion {

template <class Real>
class GpuFft
{
public:
    GpuFft(); // makes an object without plans
    // Makes plans for a grid [x][y][z] and its transform [x][y][kz], kz = 0 ... points[2] / 2. Throws DeviceError.
    GpuFft(GpuQueue& queue, const std::array<int, 3>& points);
    ~GpuFft();
    GpuFft(GpuFft&&) noexcept;
    GpuFft& operator=(GpuFft&&) noexcept;

    // Queues the transform of `grid`. Only one queue at a time may use the work area.
    void forward(GpuQueue& queue, Real* grid, GpuComplex<Real>* transform);
    void backward(GpuQueue& queue, GpuComplex<Real>* transform, Real* grid); // queues the inverse; overwrites `transform`

private:
    struct Plans;

    std::unique_ptr<Plans> plans_;
};

} // namespace parhelion
