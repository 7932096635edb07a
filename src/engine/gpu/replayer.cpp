// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/replayer.hpp"

#include "comm/launch/run_ranks.hpp"
#include "engine/gpu/step_gpu.hpp"

namespace parhelion {

namespace {

constexpr std::size_t most_graphs = 128; // kinds of intervals beyond these are queued kernel by kernel

// Makes later work wait for all work that is queued on any branch.
template <class N>
RankProgram end_steps(GpuRank<N>& r, std::int64_t steps)
{
    r.queue.after(r.nonlocal.done());
    advance_step(r.queue, steps, r.state);
    if (!r.coupling.collects_heat()) { co_return; }
    co_await add_up(r, r.coupling.sums());
    r.coupling.collect_heat(r.queue, r.state);
}

} // namespace

template <class N>
GpuReplayer<N>::GpuReplayer(GpuLayout<N>& layout) : layout_(layout)
{
    layout_.queue().make_current();
    framed_.resize(layout_.queue(), layout_.atoms(), layout_.first_rank().coupling.group_count());
}

template <class N>
void GpuReplayer<N>::queue_steps(GpuSpan<N> gpus, std::int64_t list_age, std::span<const StepPattern> steps, Steps are)
{
    for (GpuWithRanks<N>* const gpu : gpus)
    {
        if (is_traced_) { gpu->tracer.begin(gpu->queue, &gpu->ranks[0].state.scalars.data()->step); }
    }
    std::int64_t offset = 0;
    for (const StepPattern& flags : steps)
    {
        if (are == Steps::Run && layout_.ranks() > 1) { wait_for_earlier_steps(gpus); }
        for (GpuWithRanks<N>* const gpu : gpus) { gpu->tracer.at_step(offset); }
        const auto output = [&](GpuRank<N>& r) { return keep_frame(r, flags.frame_forces, framed_, layout_.forces_for(r)); };
        run_together<N>(gpus, [&](GpuRank<N>& r) { return step(r, offset, list_age + offset, flags, output); });
        ++offset;
    }
    run_together<N>(gpus, [&](GpuRank<N>& r) { return end_steps(r, offset); });
    for (GpuWithRanks<N>* const gpu : gpus)
    {
        if (is_traced_) { gpu->tracer.end(gpu->queue); }
    }
}

// Waits so that at most two steps are in flight when the next one is queued. A queue holds some
// thousand kernels. A thread that queues more waits in the driver, for ever if the GPU is stuck.
template <class N>
void GpuReplayer<N>::wait_for_earlier_steps(GpuSpan<N> gpus)
{
    for (GpuWithRanks<N>* const gpu : gpus)
    {
        GpuEvent& end = gpu->earlier_steps[gpu->queued_steps++ % 2];
        layout_.world().wait(gpu->ranks[0].rank, end);
        end.record(gpu->queue); // the event of the step that was queued last
    }
}

// The first time, one thread queues work for all GPUs, phase by phase: the host may wait for a GPU, for memory or to
// load a kernel, and that GPU for another one. Later, a thread for each GPU queues work without a graph, as a step
// is some twenty launches on each. There is no graph if the host drives the halo, or beyond most_graphs patterns.
template <class N>
void GpuReplayer<N>::replay(std::int64_t list_age, std::span<const StepFlags> steps)
{
    const IntervalPattern pattern{list_age, is_traced_, {steps.begin(), steps.end()}};
    const auto& graphs = layout_.here()[0]->graphs; // other GPUs have graphs of the same patterns
    const bool is_known = graphs.contains(pattern);
    // A call that waits in the driver would keep a proxy out of the driver. The GPU waits for that proxy.
    if (layout_.has_nodes()) { layout_.synchronize(); }
    const bool may_capture = is_allocated_ && layout_.first_rank().halo->may_be_captured();
    if (!may_capture || (!is_known && graphs.size() >= most_graphs))
    {
        if (is_allocated_)
        {
            run_ranks(
                RankRange{0, layout_.gpus_here()}, [&](int t) { queue_steps(of_gpu(t), list_age, pattern.steps, Steps::Run); },
                [&](int) { layout_.world().give_up(); });
        }
        else { queue_steps(layout_.here(), list_age, pattern.steps, Steps::Run); }
        is_allocated_ = true;
        return;
    }
    for (int t = 0; t < layout_.gpus_here() && !is_known; ++t)
    {
        GpuWithRanks<N>& gpu = *of_gpu(t)[0];
        gpu.queue.make_current();
        gpu.graphs.emplace(pattern,
                           GpuGraph(gpu.queue, [&] { queue_steps(of_gpu(t), list_age, pattern.steps, Steps::Captured); }));
    }
    for (GpuWithRanks<N>* const gpu : layout_.here()) { gpu->graphs.at(pattern).replay(gpu->queue); }
}

template <class N>
void GpuReplayer<N>::forget_graphs()
{
    for (GpuWithRanks<N>* const gpu : layout_.here()) { gpu->graphs.clear(); }
}

template <class N>
void GpuReplayer<N>::forget_memory()
{
    forget_graphs();
    is_allocated_ = false;
}

#define PARHELION_INSTANTIATE(N) template class GpuReplayer<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
