// SPDX-License-Identifier: Apache-2.0
#include "pairs/gpu/listed_positions_gpu.hpp"

#include "device/gpu/atomics.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int threads = 256;

// Purpose        stores positions and box when the list is built
// Work           by a thread per slot
// Reads/Writes   positions, box / copies of these
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           28 bytes per slot (Mixed)
template <class N>
__global__ void __launch_bounds__(threads)
    keep_listed_kernel(BlockTrace tracing, GpuView<N> state, std::int32_t slots, Vec3<typename N::Fixed>* x, Box<double>* box)
{
    const BlockSpan span(tracing);

    const auto slot = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
    if (slot == 0) { *box = state.scalars->box; }
    if (slot < slots) { x[slot] = state.position(slot); }
}

// Purpose        raises a flag if an atom has moved so far since the list was built that an unlisted pair may be in range
// Work           by a thread per slot; fillers have not moved
// Reads/Writes   positions of home atoms and boxes, present and stored / a flag
// Orders         no memory accesses; the order of the stream suffices
// Requires       positions stored since the last repartition
// Cost           28 bytes per home atom (Mixed)
template <class N>
__global__ void __launch_bounds__(threads)
    check_listed_kernel(BlockTrace tracing, GpuView<N> state, std::int32_t slots, const Vec3<typename N::Fixed>* x,
                        const Box<double>* listed_box, double list_cutoff, double cutoff)
{
    const BlockSpan span(tracing);

    const auto slot = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
    if (slot >= slots || state.zone(slot) != 0) { return; }
    const PeriodicBox<N> box = state.box();
    double shrinkage = 1;
    for (int d = 0; d < 3; ++d) { shrinkage = fmin(shrinkage, box.edges().diagonal()[d] / listed_box->diagonal()[d]); }
    const double allowed = 0.5 * (shrinkage * list_cutoff - cutoff); // largest allowed displacement of an atom, nm
    const Vec3<double> move = box.difference(state.position(slot), x[slot]);
    if (!(allowed >= 0 && norm2(move) <= allowed * allowed))
    {
        atomic_or(&state.scalars->flags, static_cast<std::uint32_t>(gpu_flag_list_stale));
    }
}

} // namespace

template <class N>
void GpuListedPositions<N>::keep(GpuQueue& queue, GpuState<N>& state)
{
    x_.resize(state.slots), box_.resize(1);
    launch(queue, Phase::Reorder, keep_listed_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int32_t>(state.slots), x_.data(), box_.data());
}

template <class N>
void GpuListedPositions<N>::check(GpuQueue& queue, GpuState<N>& state) const
{
    PARHELION_EXPECTS(x_.size() == state.slots);
    launch(queue, Phase::PairList, check_listed_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int32_t>(state.slots), x_.data(), box_.data(), list_cutoff_, cutoff_);
}

#define PARHELION_INSTANTIATE(N) template class GpuListedPositions<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
