// SPDX-License-Identifier: Apache-2.0
// The mesh kernels in double: a file per precision, so that they compile side by side.
#include "pairs/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "interactions/mesh/mesh_double.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "interactions/mesh/mesh_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace parhelion::mesh::HWY_NAMESPACE {
void forward(const Transforms<double>& transforms, int x, double* work) { run_forward_plane(transforms, x, work); }
void backward(const Transforms<double>& transforms, int x, double* work) { run_backward_plane(transforms, x, work); }
void solve_row(const Transforms<double>& transforms, int y, double* work, LineSums* sums)
{
    run_solve(transforms, y, work, sums);
}
void spread_fast(const Atoms<Double>& atoms, int first, int end, double* grid) { run_spread(atoms, first, end, grid); }
void spread_reproducible(const Atoms<DoubleReproducible>& atoms, int first, int end, std::int64_t* grid)
{
    run_spread(atoms, first, end, grid);
}
void gather_fast(const Atoms<Double>& atoms, const double* grid, const std::array<double, 3>& per_spacing, double* f)
{
    run_gather(atoms, grid, per_spacing, f);
}
void gather_reproducible(const Atoms<DoubleReproducible>& atoms, const double* grid, const std::array<double, 3>& per_spacing,
                         std::int64_t* f)
{
    run_gather(atoms, grid, per_spacing, f);
}
} // namespace parhelion::mesh::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parhelion::mesh {
HWY_EXPORT(forward);
HWY_EXPORT(backward);
HWY_EXPORT(solve_row);
HWY_EXPORT(spread_fast);
HWY_EXPORT(spread_reproducible);
HWY_EXPORT(gather_fast);
HWY_EXPORT(gather_reproducible);

template <>
void forward_plane(const Transforms<double>& transforms, int x, double* work)
{
    HWY_DYNAMIC_DISPATCH(forward)(transforms, x, work);
}
template <>
void backward_plane(const Transforms<double>& transforms, int x, double* work)
{
    HWY_DYNAMIC_DISPATCH(backward)(transforms, x, work);
}
template <>
void solve(const Transforms<double>& transforms, int y, double* work, LineSums* sums)
{
    HWY_DYNAMIC_DISPATCH(solve_row)(transforms, y, work, sums);
}
template <>
void spread(const Atoms<Double>& atoms, int first_plane, int end_plane, double* grid)
{
    HWY_DYNAMIC_DISPATCH(spread_fast)(atoms, first_plane, end_plane, grid);
}
template <>
void spread(const Atoms<DoubleReproducible>& atoms, int first_plane, int end_plane, std::int64_t* grid)
{
    HWY_DYNAMIC_DISPATCH(spread_reproducible)(atoms, first_plane, end_plane, grid);
}
template <>
void gather(const Atoms<Double>& atoms, const double* grid, const std::array<double, 3>& per_spacing, double* f)
{
    HWY_DYNAMIC_DISPATCH(gather_fast)(atoms, grid, per_spacing, f);
}
template <>
void gather(const Atoms<DoubleReproducible>& atoms, const double* grid, const std::array<double, 3>& per_spacing, std::int64_t* f)
{
    HWY_DYNAMIC_DISPATCH(gather_reproducible)(atoms, grid, per_spacing, f);
}
} // namespace parhelion::mesh
#endif
