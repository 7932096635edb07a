// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/fft/fft_gpu.hpp"

#include "device/gpu/launch.cuh"

#include <algorithm>
#include <cufft.h>
#include <string>
#include <type_traits>

namespace parhelion {

namespace {

void check(cufftResult status, const char* what)
{
    if (status != CUFFT_SUCCESS) { throw DeviceError(std::string(what) + ": error " + std::to_string(status) + " of cuFFT"); }
}

// A cuFFT plan, whose work area the caller provides.
class Plan
{
public:
    Plan(const std::array<int, 3>& points, cufftType type)
    {
        check(cufftCreate(&handle_), "cufftCreate");
        check(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
        auto [planes, y, z] = points;
        int lengths[] = {y, z};
        check(cufftMakePlanMany(handle_, 2, lengths, nullptr, 1, 0, nullptr, 1, 0, type, planes, &work_bytes_),
              "cufftMakePlanMany");
    }
    ~Plan() { cufftDestroy(handle_); }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    std::size_t work_bytes() const { return work_bytes_; }
    void use(void* work) { check(cufftSetWorkArea(handle_, work), "cufftSetWorkArea"); }
    cufftHandle on(GpuQueue& queue) const
    {
        check(cufftSetStream(handle_, queue.stream()), "cufftSetStream");
        return handle_;
    }

private:
    cufftHandle handle_{};
    std::size_t work_bytes_ = 0;
};

} // namespace

template <class Real>
struct GpuFft<Real>::Plans
{
    static constexpr bool is_float = std::is_same_v<Real, float>;

    explicit Plans(const std::array<int, 3>& points)
        : forward(points, is_float ? CUFFT_R2C : CUFFT_D2Z), backward(points, is_float ? CUFFT_C2R : CUFFT_Z2D),
          work(std::max(forward.work_bytes(), backward.work_bytes()))
    {
        forward.use(work.data()), backward.use(work.data());
    }

    Plan forward, backward;
    DeviceBuffer<std::byte> work; // for both plans, which never run at the same time
};

template <class Real>
GpuFft<Real>::GpuFft() = default;
template <class Real>
GpuFft<Real>::~GpuFft() = default;
template <class Real>
GpuFft<Real>::GpuFft(GpuFft&&) noexcept = default;
template <class Real>
GpuFft<Real>& GpuFft<Real>::operator=(GpuFft&&) noexcept = default;

template <class Real>
GpuFft<Real>::GpuFft(GpuQueue& queue, const std::array<int, 3>& points)
{
    queue.make_current();
    plans_ = std::make_unique<Plans>(points);
}

template <class Real>
void GpuFft<Real>::forward(GpuQueue& queue, Real* grid, GpuComplex<Real>* transform)
{
    const cufftHandle plan = plans_->forward.on(queue);
    if constexpr (Plans::is_float)
    {
        check(cufftExecR2C(plan, grid, reinterpret_cast<cufftComplex*>(transform)), "cufftExecR2C");
    }
    else { check(cufftExecD2Z(plan, grid, reinterpret_cast<cufftDoubleComplex*>(transform)), "cufftExecD2Z"); }
}

template <class Real>
void GpuFft<Real>::backward(GpuQueue& queue, GpuComplex<Real>* transform, Real* grid)
{
    const cufftHandle plan = plans_->backward.on(queue);
    if constexpr (Plans::is_float)
    {
        check(cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(transform), grid), "cufftExecC2R");
    }
    else { check(cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex*>(transform), grid), "cufftExecZ2D"); }
}

template class GpuFft<float>;
template class GpuFft<double>;

} // namespace parhelion
