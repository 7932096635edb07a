// SPDX-License-Identifier: Apache-2.0
// The functions of cufft.h, for transforms of planes. A transform is a kernel of one thread: it takes its turn in streams and
// graphs as others do.
//
// Transforms are computed in double for all types, line by line, by the recursion over prime factors (Cooley and Tukey, Math.
// Comp. 19, 297 (1965)). Whoever makes use of the work area, or of the input of an inverse transform, finds it spoilt.
#include <cufft.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace {

using Complex = std::complex<double>;

struct Plan
{
    std::array<int, 3> points{}; // planes, and along their axes
    cufftType type = CUFFT_R2C;
    char* work = nullptr;
    std::size_t work_bytes = 0;
    cudaStream_t stream = nullptr;

    std::size_t kz() const { return static_cast<std::size_t>(points[2]) / 2 + 1; }
    std::size_t rows() const { return static_cast<std::size_t>(points[0]) * static_cast<std::size_t>(points[1]); }
};

struct Plans
{
    std::mutex mutex;
    std::map<cufftHandle, Plan> plans;
    cufftHandle last = 0;
};
Plans& all()
{
    static Plans& the_one = *new Plans;
    return the_one;
}

template <class Change>
cufftResult change(cufftHandle handle, Change&& body)
{
    const std::lock_guard lock(all().mutex);
    const auto found = all().plans.find(handle);
    if (found == all().plans.end()) { return CUFFT_INVALID_PLAN; }
    body(found->second);
    return CUFFT_SUCCESS;
}

// Of n numbers from[0], from[stride] ...: S(k) = sum_j a(j) roots[j k], where roots has `turns` n numbers once around the circle.
std::vector<Complex> transform_line(const Complex* from, std::size_t n, std::size_t stride, const std::vector<Complex>& roots,
                                    std::size_t turns)
{
    if (n == 1) { return {*from}; }
    std::size_t factor = 2;
    while (n % factor != 0) { ++factor; }
    const std::size_t rest = n / factor;
    std::vector<Complex> result(n);
    for (std::size_t f = 0; f < factor; ++f)
    {
        const std::vector<Complex> part = transform_line(from + f * stride, rest, stride * factor, roots, turns * factor);
        for (std::size_t k = 0; k < n; ++k) { result[k] += roots[f * k % n * turns] * part[k % rest]; }
    }
    return result;
}

// In place, along both axes of each plane; direction -1 is forward.
void transform(const std::array<int, 3>& points, std::vector<Complex>& grid, int direction)
{
    std::size_t stride = 1;
    for (const int d : {2, 1})
    {
        const auto n = static_cast<std::size_t>(points[static_cast<std::size_t>(d)]);
        std::vector<Complex> roots;
        for (std::size_t k = 0; k < n; ++k)
        {
            roots.push_back(std::polar(1.0, direction * 2 * std::acos(-1.0) * static_cast<double>(k) / static_cast<double>(n)));
        }
        for (std::size_t i = 0; i < grid.size(); ++i)
        {
            if (i / stride % n != 0) { continue; } // not where a line begins
            const std::vector<Complex> line = transform_line(&grid[i], n, stride, roots, 1);
            for (std::size_t k = 0; k < n; ++k) { grid[i + k * stride] = line[k]; }
        }
        stride *= n;
    }
}

template <class Real, class Pair>
void forward(const Plan& plan, Real* from, Pair* to)
{
    const auto nz = static_cast<std::size_t>(plan.points[2]);
    std::vector<Complex> grid(from, from + plan.rows() * nz);
    transform(plan.points, grid, -1);
    for (std::size_t row = 0; row < plan.rows(); ++row)
    {
        for (std::size_t k = 0; k < plan.kz(); ++k)
        {
            const Complex value = grid[row * nz + k];
            to[row * plan.kz() + k] = {static_cast<Real>(value.real()), static_cast<Real>(value.imag())};
        }
    }
}

// The other half is the conjugate of the opposite wave.
template <class Real, class Pair>
void backward(const Plan& plan, Pair* from, Real* to)
{
    const auto nx = static_cast<std::size_t>(plan.points[0]), ny = static_cast<std::size_t>(plan.points[1]),
               nz = static_cast<std::size_t>(plan.points[2]);
    std::vector<Complex> grid(plan.rows() * nz);
    for (std::size_t x = 0; x < nx; ++x)
    {
        for (std::size_t y = 0; y < ny; ++y)
        {
            for (std::size_t z = 0; z < nz; ++z)
            {
                const bool is_there = z < plan.kz();
                const std::size_t row = x * ny + (is_there ? y : (ny - y) % ny);
                const Pair& value = from[row * plan.kz() + (is_there ? z : nz - z)];
                grid[(x * ny + y) * nz + z] = {value.x, is_there ? value.y : -value.y};
            }
        }
    }
    transform(plan.points, grid, 1);
    for (std::size_t i = 0; i < grid.size(); ++i) { to[i] = static_cast<Real>(grid[i].real()); }
    std::memset(static_cast<void*>(from), 0xff, plan.rows() * plan.kz() * sizeof(Pair));
}

template <class From, class To>
cufftResult execute(cufftHandle handle, cufftType type, void (*body)(const Plan&, From*, To*), From* from, To* to)
{
    Plan plan;
    const cufftResult found = change(handle, [&](const Plan& p) { plan = p; });
    if (found != CUFFT_SUCCESS || plan.type != type || plan.work == nullptr) { return CUFFT_INVALID_PLAN; }
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = dim3(1, 1);
    config.stream = plan.stream;
    const cudaError_t status = standin::launch(config, reinterpret_cast<const void*>(body), [=] {
        std::memset(plan.work, 0xff, plan.work_bytes);
        body(plan, from, to);
    });
    return status == cudaSuccess ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

} // namespace

cufftResult cufftCreate(cufftHandle* plan)
{
    const std::lock_guard lock(all().mutex);
    *plan = ++all().last;
    all().plans[*plan];
    return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan)
{
    const std::lock_guard lock(all().mutex);
    return all().plans.erase(plan) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int)
{
    return change(plan, [](Plan&) {});
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* lengths, int* inembed, int, int, int* onembed, int, int,
                              cufftType type, int planes, std::size_t* work_bytes)
{
    const bool are_planes = rank == 2 && inembed == nullptr && onembed == nullptr; // one behind the other
    if (!are_planes || planes < 1 || lengths[0] < 1 || lengths[1] < 1) { return CUFFT_INVALID_SIZE; }
    return change(plan, [&](Plan& p) {
        p.points = {planes, lengths[0], lengths[1]}, p.type = type;
        *work_bytes = p.work_bytes = 64;
    });
}
cufftResult cufftSetWorkArea(cufftHandle plan, void* work)
{
    return change(plan, [&](Plan& p) { p.work = static_cast<char*>(work); });
}
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream)
{
    return change(plan, [&](Plan& p) { p.stream = stream; });
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* from, cufftComplex* to)
{
    return execute(plan, CUFFT_R2C, forward<cufftReal, cufftComplex>, from, to);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* from, cufftReal* to)
{
    return execute(plan, CUFFT_C2R, backward<cufftReal, cufftComplex>, from, to);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* from, cufftDoubleComplex* to)
{
    return execute(plan, CUFFT_D2Z, forward<cufftDoubleReal, cufftDoubleComplex>, from, to);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* from, cufftDoubleReal* to)
{
    return execute(plan, CUFFT_Z2D, backward<cufftDoubleReal, cufftDoubleComplex>, from, to);
}
