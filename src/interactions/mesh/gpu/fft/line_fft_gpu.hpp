// SPDX-License-Identifier: Apache-2.0
// The passes and roots of unity of line_fft.hpp in device memory, for the lines along one axis of the grid.
#pragma once

#include "base/host_device.hpp"
#include "device/gpu/device_buffer.hpp"
#include "interactions/mesh/line_fft.hpp"

#include <cstdint>

namespace parhelion {

template <class Real>
struct alignas(2 * sizeof(Real)) GpuComplex
{
    Real re, im;
};

// Divides i by a number that is constant during a run, by a multiplication. The quotient is exact if i * `by` is less than 2^32.
struct SmallDivisor
{
    std::int32_t by = 1;
    std::uint32_t reciprocal = 0; // 2^32 / by, rounded up

    SmallDivisor() = default;
    explicit SmallDivisor(int n) : by(n), reciprocal(static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + n - 1) / n)) {}
    PARHELION_HD std::int32_t quotient(std::int32_t i) const
    {
        return by == 1 ? i : static_cast<std::int32_t>((std::uint64_t{reciprocal} * static_cast<std::uint32_t>(i)) >> 32);
    }
};

// The kernel argument that describes a transform.
template <class Real>
struct LineFftView
{
    static constexpr int most_passes = 20; // enough for 3^20 points

    struct Pass
    {
        std::int32_t radix, rest; // like LineFft<Real>::Pass: the radix, and length / radix
        SmallDivisor stride;
        std::int32_t twiddles, radix_roots; // indices in the table of roots: the first twiddle factor, the radix' first root
    };
    std::int32_t points, passes, roots; // number of points, of passes, of roots
    Pass pass[most_passes];
    const GpuComplex<Real>* root;
};

// The kernel argument for a transform in two passes, with one butterfly per pass (register_fft.cuh).
template <class Real>
struct TwoPassFft
{
    std::int32_t points = 0, first = 0, second = 0; // points = first * second, first >= second
    SmallDivisor by_first, by_second;
    const GpuComplex<Real>* root = nullptr; // exp(-2 pi i k / points), k < points
};

template <class Real>
class GpuTwoPassFft
{
public:
    GpuTwoPassFft() = default;
    // Uploads roots and waits. Supports most lengths from 16 to 256 without prime factors above 7; otherwise the object is empty.
    GpuTwoPassFft(GpuQueue& queue, int points);

    bool exists() const { return view_.first > 0; }
    const TwoPassFft<Real>& view() const { return view_; }

private:
    DeviceBuffer<GpuComplex<Real>> roots_;
    TwoPassFft<Real> view_;
};

template <class Real>
class GpuLineFft
{
public:
    GpuLineFft() = default;
    // Uploads passes and roots, and waits for the copies.
    GpuLineFft(GpuQueue& queue, int points);

    const LineFftView<Real>& view() const { return view_; }

private:
    DeviceBuffer<GpuComplex<Real>> roots_;
    LineFftView<Real> view_{};
};

} // namespace parhelion
