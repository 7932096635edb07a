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

// Returns true if the caller has asked to leave out the atoms of this block.
template <class N>
__device__ bool is_left_out(const GpuView<N>& state, MeshAtomsOf whom)
{
    return whom == MeshAtomsOf::Home && state.zone_of_supercluster[blockIdx.x] != 0;
}

// Marks the rows of the grid that an atom reaches. The rows are distributed over the atom's lanes.
template <class N, int order>
__device__ void mark_touched(const AtomLane<N, order>& lane, const MeshPoints& points, std::uint8_t* touched)
{
    for (int i = lane.jz; i < order * order; i += lanes_of_atom<order>)
    {
        touched[lane.plane(points, i / order) * points.y + lane.row(points, i % order)] = 1;
    }
}

// Finds the grid point of one atom, from which BoxBounds counts steps.
template <class N>
__device__ void find_origin(const PositionCharge<N>& p, const MeshPoints& points, std::int32_t (&origin)[3])
{
    origin[0] = mesh_place(p.x, static_cast<std::uint32_t>(points.x)).point;
    origin[1] = mesh_place(p.y, static_cast<std::uint32_t>(points.y)).point;
    origin[2] = mesh_place(p.z, static_cast<std::uint32_t>(points.z)).point;
}

// True in single precision: only there the grid points of a block are in shared memory.
template <class N>
constexpr bool has_box = std::is_same_v<typename N::Real, float>;

// Purpose        adds charges of atoms to the grid
// Work           by a block per supercluster: a thread per slot finds weights, then 4 or 8 lanes have an atom, each of them the
//                points at one z
// Reads/Writes   positions, charges / planes (atomic sums), marks of rows that atoms reach
// Orders         no memory accesses; the order of the stream suffices
// Requires       cleared planes
// Cost           order^3 atomics per atom in shared memory, and one per four points that the supercluster reaches in global
//                memory; without a box, order^3 atomics per atom in global memory, `order` of them side by side
template <class N, int order>
__global__ void __launch_bounds__(threads_of_supercluster<order>)
    spread_kernel(BlockTrace tracing, GpuView<N> state, MeshPoints points, ChargeQuantum quantum, MeshAtomsOf whom,
                  mesh::ChargeSum<N>* const* planes, std::uint8_t* touched)
{
    const BlockSpan span(tracing);
    constexpr int threads = threads_of_supercluster<order>;
    __shared__ BlockAtoms<N, order> atoms;
    __shared__ BoxBounds bounds;
    __shared__ int4 quads[has_box<N> ? PointBox::capacity / 4 : 1];

    let_next_kernel_begin();
    if (is_left_out(state, whom)) { return; }
    const auto first = static_cast<std::int32_t>(blockIdx.x) * supercluster_size;
    const int thread = static_cast<int>(threadIdx.x);
    std::int32_t origin[3];
    find_origin<N>(state.xq[first], points, origin);
    if (thread < supercluster_size)
    {
        atoms.find(thread, state.xq[first + thread], points, [](int, int, typename N::Real) {});
        if constexpr (has_box<N>) { bounds.find(origin, atoms.place[thread], points); }
    }
    else if constexpr (has_box<N>)
    {
        for (int i = thread - supercluster_size; i < PointBox::capacity / 4; i += threads - supercluster_size) { quads[i] = {}; }
    }
    __syncthreads();
    const AtomLane<N, order> lane(atoms, points);
    if (touched != nullptr && lane.charge != 0) { mark_touched(lane, points, touched); }
    if constexpr (has_box<N>)
    {
        const PointBox box = bounds.box(origin, points, order);
        if (box.is_empty()) { return; }
        if (box.fits())
        {
            if (lane.has_points())
            {
                std::int32_t* const cells = reinterpret_cast<std::int32_t*>(quads) + first_in_box(lane, box, points);
                spread_one(atoms, lane, lane.charge * quantum.per_e(), [&](int jx, int jy, float a, float b) {
                    atomic_add(cells + (jx * box.ny + jy) * box.nz, whole_quanta(a, b));
                });
            }
            __syncthreads();
            for_quads<threads>(
                box, points, planes, [&](int i) { return (quads[i].x | quads[i].y | quads[i].z | quads[i].w) != 0; },
                [&](int i, mesh::ChargeSum<N>* plane, int at) {
                    if (plane != nullptr) { add_quad(plane + at, quads[i], quantum); }
                });
            return;
        }
    }
    if (!lane.has_points()) { return; }
    spread_one(atoms, lane, lane.charge, [&](int jx, int jy, auto a, auto b) {
        mesh::ChargeSum<N>* const plane = planes[lane.plane(points, jx)];
        if (plane != nullptr) { add_charge(plane + lane.point(points, jy), a, b, quantum); }
    });
}

// The force on an atom by the grid points of one lane. `derivative` has derivatives of weights,
// times the atom's negative charge and the number of points per nm of the box diagonal.
template <class N, int order, bool tilted>
class LaneForce
{
    using Real = typename N::Real;
    using Sum = typename N::ForceSum;
    static constexpr bool rounds_planes = N::summation == Summation::Reproducible;

public:
    __device__ explicit LaneForce(const DeviceScalars& scalars)
    {
        if constexpr (tilted) { shear_ = static_cast<Vec3<Real>>(scalars.shear); }
    }
    // potential(jx, jy): that at one of the lane's points. All lanes of a warp must call add(), also those without charge.
    template <class Potential>
    __device__ void add(const BlockAtoms<N, order>& atoms, const Real (&derivative)[3][supercluster_size][order],
                        const AtomLane<N, order>& lane, Potential&& potential)
    {
        const int a = lane.atom, j = min(lane.jz, order - 1);
        const Real along_z = lane.jz < order ? atoms.weight[2][a][j] : 0, z_slope = lane.jz < order ? derivative[2][a][j] : 0;
#pragma unroll
        for (int jx = 0; jx < order; ++jx)
        {
            Real value = 0, slope = 0; // sums along y
#pragma unroll
            for (int jy = 0; jy < order; ++jy)
            {
                const Real p = potential(jx, jy);
                value = fma(atoms.weight[1][a][jy], p, value), slope = fma(derivative[1][a][jy], p, slope);
            }
            by_[0] = fma(derivative[0][a][jx], value, by_[0]), by_[1] = fma(atoms.weight[0][a][jx], slope, by_[1]);
            by_[2] = fma(atoms.weight[0][a][jx], value, by_[2]);
            if (rounds_planes) { sum(along_z, z_slope); }
        }
        if (!rounds_planes) { sum(along_z, z_slope); }
    }
    __device__ const Vec3<Sum>& of_atom() const { return force_; } // all lanes of an atom have the same sum

private:
    __device__ void sum(Real along_z, Real z_slope) // adds up the forces of all lanes of the atom
    {
        Real part[3] = {by_[0] * along_z, by_[1] * along_z, by_[2] * z_slope};
#pragma unroll
        for (Real& p : part)
        {
            for (int distance = lanes_of_atom<order> / 2; distance > 0; distance /= 2) { p += from_lane_across(p, distance); }
        }
        if constexpr (tilted) // converts derivatives along edges, as GradientScale::in_space()
        {
            part[1] -= shear_.x * part[0];
            part[2] -= shear_.y * part[0] + shear_.z * part[1];
        }
        force_.x += to_sum<Sum>(part[0]), force_.y += to_sum<Sum>(part[1]), force_.z += to_sum<Sum>(part[2]);
        by_[0] = by_[1] = by_[2] = 0;
    }

    Vec3<Real> shear_; // copy of Box::shear()
    Real by_[3] = {};
    Vec3<Sum> force_{};
};

// Purpose        computes the forces of the grid's potentials on atoms
// Work           by a block per supercluster: a thread per slot finds weights, then 4 or 8 lanes have an atom, each of them the
//                points at one z; the first lane adds the force
// Reads/Writes   positions, charges, planes, the box / forces (atomic sums, since other kernels add to them meanwhile)
// Orders         no memory accesses; the order of the stream suffices
// Requires       cleared forces
// Cost           a load per four points that the supercluster reaches, order^3 loads per atom from shared memory, and one force;
//                without a box, order^3 loads per atom, `order` of them side by side
template <class N, int order, bool tilted>
__global__ void __launch_bounds__(threads_of_supercluster<order>)
    gather_kernel(BlockTrace tracing, GpuView<N> state, MeshPoints points, MeshAtomsOf whom,
                  const typename N::Real* const* planes, int weight)
{
    const BlockSpan span(tracing);
    using Real = typename N::Real;
    using Sum = typename N::ForceSum;
    constexpr int threads = threads_of_supercluster<order>;
    __shared__ BlockAtoms<N, order> atoms;
    alignas(16) __shared__ Real derivative[3][supercluster_size][order];
    __shared__ BoxBounds bounds;
    __shared__ float4 quads[has_box<N> ? PointBox::capacity / 4 : 1];

    if (is_left_out(state, whom)) { return; }
    const auto first = static_cast<std::int32_t>(blockIdx.x) * supercluster_size;
    const int thread = static_cast<int>(threadIdx.x);
    std::int32_t origin[3];
    find_origin<N>(state.xq[first], points, origin);
    if (thread < supercluster_size)
    {
        const PositionCharge<N> p = state.xq[first + thread];
        const Vec3<double>& box = state.scalars->box.diagonal();
        const Real scale[3] = {-p.charge * (static_cast<Real>(points.x) / static_cast<Real>(box.x)),
                               -p.charge * (static_cast<Real>(points.y) / static_cast<Real>(box.y)),
                               -p.charge * (static_cast<Real>(points.z) / static_cast<Real>(box.z))};
        atoms.find(thread, p, points, [&](int d, int j, Real slope) { derivative[d][thread][j] = scale[d] * slope; });
        if constexpr (has_box<N>) { bounds.find(origin, atoms.place[thread], points); }
    }
    await_kernel_before(); // the kernel before writes the potentials
    __syncthreads();
    const AtomLane<N, order> lane(atoms, points);
    LaneForce<N, order, tilted> force(*state.scalars);
    PointBox box{};
    box.nx = -1;
    if constexpr (has_box<N>)
    {
        box = bounds.box(origin, points, order);
        if (box.is_empty()) { return; }
        if (box.fits())
        {
            for_quads<threads>(
                box, points, planes, [](int) { return true; },
                [&](int i, const Real* plane, int at) {
                    quads[i] = plane != nullptr ? *reinterpret_cast<const float4*>(plane + at) : float4{};
                });
            __syncthreads();
            const float* const cells =
                reinterpret_cast<const float*>(quads) + (lane.charge != 0 ? first_in_box(lane, box, points) : 0);
            force.add(atoms, derivative, lane, [&](int jx, int jy) { return cells[(jx * box.ny + jy) * box.nz]; });
        }
    }
    if (!box.fits())
    {
        force.add(atoms, derivative, lane, [&](int jx, int jy) {
            const Real* const plane = planes[lane.plane(points, jx)];
            return plane == nullptr ? 0 : plane[lane.point(points, jy)];
        });
    }
    // The force is rounded before it is multiplied, because several calls may apply parts of the weight.
    if (lane.charge != 0 && lane.jz == 0) { state.add_force(first + lane.atom, static_cast<Sum>(weight) * force.of_atom()); }
}

template <class N>
GpuView<N> view_of(GpuState<N>& state, PositionCharge<N>* atoms)
{
    GpuView<N> view(state);
    if (atoms != nullptr) { view.xq = atoms; }
    return view;
}

template <int order, class N>
LaunchShape block_per_supercluster(const GpuState<N>& state)
{
    return {static_cast<int>(state.superclusters()), threads_of_supercluster<order>};
}

} // namespace

template <class N>
void spread_charges(GpuQueue& queue, GpuState<N>& state, const MeshParameters& parameters, MeshAtomsOf whom,
                    mesh::ChargeSum<N>* const* planes, std::uint8_t* touched, PositionCharge<N>* atoms)
{
    const GpuView<N> view = view_of(state, atoms);
    with_order(parameters.order, [&](auto order) {
        launch(queue, Phase::Spread, spread_kernel<N, order>, block_per_supercluster<order>(state), view, points_of(parameters),
               ChargeQuantum(parameters.largest_charge), whom, planes, touched);
    });
}

template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, const MeshParameters& parameters, MeshAtomsOf whom,
                   const typename N::Real* const* planes, int weight, bool begins_early, PositionCharge<N>* atoms)
{
    const GpuView<N> view = view_of(state, atoms);
    with_order(parameters.order, [&](auto order) {
        const auto kernel = state.is_tilted ? gather_kernel<N, order, true> : gather_kernel<N, order, false>;
        LaunchShape shape = block_per_supercluster<order>(state);
        shape.begins_early = begins_early;
        launch(queue, Phase::Gather, kernel, shape, view, points_of(parameters), whom, planes, weight);
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void spread_charges<N>(GpuQueue&, GpuState<N>&, const MeshParameters&, MeshAtomsOf, mesh::ChargeSum<N>* const*,     \
                                    std::uint8_t*, PositionCharge<N>*);                                                          \
    template void gather_forces<N>(GpuQueue&, GpuState<N>&, const MeshParameters&, MeshAtomsOf, const N::Real* const*, int,      \
                                   bool, PositionCharge<N>*);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
