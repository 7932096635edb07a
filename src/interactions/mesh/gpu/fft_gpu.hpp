// SPDX-License-Identifier: Apache-2.0
// Transforms of all planes of a grid on a GPU, real to complex and back, by cuFFT: S(k) = sum_j a(j) exp(-2 pi i j k / n) along y
// and z, not normalised. The one place that knows cuFFT; the stand-in has a library of that name (tests/standin/cufft.cpp).
//
// Plans and their work area are made once: transforms allocate nothing and may be captured in graphs. A plan always runs the same
// kernels, which use no atomics, so that on one GPU the same grid gives the same bits every time. On another GPU, or with another
// version of cuFFT, it may give others. cuFFT's kernels leave no records of blocks: in timelines they are the gap between spread
// and solve, and between solve and gather. Decision 0011 says why there is a transform of our own beside it.
//
// Cost: the work area, up to about the size of the grid; the grid is read and written two or three times.
#pragma once

#include "interactions/mesh/gpu/line_fft_gpu.hpp"

#include <array>
#include <memory>

namespace parhelion {

template <class Real>
class GpuFft
{
public:
    GpuFft(); // of nothing
    // Of a grid [x][y][z] with the transform [x][y][kz], kz = 0 ... points[2] / 2. Throws DeviceError.
    GpuFft(GpuQueue& queue, const std::array<int, 3>& points);
    ~GpuFft();
    GpuFft(GpuFft&&) noexcept;
    GpuFft& operator=(GpuFft&&) noexcept;

    // Queued; on one queue at a time, because of the work area.
    void forward(GpuQueue& queue, Real* grid, GpuComplex<Real>* transform);
    void backward(GpuQueue& queue, GpuComplex<Real>* transform, Real* grid); // the transform is lost

private:
    struct Plans;

    std::unique_ptr<Plans> plans_;
};

} // namespace parhelion
