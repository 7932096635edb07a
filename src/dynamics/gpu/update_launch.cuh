// SPDX-License-Identifier: Apache-2.0
// Launches the GPU's update: its kernel, and the members of GpuUpdate that are templates over the policy of copies. A
// room with such a policy includes this file and instantiates these templates. Cost: minutes of compile time per policy.
#pragma once

#include "base/error.hpp"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "dynamics/gpu/update_gpu.cuh"
#include "trace/phases.hpp"

#include <algorithm>

namespace parhelion {

namespace update_gpu {

// Purpose        kicks, constrains and drifts every home atom; clears forces; checks forces, displacements and constraints
// Work           by a lane per atom of waters, stars and free atoms; blocks loop until all home atoms are moved, and prefetch
//                the next atoms. By a thread block for each update block of other atoms; it ends at once if no atom of the
//                update block is at home
// Reads/Writes   positions, velocities, forces (all three are written), tables of constraints / on request virial and heat; with
//                copies, returned forces / positions of the copies
// Orders         with copies: warps that have copies wait with acquire for the messages with forces; the last block signals
//                positions with release
// Requires       home groups listed since the last repartition; dynamic shared memory for GroupsShared and for the largest
//                block's arena; with copies: forces sent by all ranks that share this GPU
// Cost           96 bytes per atom and 5 of indices; 300 double-precision operations a lane, 500 flop per LINCS constraint
//                The virial has a kernel of its own, as have steps of systems without waters with a site. Within one kernel, each
//                of these two made the code of all steps 13 to 15 % longer
template <class N, class Copies, Motion motion, Virial virial, class Groups = EveryGroup>
__global__ void PARHELION_LAUNCH_BOUNDS(threads, blocks_on_multiprocessor(motion))
    update_kernel(BlockTrace tracing, GpuUpdate::View view, UpdateArgs<N, Copies> args, GpuView<N> state)
{
    const BlockSpan span(tracing);

    PARHELION_DYNAMIC_SHARED(float4, shared_memory);
    const int block = static_cast<int>(blockIdx.x);
    if (block < view.first_block)
    {
        step_groups<motion, virial>(view, args, state, *reinterpret_cast<GroupsShared<N, Copies>*>(shared_memory), Groups());
    }
    else
    {
        const UpdateBlock& members = view.blocks.blocks[block - view.first_block];
        void* const arena =
            view.arena == nullptr ? static_cast<void*>(shared_memory) : static_cast<void*>(view.arena + members.arena);
        LincsBlock lincs(view.blocks, members, arena);
        step_block<motion, virial>(view, args, state, lincs);
    }
    end_copies(args.copies);
}

// Returns the dynamic shared memory of a thread block, bytes.
template <class N, class Copies>
std::size_t shared_bytes(const GpuUpdate::View& view)
{
    return std::max(sizeof(GroupsShared<N, Copies>), view.arena == nullptr ? view.arena_bytes : 0);
}

template <class N, class Copies, Motion motion, Virial virial, class Groups = EveryGroup>
void launch_update(GpuQueue& queue, const GpuUpdate::View& view, std::int32_t blocks, const UpdateArgs<N, Copies>& args,
                   GpuState<N>& state)
{
    const std::size_t shared = shared_bytes<N, Copies>(view);
    const auto kernel = update_kernel<N, Copies, motion, virial, Groups>;
    allow_shared_memory(queue, kernel, shared);
    UpdateArgs<N, Copies> complete = args;
    complete.per_dt = 1 / args.dt;
    launch(queue, Phase::Constrain, kernel, {view.first_block + blocks, threads, shared}, view, complete, GpuView<N>(state));
}

// Launches the kernel that has the options in the arguments.
template <class N, class Copies, Motion motion>
void launch_step(GpuQueue& queue, const GpuUpdate::View& view, std::int32_t blocks, const UpdateArgs<N, Copies>& args,
                 GpuState<N>& state)
{
    if (args.virial != nullptr) { return launch_update<N, Copies, motion, Virial::Compute>(queue, view, blocks, args, state); }
    if (view.groups[SiteWaters::kind].blocks > 0)
    {
        return launch_update<N, Copies, motion, Virial::Skip>(queue, view, blocks, args, state);
    }
    launch_update<N, Copies, motion, Virial::Skip, GroupsWithoutSites>(queue, view, blocks, args, state);
}

} // namespace update_gpu

template <class N, class Copies>
bool GpuUpdate::leaves_free_places(const GpuQueue& queue) const
{
    const int most = most_waiting_blocks(update_gpu::shared_bytes<N, Copies>(view()), queue.shared_bytes_of_multiprocessor());
    return step_blocks() <= most * queue.multiprocessors();
}

template <class N, class Copies>
void GpuUpdate::step(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const
{
    PARHELION_EXPECTS(args.dt != 0 && args.kick != nullptr && args.failure != nullptr);
    if (args.friction == nullptr)
    {
        update_gpu::launch_step<N, Copies, update_gpu::Motion::LeapFrog>(queue, view(), blocks_, args, state);
    }
    else { update_gpu::launch_step<N, Copies, update_gpu::Motion::Stochastic>(queue, view(), blocks_, args, state); }
}

template <class N, class Copies>
void GpuUpdate::try_step(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const
{
    PARHELION_EXPECTS(args.dt != 0 && args.kick != nullptr && args.failure != nullptr && args.copies.is_empty());
    if (constraints_ > 0)
    {
        update_gpu::launch_update<N, Copies, update_gpu::Motion::Trial, Virial::Compute>(queue, view(), blocks_, args, state);
    }
}

template <class N, class Copies>
void GpuUpdate::to_full_step(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const
{
    PARHELION_EXPECTS(args.dt > 0 && args.kick != nullptr && args.failure != nullptr && args.copies.is_empty());
    update_gpu::launch_update<N, Copies, update_gpu::Motion::FullStep, Virial::Skip>(queue, view(), blocks_, args, state);
}

template <class N, class Copies>
void GpuUpdate::go_back(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const
{
    PARHELION_EXPECTS(args.dt < 0 && args.kick != nullptr && args.failure != nullptr && args.copies.is_empty());
    update_gpu::launch_update<N, Copies, update_gpu::Motion::Back, Virial::Skip>(queue, view(), blocks_, args, state);
}

template <class N, class Copies>
void GpuUpdate::to_rest(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const
{
    PARHELION_EXPECTS(args.dt == 1 && args.kick != nullptr && args.failure != nullptr && args.copies.is_empty());
    PARHELION_EXPECTS(args.virial != nullptr);
    update_gpu::launch_update<N, Copies, update_gpu::Motion::Rest, Virial::Compute>(queue, view(), blocks_, args, state);
}

template <class N, class Copies>
void GpuUpdate::reconstrain(GpuQueue& queue, std::int64_t step_offset, FailureReport* failure, const Copies& copies,
                            GpuState<N>& state) const
{
    if (constraints_ == 0 && copies.is_empty()) { return; }
    // At rest, the constrained "velocity" for a unit of time is the displacement itself.
    UpdateArgs<N, Copies> args;
    args.step_offset = step_offset;
    args.dt = 1;
    args.limits.displacement = 1e3; // no blow-up guard: a displacement is finite, or constraints have failed
    args.failure = failure;
    args.copies = copies;
    update_gpu::launch_update<N, Copies, update_gpu::Motion::Mend, Virial::Skip>(queue, view(), blocks_, args, state);
}

} // namespace parhelion
