// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/mesh_atoms_gpu.hpp"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "interactions/mesh/gpu/point_box.cuh"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

#include <type_traits>

namespace parhelion {

namespace {

template <int order>
constexpr int threads_of_supercluster = supercluster_size* lanes_of_atom<order>;

// The atoms of this block are none of those asked for.
template <class N>
__device__ bool is_left_out(const GpuView<N>& state, MeshAtomsOf whom)
{
    return whom == MeshAtomsOf::Home && state.zone_of_supercluster[blockIdx.x] != 0;
}

// The rows of an atom are dealt out to its lanes.
template <class N, int order>
__device__ void mark_touched(const AtomLane<N, order>& atom, const MeshPoints& points, std::uint8_t* touched)
{
    for (int i = atom.jz; i < order * order; i += lanes_of_atom<order>)
    {
        touched[atom.plane(points, i / order) * points.y + atom.row(points, i % order)] = 1;
    }
}

// Purpose        charges of atoms to the grid
// Work           a block per supercluster, 4 or 8 lanes per slot, each with the points at its z
// Reads/Writes   positions, charges / planes (atomic sums), rows that are touched
// Orders         nothing: stream order alone
// Requires       planes cleared
// Cost           order^3 atomics per atom in shared memory, and one per four points that the supercluster touches in global
//                memory; where there is no box, order^3 atomics per atom in global memory, `order` of them side by side
template <class N, int order>
__global__ void __launch_bounds__(threads_of_supercluster<order>)
    spread_kernel(BlockTrace tracing, GpuView<N> state, MeshPoints points, ChargeQuantum quantum, MeshAtomsOf whom,
                  mesh::ChargeSum<N>* const* planes, std::uint8_t* touched)
{
    const BlockSpan span(tracing);

    if (is_left_out(state, whom)) { return; }
    const auto first = static_cast<std::int32_t>(blockIdx.x) * supercluster_size;
    const AtomLane<N, order> atom(state, points, first);
    if (touched != nullptr && atom.charge != 0) { mark_touched(atom, points, touched); }
    const bool has_charge = atom.charge != 0 && atom.jz < order;
    if constexpr (std::is_same_v<typename N::Real, float>)
    {
        const PointBox box = box_around(state, points, first, atom);
        if (box.is_empty()) { return; }
        if (box.fits()) { return spread_by_box(atom, has_charge, points, box, quantum, planes); }
    }
    if (!has_charge) { return; }
    spread_one<order>(atom, [&](int jx, int jy, auto charge) {
        mesh::ChargeSum<N>* const plane = planes[atom.plane(points, jx)];
        if (plane != nullptr) { add_charge(plane + atom.point(points, jy), charge, quantum); }
    });
}

// Purpose        forces of the grid's potentials on atoms
// Work           a block per supercluster, 4 or 8 lanes per slot, each with the points at its z; the first adds the force
// Reads/Writes   positions, charges, planes, the box / forces (atomic sums: other kernels add to them meanwhile)
// Orders         nothing: stream order alone
// Requires       forces cleared
// Cost           order^3 loads per atom, `order` of them side by side, and one force
template <class N, int order>
__global__ void __launch_bounds__(threads_of_supercluster<order>)
    gather_kernel(BlockTrace tracing, GpuView<N> state, MeshPoints points, MeshAtomsOf whom,
                  const typename N::Real* const* planes, int weight)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;
    using Sum = typename N::ForceSum;
    constexpr bool rounds_planes = N::summation == Summation::Reproducible;

    if (is_left_out(state, whom)) { return; }
    const AtomLane<N, order> atom(state, points, static_cast<std::int32_t>(blockIdx.x) * supercluster_size);
    const Vec3<double> box = state.scalars->box_length;
    const double charge = atom.charge;
    Real by_x = 0, by_y = 0, by_z = 0;
    Vec3<Sum> force{};
    const auto add_to_force = [&] { // of all lanes of the atom
        Real gradient[3] = {by_x * atom.z_weight, by_y * atom.z_weight, by_z * atom.z_derivative};
        for (Real& g : gradient)
        {
            for (int distance = lanes_of_atom<order> / 2; distance > 0; distance /= 2) { g += from_lane_across(g, distance); }
        }
        force.x += to_sum<Sum>(-charge * (points.x / box.x) * gradient[0]);
        force.y += to_sum<Sum>(-charge * (points.y / box.y) * gradient[1]);
        force.z += to_sum<Sum>(-charge * (points.z / box.z) * gradient[2]);
    };
#pragma unroll
    for (int jx = 0; jx < order; ++jx)
    {
        const Real* const plane = charge == 0 ? nullptr : planes[atom.plane(points, jx)];
        if (plane != nullptr)
        {
            Real value = 0, slope = 0; // along y
#pragma unroll
            for (int jy = 0; jy < order; ++jy)
            {
                const Real potential = plane[atom.point(points, jy)];
                value += atom.y_weight[jy] * potential, slope += atom.y_derivative[jy] * potential;
            }
            by_x += atom.x_derivative[jx] * value, by_y += atom.x_weight[jx] * slope, by_z += atom.x_weight[jx] * value;
        }
        if constexpr (rounds_planes)
        {
            add_to_force();
            by_x = by_y = by_z = 0;
        }
    }
    if constexpr (!rounds_planes) { add_to_force(); }
    // Rounded before: the weight may come in parts.
    if (charge != 0 && atom.jz == 0) { state.add_force(atom.slot, static_cast<Sum>(weight) * force); }
}

template <int order, class N>
LaunchShape block_per_supercluster(const GpuState<N>& state)
{
    return {static_cast<int>(state.superclusters()), threads_of_supercluster<order>};
}

} // namespace

template <class N>
void spread_charges(GpuQueue& queue, GpuState<N>& state, const MeshParameters& parameters, MeshAtomsOf whom,
                    mesh::ChargeSum<N>* const* planes, std::uint8_t* touched)
{
    with_order(parameters.order, [&](auto order) {
        launch(queue, Phase::Spread, spread_kernel<N, order>, block_per_supercluster<order>(state), GpuView<N>(state),
               points_of(parameters), ChargeQuantum(parameters.largest_charge), whom, planes, touched);
    });
}

template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, const MeshParameters& parameters, MeshAtomsOf whom,
                   const typename N::Real* const* planes, int weight)
{
    with_order(parameters.order, [&](auto order) {
        launch(queue, Phase::Gather, gather_kernel<N, order>, block_per_supercluster<order>(state), GpuView<N>(state),
               points_of(parameters), whom, planes, weight);
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void spread_charges<N>(GpuQueue&, GpuState<N>&, const MeshParameters&, MeshAtomsOf, mesh::ChargeSum<N>* const*,     \
                                    std::uint8_t*);                                                                              \
    template void gather_forces<N>(GpuQueue&, GpuState<N>&, const MeshParameters&, MeshAtomsOf, const N::Real* const*, int);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
