// SPDX-License-Identifier: Apache-2.0
#include "dynamics/update_gpu.cuh"

#include "base/error.hpp"
#include "base/units.hpp"
#include "device/block_sum.cuh"
#include "device/block_trace.cuh"
#include "device/launch.cuh"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

using namespace update_gpu;

constexpr std::size_t largest_shared_arena = 160 * 1024;

// Purpose        kick, constrain and drift of every home atom; forces cleared; watch over forces, displacements and constraints
// Work           a thread per water and per star; a block of threads for each block of other atoms
// Reads/Writes   positions, velocities, forces (all three written), tables of the constraints / on request virial and heat
// Orders         nothing: stream order alone
// Requires       slots resolved since the last repartition; dynamic shared memory for the largest block's arena
// Cost           96 bytes per atom and 8 per index; 400 double-precision flop per water, 500 per LINCS constraint
template <class N, Motion motion>
__global__ void __launch_bounds__(threads)
    update_kernel(BlockTrace tracing, GpuUpdate::View view, UpdateArgs<N> args, GpuView<N> state)
{
    const BlockSpan span(tracing);

    extern __shared__ double shared_arena[];
    Tally<N> tally;
    const int block = static_cast<int>(blockIdx.x);
    if (block < view.stars[0].first_block)
    {
        const std::int64_t w = static_cast<std::int64_t>(block) * threads + threadIdx.x;
        if (w < view.waters) { step_water<motion>(view, args, state, w, tally); }
    }
    else if (block < view.first_block)
    {
        step_stars<motion>(view, args, state, tally, std::make_integer_sequence<int, largest_star + 1>());
    }
    else
    {
        const UpdateBlock& members = view.blocks.blocks[block - view.first_block];
        void* const arena =
            view.arena == nullptr ? static_cast<void*>(shared_arena) : static_cast<void*>(view.arena + members.arena);
        LincsBlock lincs(view.blocks, members, arena);
        step_block<motion>(view, args, state, lincs, tally);
    }
    if (args.virial != nullptr) { add_block_sums(tally.virial, args.virial); }
    if constexpr (motion == Motion::Stochastic) { add_block_sums(tally.heat, args.heat); }
}

__device__ double squared_deviation(double length2, double length)
{
    const double relative = sqrt(length2) / length - 1;
    return relative * relative;
}

// Purpose        how well positions satisfy the constraints
// Work           as update_kernel
// Reads/Writes   positions, tables / a sum
// Orders         nothing: stream order alone
// Requires       slots resolved since the last repartition
// Cost           32 bytes per constraint
template <class N>
__global__ void __launch_bounds__(threads)
    deviation_kernel(BlockTrace tracing, GpuUpdate::View view, GpuView<N> state, ScalarSum<N>* squares)
{
    const BlockSpan span(tracing);

    const PeriodicBox<N> box = state.box();
    const auto distance2 = [&](std::int32_t a, std::int32_t b) {
        return norm2(box.difference(state.position(a), state.position(b)));
    };
    double sum = 0;
    const int block = static_cast<int>(blockIdx.x);
    if (block < view.stars[0].first_block)
    {
        const std::int64_t w = static_cast<std::int64_t>(block) * threads + threadIdx.x;
        if (w < view.waters)
        {
            const SettleWater kind = view.water_kinds[view.kind_of_water[w]];
            const std::int32_t* const slot = view.water_slots + 3 * w;
            sum = squared_deviation(distance2(slot[0], slot[1]), kind.oh) +
                  squared_deviation(distance2(slot[0], slot[2]), kind.oh) +
                  squared_deviation(distance2(slot[1], slot[2]), kind.hh);
        }
    }
    else if (block < view.first_block)
    {
        int n = largest_star;
        while (n > 0 && block < view.stars[n].first_block) { --n; }
        const StarsView& stars = view.stars[n];
        const std::int64_t star = static_cast<std::int64_t>(block - stars.first_block) * threads + threadIdx.x;
        for (int i = 0; star < stars.stars && i < n; ++i)
        {
            const std::int32_t* const slot = stars.slots + star * (n + 1);
            sum += squared_deviation(distance2(slot[i + 1], slot[0]), view.star_shapes[stars.shape[star]].length[i]);
        }
    }
    else
    {
        const LincsBlock lincs(view.blocks, view.blocks.blocks[block - view.first_block], nullptr);
        const std::int32_t* const slots = view.block_slots + lincs.block().first_atom;
        for (int i = static_cast<int>(threadIdx.x); i < lincs.block().bonds; i += threads)
        {
            const BlockMember bond = lincs.bond(i);
            sum += squared_deviation(distance2(slots[lincs.end_a(bond)], slots[lincs.end_b(bond)]), lincs.shape(bond).length);
        }
    }
    const ScalarSum<N> value[1] = {to_sum<ScalarSum<N>>(sum)};
    add_block_sums(value, squares);
}

template <class N, Motion motion>
void launch_update(GpuQueue& queue, const GpuUpdate::View& view, std::int32_t blocks, const UpdateArgs<N>& args,
                   GpuState<N>& state)
{
    const std::size_t shared = view.arena == nullptr ? view.arena_bytes : 0;
    const auto kernel = update_kernel<N, motion>;
    // Asked for only where needed: a kernel that may use more shared memory makes the multiprocessors divide their memory anew.
    constexpr std::size_t always_allowed = 48 * 1024;
    if (shared > always_allowed)
    {
        cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
                   "shared memory of the update");
    }
    launch(queue, Phase::Constrain, kernel, {view.first_block + blocks, threads, shared}, view, args, GpuView<N>(state));
}

} // namespace

GpuUpdate::GpuUpdate(GpuQueue& queue, const UpdateBlocks& blocks, const RunParameters& parameters)
    : waters_(blocks.waters()), constraints_(blocks.constraints()), blocks_(static_cast<std::int32_t>(blocks.blocks.size())),
      lincs_iterations_(parameters.lincs_iterations), warn_cosine_(std::cos(parameters.lincs_warn_angle * units::degree))
{
    std::vector<UpdateBlock> table = blocks.blocks;
    std::int64_t all_arenas = 0;
    for (UpdateBlock& block : table)
    {
        const std::size_t bytes = (LincsArena::bytes(block) + 15) / 16 * 16;
        block.arena = all_arenas;
        all_arenas += static_cast<std::int64_t>(bytes);
        arena_bytes_ = std::max(arena_bytes_, bytes);
    }
    if (arena_bytes_ > largest_shared_arena) { arena_.resize(static_cast<std::size_t>(all_arenas)); }
    water_kinds_.upload(queue, blocks.water_kinds);
    kind_of_water_.upload(queue, blocks.kind_of_water);
    std::vector<std::int32_t> global = blocks.water_atoms;
    for (std::size_t n = 0; n < stars_.size(); ++n)
    {
        shape_of_star_[n].upload(queue, blocks.stars[n].shape);
        stars_[n] = static_cast<std::int64_t>(blocks.stars[n].atoms.size() / (n + 1));
        global.insert(global.end(), blocks.stars[n].atoms.begin(), blocks.stars[n].atoms.end());
    }
    global.insert(global.end(), blocks.global_atoms.begin(), blocks.global_atoms.end());
    global_.upload(queue, global);
    slot_.resize(global.size());
    star_shapes_.upload(queue, blocks.star_shapes);
    shape_atoms_.upload(queue, blocks.shapes.atoms);
    shape_bonds_.upload(queue, blocks.shapes.bonds);
    ends_.upload(queue, blocks.shapes.ends);
    coupled_.upload(queue, blocks.shapes.coupled);
    coefficient_.upload(queue, blocks.shapes.coefficient);
    block_table_.upload(queue, table);
    atoms_.upload(queue, blocks.atoms);
    bonds_.upload(queue, blocks.bonds);
    bond_couplings_.upload(queue, blocks.bond_couplings);
    groups_.upload(queue, blocks.groups);
    queue.synchronize(); // the host's tables may go
}

GpuUpdate::View GpuUpdate::view() const
{
    View view;
    view.water_kinds = water_kinds_.data();
    view.kind_of_water = kind_of_water_.data();
    view.water_atoms = global_.data();
    view.water_slots = slot_.data();
    view.waters = waters_;
    const auto blocks_of = [](std::int64_t items) { return static_cast<std::int32_t>((items + threads - 1) / threads); };
    view.star_shapes = star_shapes_.data();
    view.first_block = blocks_of(waters_);
    std::int64_t first_atom = 3 * waters_;
    for (std::size_t n = 0; n < stars_.size(); ++n)
    {
        view.stars[n] = {shape_of_star_[n].data(), global_.data() + first_atom, slot_.data() + first_atom, stars_[n],
                         view.first_block};
        view.first_block += blocks_of(stars_[n]);
        first_atom += static_cast<std::int64_t>(n + 1) * stars_[n];
    }
    view.block_atoms = global_.data() + first_atom;
    view.block_slots = slot_.data() + first_atom;
    view.blocks = {shape_atoms_.data(), shape_bonds_.data(), ends_.data(),  coupled_.data(),        coefficient_.data(),
                   block_table_.data(), atoms_.data(),       bonds_.data(), bond_couplings_.data(), groups_.data()};
    view.lincs_iterations = lincs_iterations_;
    view.warn_cosine = warn_cosine_;
    view.arena = arena_.size() == 0 ? nullptr : const_cast<std::byte*>(arena_.data()); // scratch of the kernels
    view.arena_bytes = arena_bytes_;
    return view;
}

template <class N>
void GpuUpdate::resolve(GpuQueue& queue, const GpuState<N>& state)
{
    resolve_slots(queue, state, global_, slot_);
}

template <class N>
void GpuUpdate::step(GpuQueue& queue, const UpdateArgs<N>& args, GpuState<N>& state) const
{
    PARHELION_EXPECTS(args.dt != 0 && args.kick != nullptr && args.failure != nullptr);
    if (args.friction == nullptr) { launch_update<N, Motion::LeapFrog>(queue, view(), blocks_, args, state); }
    else { launch_update<N, Motion::Stochastic>(queue, view(), blocks_, args, state); }
}

template <class N>
void GpuUpdate::mend(GpuQueue& queue, std::int64_t step_offset, FailureReport* failure, GpuState<N>& state) const
{
    if (constraints_ == 0) { return; }
    // At rest, the constrained "velocity" for a unit of time is the displacement itself.
    UpdateArgs<N> args;
    args.step_offset = step_offset;
    args.dt = 1;
    args.limits.displacement = 1e3; // no guard: a displacement is finite, or constraints have failed
    args.failure = failure;
    launch_update<N, Motion::Mend>(queue, view(), blocks_, args, state);
}

template <class N>
void GpuUpdate::add_deviations(GpuQueue& queue, const GpuState<N>& state, ScalarSum<N>* squares) const
{
    if (constraints_ == 0) { return; }
    const View v = view();
    launch(queue, Phase::Output, deviation_kernel<N>, {v.first_block + blocks_, threads, 0}, v,
           GpuView<N>(const_cast<GpuState<N>&>(state)), squares);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuUpdate::resolve<N>(GpuQueue&, const GpuState<N>&);                                                          \
    template void GpuUpdate::step<N>(GpuQueue&, const UpdateArgs<N>&, GpuState<N>&) const;                                       \
    template void GpuUpdate::mend<N>(GpuQueue&, std::int64_t, FailureReport*, GpuState<N>&) const;                               \
    template void GpuUpdate::add_deviations<N>(GpuQueue&, const GpuState<N>&, ScalarSum<N>*) const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
