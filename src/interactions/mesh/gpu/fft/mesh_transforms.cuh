// SPDX-License-Identifier: Apache-2.0
// Launches the kernels of mesh_transforms.hpp with an exchange policy that the caller provides.
#pragma once

#include "device/gpu/launch.cuh"
#include "interactions/mesh/gpu/fft/block_transforms.cuh"
#include "interactions/mesh/gpu/fft/mesh_transforms.hpp"
#include "interactions/mesh/gpu/fft/two_pass_transforms.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <type_traits>

namespace parhelion {

namespace mesh_transforms {

// Calls choose(tilted, compute) with the two arguments as compile-time constants.
template <class Choose>
auto with_options(bool tilted, Compute compute, Choose&& choose)
{
    using Forces = std::integral_constant<Compute, Compute::Forces>;
    using Everything = std::integral_constant<Compute, Compute::ForcesEnergiesVirial>;
    if (compute == Compute::Forces) { return tilted ? choose(std::true_type(), Forces()) : choose(std::false_type(), Forces()); }
    return tilted ? choose(std::true_type(), Everything()) : choose(std::false_type(), Everything());
}

} // namespace mesh_transforms

template <class N>
template <class Exchange>
void GpuMeshTransforms<N>::forward(GpuQueue& queue, mesh::ChargeSum<N>* charges, const PlaneRow<Real>* rows,
                                   const Exchange& exchange)
{
    using namespace mesh_transforms;
    if constexpr (has_two_passes)
    {
        if (two_pass_plane_.threads > 0)
        {
            return launch_two_passes<ExchangeGrants<Exchange>::begins_early>(queue, two_pass_forward_kernel<N, Exchange>, charges,
                                                                             rows, exchange);
        }
    }
    if constexpr (!ExchangeGrants<Exchange>::begins_early) // only two-pass kernels are launched early
    {
        launch_planes(queue,
                      lines_.plane_is_shared ? forward_kernel<N, PlanePlace::Shared, Exchange>
                                             : forward_kernel<N, PlanePlace::Global, Exchange>,
                      charges, rows, exchange);
    }
}

template <class N>
template <class Exchange>
void GpuMeshTransforms<N>::backward(GpuQueue& queue, const PlaneRow<Real>* rows, Real* potentials, const Exchange& exchange)
{
    using namespace mesh_transforms;
    if constexpr (has_two_passes)
    {
        if (two_pass_plane_.threads > 0)
        {
            return launch_two_passes<ExchangeGrants<Exchange>::begins_early>(queue, two_pass_backward_kernel<Real, Exchange>,
                                                                             rows, potentials, exchange);
        }
    }
    if constexpr (!ExchangeGrants<Exchange>::begins_early)
    {
        launch_planes(queue,
                      lines_.plane_is_shared ? backward_kernel<Real, PlanePlace::Shared, Exchange>
                                             : backward_kernel<Real, PlanePlace::Global, Exchange>,
                      rows, potentials, exchange);
    }
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
template <bool early, class Kernel, class... Arguments>
void GpuMeshTransforms<N>::launch_two_passes(GpuQueue& queue, Kernel kernel, const Arguments&... arguments)
{
    const TwoPassPlane& plane = two_pass_plane_;
    const mesh_transforms::TwoPassPlaneArgs<Real> args{planes_,
                                                       lines_.kz,
                                                       SmallDivisor(lines_.kz),
                                                       two_passes_[1].view(),
                                                       two_passes_[2].view(),
                                                       lines_.plane_pitch,
                                                       plane.pair_pitch,
                                                       plane.work_pitch,
                                                       plane.plane};
    allow_shared_memory(queue, kernel, plane.bytes);
    launch(queue, Phase::Fft, kernel, {std::max(1, planes_), plane.threads, plane.bytes, 1, early}, args, arguments...);
}

template <class N>
template <class Exchange>
void GpuMeshTransforms<N>::solve(GpuQueue& queue, const SolvedRows<Real>& rows, GpuState<N>& state, Compute compute,
                                 const Exchange& exchange)
{
    using namespace mesh_transforms;
    if (dispersion_scale_ != 0)
    {
        return solve_with(queue, rows, state, compute, exchange,
                          DispersionArgs{inverse_moduli_.data(), slope_, dispersion_scale_});
    }
    solve_with(queue, rows, state, compute, exchange,
               InfluenceArgs{inverse_moduli_.data(), slope_, coulomb_factor_, background_});
}

template <class N>
template <class Exchange, class Args>
void GpuMeshTransforms<N>::solve_with(GpuQueue& queue, const SolvedRows<Real>& rows, GpuState<N>& state, Compute compute,
                                      const Exchange& exchange, const Args& args)
{
    using namespace mesh_transforms;
    if constexpr (has_two_passes)
    {
        if (two_passes_[0].exists())
        {
            const auto kernel = with_options(state.is_tilted, compute, [](auto tilted, auto computes) {
                return two_pass_solve_kernel<N, computes, tilted, Exchange, Args>;
            });
            const TwoPassRow& row = two_pass_row_;
            allow_shared_memory(queue, kernel, row.bytes);
            launch(queue, Phase::Solve, kernel,
                   {std::max(1, rows.rows.count), row.threads, row.bytes, rows.rows.count > 0 ? row.parts : 1,
                    ExchangeGrants<Exchange>::begins_early},
                   lines_, row.lines, two_passes_[0].view(), args, rows, state.scalars.data(), state.energies.data(), exchange);
            return;
        }
    }
    if constexpr (!ExchangeGrants<Exchange>::begins_early)
    {
        const auto kernel = with_options(state.is_tilted, compute, [](auto tilted, auto computes) {
            return solve_kernel<N, computes, tilted, Exchange, Args>;
        });
        const int parts = (lines_.kz + lines_.at_a_time[0] - 1) / lines_.at_a_time[0];
        allow_shared_memory(queue, kernel, row_bytes_);
        launch(queue, Phase::Solve, kernel,
               {std::max(1, rows.rows.count), row_threads, row_bytes_, rows.rows.count > 0 ? parts : 1}, lines_, fft_[0].view(),
               args, rows, state.scalars.data(), state.energies.data(), exchange);
    }
}

} // namespace parhelion
