// SPDX-License-Identifier: Apache-2.0
// Selects the kernels of mesh_kernels.hpp for one precision, in the best available instruction set. One
// .cpp per precision includes this file, and defines its two policies, PARHELION_MESH_FAST and
// PARHELION_MESH_REPRODUCIBLE. The file is included once per instruction set, so it has no include guard.
#include "interactions/mesh/mesh_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace parhelion::mesh::HWY_NAMESPACE {
using Fast = PARHELION_MESH_FAST;
using Reproducible = PARHELION_MESH_REPRODUCIBLE;
using Real = Fast::Real;

void forward(const Transforms<Real>& transforms, const Real* grid, Real* const* rows, Real* work)
{
    run_forward_plane(transforms, grid, rows, work);
}
void backward(const Transforms<Real>& transforms, const Real* const* rows, Real* grid, Real* work)
{
    run_backward_plane(transforms, rows, grid, work);
}
void solve_row(const Transforms<Real>& transforms, const SpectrumRow<Real>& row, Real* work, LineSums* sums)
{
    run_solve(transforms, row, work, sums);
}
void spread_fast(const Atoms<Fast>& atoms, int first, int end, Real* grid) { run_spread(atoms, first, end, grid); }
void spread_reproducible(const Atoms<Reproducible>& atoms, int first, int end, std::int64_t* grid)
{
    run_spread(atoms, first, end, grid);
}
void gather_fast(const Atoms<Fast>& atoms, const Real* grid, const GradientScale& scale, int weight, Real* f)
{
    run_gather(atoms, grid, scale, weight, f);
}
void gather_reproducible(const Atoms<Reproducible>& atoms, const Real* grid, const GradientScale& scale, int weight,
                         std::int64_t* f)
{
    run_gather(atoms, grid, scale, weight, f);
}
} // namespace parhelion::mesh::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parhelion::mesh {
using Fast = PARHELION_MESH_FAST;
using Reproducible = PARHELION_MESH_REPRODUCIBLE;
using Real = Fast::Real;

HWY_EXPORT(forward);
HWY_EXPORT(backward);
HWY_EXPORT(solve_row);
HWY_EXPORT(spread_fast);
HWY_EXPORT(spread_reproducible);
HWY_EXPORT(gather_fast);
HWY_EXPORT(gather_reproducible);

template <>
void forward_plane(const Transforms<Real>& transforms, const Real* grid, Real* const* rows, Real* work)
{
    HWY_DYNAMIC_DISPATCH(forward)(transforms, grid, rows, work);
}
template <>
void backward_plane(const Transforms<Real>& transforms, const Real* const* rows, Real* grid, Real* work)
{
    HWY_DYNAMIC_DISPATCH(backward)(transforms, rows, grid, work);
}
template <>
void solve(const Transforms<Real>& transforms, const SpectrumRow<Real>& row, Real* work, LineSums* sums)
{
    HWY_DYNAMIC_DISPATCH(solve_row)(transforms, row, work, sums);
}
template <>
void spread(const Atoms<Fast>& atoms, int first_plane, int end_plane, Real* grid)
{
    HWY_DYNAMIC_DISPATCH(spread_fast)(atoms, first_plane, end_plane, grid);
}
template <>
void spread(const Atoms<Reproducible>& atoms, int first_plane, int end_plane, std::int64_t* grid)
{
    HWY_DYNAMIC_DISPATCH(spread_reproducible)(atoms, first_plane, end_plane, grid);
}
template <>
void gather(const Atoms<Fast>& atoms, const Real* grid, const GradientScale& scale, int weight, Real* f)
{
    HWY_DYNAMIC_DISPATCH(gather_fast)(atoms, grid, scale, weight, f);
}
template <>
void gather(const Atoms<Reproducible>& atoms, const Real* grid, const GradientScale& scale, int weight, std::int64_t* f)
{
    HWY_DYNAMIC_DISPATCH(gather_reproducible)(atoms, grid, scale, weight, f);
}
} // namespace parhelion::mesh
#endif
