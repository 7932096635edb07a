// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/ranks.hpp"

#include "comm/gpu/self_test.hpp"
#include "comm/run_ranks.hpp"
#include "engine/gpu/saved_state.hpp"
#include "engine/gpu/step_gpu.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace parhelion {

namespace {

constexpr std::size_t most_graphs = 128; // kept; patterns beyond are queued kernel by kernel. A trace doubles their number

// program(rank), of every rank of these GPUs.
template <class N, class Program>
void run_together(GpuSpan<N> teams, Program&& program)
{
    std::vector<RankProgram> programs;
    for_each_rank<N>(teams, [&](GpuWithRanks<N>&, GpuRank<N>& r) { programs.push_back(program(r)); });
    run_together(programs);
}

// On the first GPU here.
template <class N>
RankProgram keep_atoms(GpuRank<N>& r, GpuSnapshot<N>& snapshot)
{
    co_await collect(r);
    if (r.collects) { keep(r.queue, r.exchange_buffer, r.state, r.coupling, snapshot); }
    co_await release_exchange_buffers(r, r.queue);
}

// Forces come behind a barrier of their own: before it rank 0 may still be copying those of the last frame. forces: null where
// its memory is on another node.
template <class N>
RankProgram keep_frame(GpuRank<N>& r, bool with_forces, GpuSnapshot<N>& snapshot, Vec3<typename N::ForceSum>* forces)
{
    co_await keep_atoms(r, snapshot);
    if (!with_forces) { co_return; }
    if (forces != nullptr) { gather_forces(r.queue, r.state, forces); }
    if (r.travellers) { r.travellers->send_forces(r.queue, r.state); }
    co_await agree_on_flags(r);
    if (!r.travellers) { co_return; }
    r.travellers->receive_forces(r.queue, forces);
    co_await release_exchange_buffers(r, r.queue);
}

// What is queued next follows everything that is queued.
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
void GpuRanks<N>::queue_steps(GpuSpan<N> teams, std::int64_t list_age, std::span<const StepPattern> steps, Steps are)
{
    for (GpuWithRanks<N>* const t : teams)
    {
        if (is_traced_) { t->tracer.begin(t->queue, &t->ranks[0].state.scalars.data()->step); }
    }
    std::int64_t offset = 0;
    for (const StepPattern& flags : steps)
    {
        if (are == Steps::Run && ranks() > 1) { wait_for_earlier_steps(teams); }
        for (GpuWithRanks<N>* const t : teams) { t->tracer.at_step(offset); }
        const auto output = [&](GpuRank<N>& r) { return keep_frame(r, flags.frame_forces, framed_, forces_for(r)); };
        run_together<N>(teams, [&](GpuRank<N>& r) { return step(r, offset, list_age + offset, flags, output); });
        ++offset;
    }
    run_together<N>(teams, [&](GpuRank<N>& r) { return end_steps(r, offset); });
    for (GpuWithRanks<N>* const t : teams)
    {
        if (is_traced_) { t->tracer.end(t->queue); }
    }
}

// Lets two steps be under way when the next is queued. A queue takes some thousand kernels: whoever queues more waits in the
// driver, and that for ever if the GPU is stuck.
template <class N>
void GpuRanks<N>::wait_for_earlier_steps(GpuSpan<N> teams)
{
    for (GpuWithRanks<N>* const t : teams)
    {
        GpuEvent& end = t->earlier_steps[t->queued_steps++ % 2];
        world_->wait(t->ranks[0].rank, end);
        end.record(t->queue); // of the last
    }
}

// What is queued first is so for all GPUs together, phase by phase: the host may have to wait for a GPU, for memory or for a
// kernel to be loaded, and that GPU for another. What has no graph after that, since the host drives the halo or steps have more
// patterns than graphs are kept, is queued by a thread for each GPU: a step is some twenty launches on each, one after another.
template <class N>
void GpuRanks<N>::replay(std::int64_t list_age, std::span<const StepFlags> steps)
{
    const IntervalPattern pattern{list_age, is_traced_, {steps.begin(), steps.end()}};
    const bool is_known = gpus_[0]->graphs.contains(pattern);
    if (has_nodes()) { synchronize(); } // a call that waits in the driver keeps a proxy out of it, which the GPU waits for
    const bool may_capture = is_allocated_ && gpus_[0]->ranks[0].halo->may_be_captured();
    if (!may_capture || (!is_known && gpus_[0]->graphs.size() >= most_graphs))
    {
        if (is_allocated_)
        {
            run_ranks(
                RankRange{0, gpus_here()}, [&](int t) { queue_steps(of_gpu(t), list_age, pattern.steps, Steps::Run); },
                [&](int) { world_->give_up(); });
        }
        else { queue_steps(all_, list_age, pattern.steps, Steps::Run); }
        is_allocated_ = true;
        return;
    }
    for (int t = 0; t < gpus_here() && !is_known; ++t)
    {
        GpuWithRanks<N>& gpu = *of_gpu(t)[0];
        gpu.queue.make_current();
        gpu.graphs.emplace(pattern,
                           GpuGraph(gpu.queue, [&] { queue_steps(of_gpu(t), list_age, pattern.steps, Steps::Captured); }));
    }
    for (const auto& gpu : gpus_) { gpu->graphs.at(pattern).replay(gpu->queue); }
}

template <class N>
void GpuRanks<N>::report(DeviceScalars& scalars)
{
    run_together<N>(all_, [](GpuRank<N>& r) { return agree_on_flags(r); });
    gpu_memory::to_host(queue(), &scalars, gpus_[0]->ranks[0].state.scalars.data(), sizeof(DeviceScalars));
}

template <class N>
void GpuRanks<N>::keep_state(GpuSnapshot<N>& snapshot)
{
    run_together<N>(all_, [&](GpuRank<N>& r) { return keep_atoms(r, snapshot); });
}

// --- what waits

template <class N>
void GpuRanks<N>::synchronize()
{
    for (const auto& gpu : gpus_)
    {
        gpu->queue.make_current();
        GpuEvent done;
        done.record(gpu->queue);
        world_->wait(gpu->ranks[0].rank, done);
    }
    world_->check();
}

template <class N>
std::string GpuRanks<N>::test_links()
{
    return gpus_here() > 1 && !processes_.are_several() && !has_nodes() ? describe(self_test(*world_)) : "";
}

template <class N>
void GpuRanks<N>::wait(const GpuEvent& event)
{
    world_->wait(world_->here().first, event);
    world_->check();
}

template <class N>
void GpuRanks<N>::put_back(const GpuSnapshot<N>& snapshot)
{
    synchronize();
    processes_.meet(); // nobody publishes atoms here any more
    put_back_atoms(queue(), snapshot, exchange_buffers_here_);
    synchronize();
    for_each_rank<N>(all_,
                     [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) { put_back_coupling(gpu.queue, snapshot, r.state, r.coupling); });
    take_from_exchange_buffers();
    make_room_for_repartition();
    synchronize();
    processes_.meet(); // nor before these have been taken
}

template <class N>
void GpuRanks<N>::measure_kinetic()
{
    StepTasks flags;
    flags.kinetic = true;
    run_together<N>(all_, [&](GpuRank<N>& r) { return finish_step(r, 0, flags); });
    synchronize();
}

template <class N>
FailureReport GpuRanks<N>::failure()
{
    FailureReport first;
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        const FailureReport report = r.coupling.failure().to_vector(gpu.queue)[0];
        if (report.atom >= 0 && (first.atom < 0 || report.step < first.step)) { first = report; }
    });
    // The earliest of all processes'; of those of one step any.
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    const std::int64_t earliest = processes_.largest(first.atom >= 0 ? -first.step : none);
    const auto atom = static_cast<std::int32_t>(processes_.largest(first.atom >= 0 && -first.step == earliest ? first.atom : -1));
    return atom >= 0 ? FailureReport{atom, -earliest} : FailureReport{};
}

template <class N>
double GpuRanks<N>::largest_deviation()
{
    std::int32_t largest = 0;
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        largest = std::max(largest, r.coupling.largest_deviation().to_vector(gpu.queue)[0]);
    });
    return deviation_unit * static_cast<double>(processes_.largest(largest));
}

template <class N>
std::vector<std::vector<BlockRecord>> GpuRanks<N>::records() const
{
    std::vector<std::vector<BlockRecord>> of_gpus;
    for (const auto& gpu : gpus_) { of_gpus.push_back(gpu->tracer.records(gpu->queue)); }
    return of_gpus;
}

template <class N>
void GpuRanks<N>::clear_records()
{
    for (const auto& gpu : gpus_) { gpu->tracer.clear(gpu->queue); }
}

template <class N>
double GpuRanks<N>::tiles()
{
    double tiles = 0;
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        for (const GpuPairList& list : r.pairs)
        {
            const std::vector<PairWord> pruned = list.pruned.to_vector(gpu.queue);
            for (const GpuPairRow& row : list.rows.to_vector(gpu.queue))
            {
                for (std::int32_t e = row.begin; e < row.begin + row.pruned; ++e)
                {
                    tiles += std::popcount(pruned[static_cast<std::size_t>(e)] & 0xffu);
                }
            }
        }
    });
    return processes_.sum(tiles);
}

#define PARHELION_INSTANTIATE(N) template class GpuRanks<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
