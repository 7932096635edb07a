// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/mesh_charges_gpu.hpp"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "trace/phases.hpp"

#include <vector>

namespace parhelion {

namespace {

constexpr int copying_threads = 256;

// Purpose        copies atoms, with the strengths of their types in place of charges
// Work           by a thread per slot
// Reads/Writes   positions, types, strengths / atoms
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           40 bytes a slot in single precision
template <class N>
__global__ void take_strengths_kernel(BlockTrace tracing, const PositionCharge<N>* xq, const std::int32_t* lj_type,
                                      const std::int32_t* global_of_slot, int slots, int filler,
                                      const typename N::Real* strength_of_type, PositionCharge<N>* atoms)
{
    const BlockSpan span(tracing);

    const int slot = static_cast<int>(blockIdx.x) * copying_threads + static_cast<int>(threadIdx.x);
    if (slot >= slots) { return; }
    PositionCharge<N> atom = xq[slot];
    atom.charge = strength_of_type[global_of_slot[slot] < 0 ? filler : lj_type[slot]];
    atoms[slot] = atom;
}

} // namespace

template <class N>
GpuMeshCharges<N>::GpuMeshCharges(GpuQueue& queue, const MeshParameters& parameters)
{
    if (!parameters.is_of_dispersion()) { return; }
    std::vector<typename N::Real> strengths(parameters.strength_of_type.begin(), parameters.strength_of_type.end());
    strengths.push_back(0); // of fillers
    queue.make_current();
    strength_of_type_.upload(queue, strengths);
    queue.synchronize(); // the table on the host may be destroyed afterwards
}

template <class N>
void GpuMeshCharges<N>::make_room(std::size_t slots)
{
    if (is_of_dispersion()) { atoms_.resize(slots); }
}

template <class N>
PositionCharge<N>* GpuMeshCharges<N>::take(GpuQueue& queue, const GpuState<N>& state)
{
    if (!is_of_dispersion()) { return nullptr; }
    atoms_.resize(state.slots);
    launch(queue, Phase::Spread, take_strengths_kernel<N>, one_thread_each(state.slots, copying_threads), state.xq.data(),
           state.lj_type.data(), state.global_of_slot.data(), static_cast<int>(state.slots),
           static_cast<int>(strength_of_type_.size()) - 1, strength_of_type_.data(), atoms_.data());
    return atoms_.data();
}

#define PARHELION_INSTANTIATE(N) template class GpuMeshCharges<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
