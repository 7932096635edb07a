// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/gpu/collectives_gpu.cuh"

#include "comm/gpu/block.cuh"
#include "comm/partitioned/collective_plan.hpp"
#include "comm/partitioned/gpu/requests_gpu.hpp"
#include "device/gpu/launch.cuh"

#include <algorithm>

namespace parhelion {

struct GpuCollectiveRequest::Of
{
    std::string label;
    PhaseTag phase;
    Elements elements;
    Reduction reduction;
    int rank;
    bool shares_gpu;
    bool takes_input;
    std::vector<GpuChannel> channels; // to other members
    DeviceBuffer<Step> steps;
    DeviceBuffer<int> terms, outs;
    DeviceBuffer<GpuSender> senders;
    DeviceBuffer<GpuReceiver> receivers;
    DeviceBuffer<Word> ready, done;
    DeviceBuffer<CollectivePrequest> prequest;
    DeviceBuffer<BlockCounter> executed;

    int blocks(const GpuQueue& queue) const; // that wait for peers
};

namespace {

constexpr int run_threads = 512, other_threads = 128;

// Purpose        the next epoch of a collective
// Work           one thread
// Reads/Writes   prequest / prequest
// Orders         the end of the kernel
// Requires       the last epoch ended
// Cost           a launch
__global__ void start_collective_kernel(CollectivePrequest* request) { start(*request); }

// Purpose        all input partitions are complete
// Work           a block a partition
// Reads/Writes   prequest / marks
// Orders         what earlier kernels have written, by the end of those
// Requires       the epoch started
// Cost           a launch
__global__ void mark_kernel(CollectivePrequest* request)
{
    for (int p = static_cast<int>(blockIdx.x); p < request->partitions; p += static_cast<int>(gridDim.x))
    {
        block_pready(*request, p);
    }
}

// Purpose        executes the schedule of all partitions
// Work           a block a partition, those of a block one after another, in an order that is the same for all members
// Reads/Writes   input, own slots / slots of peers, result
// Orders         as in collectives_gpu.cuh
// Requires       all blocks on the GPU at once, and those of the other members at the same time
// Cost           of a partition of n bytes one shot 2 n a peer, a ring 4 n (members - 1) / members, and a way of a signal a step
template <class T, Reduction reduction>
__global__ void __launch_bounds__(run_threads) run_kernel(CollectivePrequest* request)
{
    for (int p = static_cast<int>(blockIdx.x); p < request->partitions; p += static_cast<int>(gridDim.x))
    {
        if (!block_run<T, reduction>(*request, p)) { return; }
    }
}

// Purpose        an epoch from its start to its end: of an input that is complete
// Work           as run_kernel
// Reads/Writes   as run_kernel; prequest, marks
// Orders         as run_kernel; the last block ends the epoch, which no block has seen active
// Requires       as run_kernel; all launches of a request by as many blocks
// Cost           as run_kernel
template <class T, Reduction reduction>
__global__ void __launch_bounds__(run_threads) execute_kernel(CollectivePrequest* request, BlockCounter* executed)
{
    const bool is_first = threadIdx.x == 0;
    if (is_active(*request))
    {
        if (is_first) { refuse(*request, Misuse::Active, no_partition); }
        return;
    }
    const Word epoch = request->started + 1;
    for (int p = static_cast<int>(blockIdx.x); p < request->partitions; p += static_cast<int>(gridDim.x))
    {
        if (!block_steps<T, reduction>(*request, p)) { return; }
        if (is_first) { request->ready[p] = request->takes_input ? epoch : 0, request->done[p] = epoch; }
    }
    if (is_last_block(*executed, gridDim.x)) { request->started = request->ended = epoch; }
}

// Purpose        the end of an epoch
// Work           one block; a thread a partition
// Reads/Writes   done / prequest
// Orders         acquire at system scope, then the end of the kernel
// Requires       run() queued where it need not wait for this
// Cost           a launch
__global__ void __launch_bounds__(other_threads) end_collective_kernel(CollectivePrequest* request) { block_wait(*request); }

} // namespace

int GpuCollectiveRequest::Of::blocks(const GpuQueue& queue) const
{
    PARHELION_EXPECTS(!shares_gpu);                                // blocks may keep those they wait for from starting
    return std::min(elements.partitions, queue.multiprocessors()); // one on each is always possible
}

CollectivePrequest* GpuCollectiveRequest::prequest() const { return of_->prequest.data(); }

void GpuCollectiveRequest::start(GpuQueue& queue)
{
    launch(queue, of_->phase, start_collective_kernel, {1, 1}, of_->prequest.data());
}

void GpuCollectiveRequest::pready_all(GpuQueue& queue)
{
    if (of_->takes_input) { launch(queue, of_->phase, mark_kernel, {of_->elements.partitions, 32}, of_->prequest.data()); }
}

void GpuCollectiveRequest::run(GpuQueue& queue)
{
    const LaunchShape shape{of_->blocks(queue), run_threads};
    for_elements(of_->elements.type, of_->reduction, [&]<class T, Reduction reduction>() {
        launch(queue, of_->phase, run_kernel<T, reduction>, shape, of_->prequest.data());
    });
}

void GpuCollectiveRequest::execute(GpuQueue& queue)
{
    const LaunchShape shape{of_->blocks(queue), run_threads};
    for_elements(of_->elements.type, of_->reduction, [&]<class T, Reduction reduction>() {
        launch(queue, of_->phase, execute_kernel<T, reduction>, shape, of_->prequest.data(), of_->executed.data());
    });
}

void GpuCollectiveRequest::wait(GpuQueue& queue)
{
    launch(queue, of_->phase, end_collective_kernel, {1, other_threads}, of_->prequest.data());
}

void GpuCollectiveRequest::check(GpuQueue& queue) const
{
    const CollectivePrequest now = of_->prequest.to_vector(queue)[0];
    if (now.misuse.code != 0) { refuse_misuse(of_->label, now.misuse); }
}

std::vector<GpuCollectiveRequest> make_collective(GpuWorld& world, Collective collective, const Elements& elements,
                                                  Reduction reduction, std::span<const GpuCollectiveBuffers> buffers, int root,
                                                  const CollectiveOptions& options)
{
    const std::vector<int>& members = options.members.empty() ? world.all_ranks() : options.members;
    const std::size_t n = members.size(), partitions = static_cast<std::size_t>(elements.partitions);
    PARHELION_EXPECTS(buffers.size() == n);
    std::vector<CollectivePlan> plans;
    for (std::size_t m = 0; m < n; ++m)
    {
        plans.push_back(plan_collective(collective, elements, reduction, root, options, members[m], world.ranks()));
        plans[m].check_buffers(buffers[m].input, buffers[m].result);
    }
    const std::string label = plans.at(0).name;
    std::vector<std::vector<GpuSender>> senders(n, std::vector<GpuSender>(partitions * n));
    std::vector<std::vector<GpuReceiver>> receivers(n, std::vector<GpuReceiver>(partitions * n));
    std::vector<std::vector<GpuChannel>> channels(n);
    for (std::size_t m = 0; m < n; ++m)
    {
        for (std::size_t p = 0; p < partitions; ++p)
        {
            for (std::size_t to = 0; to < n; ++to)
            {
                if (!plans[m].sends_to(static_cast<int>(to))) { continue; }
                const GpuChannel channel = world.open(label, members[m], members[to], plans[m].channel);
                channels[m].push_back(channel);
                senders[m][p * n + to] = channel.sender;
                receivers[to][p * n + m] = channel.receiver;
            }
        }
    }
    std::vector<GpuCollectiveRequest> requests;
    for (std::size_t m = 0; m < n; ++m)
    {
        const CollectivePlan& plan = plans[m];
        GpuQueue& queue = world.setup_queue(members[m]);
        queue.make_current();
        auto of = std::make_shared<GpuCollectiveRequest::Of>();
        of->label = label;
        of->phase = world.phase();
        of->elements = elements;
        of->reduction = reduction;
        of->rank = members[m];
        of->channels = std::move(channels[m]);
        of->shares_gpu = world.shares_gpu(members[m]);
        of->takes_input = plan.schedule.takes_input();
        of->steps.upload(queue, plan.schedule.steps);
        of->terms.upload(queue, plan.schedule.terms);
        of->outs.upload(queue, plan.schedule.outs);
        of->senders.upload(queue, senders[m]);
        of->receivers.upload(queue, receivers[m]);
        of->ready.resize(partitions);
        of->ready.clear(queue);
        of->done.resize(partitions);
        of->done.clear(queue);
        of->executed.resize(1);
        of->executed.clear(queue);
        CollectivePrequest prequest{};
        prequest.members = static_cast<int>(n);
        prequest.place = static_cast<int>(m);
        prequest.partitions = elements.partitions;
        prequest.n_steps = static_cast<int>(plan.schedule.steps.size());
        prequest.takes_input = of->takes_input;
        prequest.steps = of->steps.data();
        prequest.terms = of->terms.data();
        prequest.outs = of->outs.data();
        prequest.layouts = plan.layouts;
        prequest.input = static_cast<const std::byte*>(buffers[m].input);
        prequest.result = static_cast<std::byte*>(buffers[m].result);
        prequest.senders = of->senders.data();
        prequest.receivers = of->receivers.data();
        prequest.ready = of->ready.data();
        prequest.done = of->done.data();
        prequest.watch = world.watch(members[m]);
        prequest.channel = world.name_channel(label);
        of->prequest.upload(queue, {&prequest, 1});
        queue.synchronize();
        requests.push_back(GpuCollectiveRequest(of));
    }
    return requests;
}

void free_collective(GpuWorld& world, std::vector<GpuCollectiveRequest> requests)
{
    for (const GpuCollectiveRequest& request : requests)
    {
        const CollectivePrequest now = request.of_->prequest.to_vector(world.setup_queue(request.of_->rank))[0];
        if (now.started != now.ended)
        {
            throw PartitionedError(Misuse::Active, request.of_->label + ": it was freed while active.");
        }
    }
    for (const GpuCollectiveRequest& request : requests)
    {
        for (const GpuChannel& channel : request.of_->channels) { world.close(channel); }
        request.of_->channels.clear();
    }
}

} // namespace parhelion
