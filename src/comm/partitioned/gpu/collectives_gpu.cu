// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/gpu/collectives_gpu.cuh"

#include "comm/gpu/block.cuh"
#include "comm/partitioned/collective_plan.hpp"
#include "comm/partitioned/gpu/requests_gpu.hpp"
#include "device/gpu/launch.cuh"

#include <algorithm>

namespace parhelion {

namespace {

// The channels between members that send to each other, ordered by partition.
struct Ends
{
    std::vector<std::vector<GpuSender>> senders; // indexed by place of the source, then by partition and place
    std::vector<std::vector<GpuReceiver>> receivers;
    std::vector<std::vector<GpuChannel>> channels; // channels by the source's place, to all destinations

    // Opens the channels. Opens none if the collective uses packets.
    Ends(GpuWorld& world, const std::vector<CollectivePlan>& plans, bool are_needed);
};

} // namespace

struct GpuCollectiveRequest::Of
{
    std::string label;
    PhaseTag phase;
    Elements elements;
    Reduction reduction;
    std::vector<int> members;
    int rank;
    bool is_here, shares_gpu;
    std::vector<GpuChannel> channels; // channels between this member and other members
    Window packets;                   // memory for the packets of all members
    CollectivePrequest at_first{};
    ObjectPool::Piece memory; // the prequest and its arrays; empty if the member is in another process
    BlockCounter* executed = nullptr;

    // Queues the upload of the member's prequest and arrays.
    Of(GpuWorld& world, const CollectivePlan& plan, const GpuCollectiveBuffers& buffers, Ends& ends, Window packets);

    CollectivePrequest* prequest() const
    {
        if (!is_here) { refuse_elsewhere(label, rank); }
        return memory.at<CollectivePrequest>(0);
    }
    int blocks(const GpuQueue& queue) const; // returns the number of blocks that wait for peers
};

namespace {

constexpr int run_threads = 512, other_threads = 128;

// Purpose        begins the next epoch of a collective
// Work           one thread does all
// Reads/Writes   reads and writes the prequest
// Orders         the end of the kernel makes its writes visible to later kernels
// Requires       that the last epoch has ended
// Cost           one launch
__global__ void start_collective_kernel(CollectivePrequest* request) { start(*request); }

// Purpose        marks all input partitions as complete
// Work           each partition has a block
// Reads/Writes   reads the prequest, writes the marks
// Orders         nothing: the end of a kernel makes its writes visible to later kernels
// Requires       that the epoch has started
// Cost           one launch
__global__ void mark_kernel(CollectivePrequest* request)
{
    for (int p = static_cast<int>(blockIdx.x); p < request->partitions; p += static_cast<int>(gridDim.x))
    {
        block_pready(*request, p);
    }
}

// Purpose        executes the schedule of all partitions
// Work           each partition has a block; a block does several in an order that is the same for all members
// Reads/Writes   reads the input and its own slots, writes the peers' slots and the result
// Orders         those of a step in collectives_gpu.cuh
// Requires       that all blocks run on the GPU at once, and at the same time as those of the other members
// Cost           for n bytes: one shot 2 n per peer, a ring 4 n (members - 1) / members; and one signal latency per step
template <class T, Reduction reduction>
__global__ void __launch_bounds__(run_threads) run_kernel(CollectivePrequest* request)
{
    for (int p = static_cast<int>(blockIdx.x); p < request->partitions; p += static_cast<int>(gridDim.x))
    {
        if (!block_run<T, reduction>(*request, p)) { return; }
    }
}

// Purpose        does an epoch from start to end, with an input that is complete
// Work           as in run_kernel
// Reads/Writes   as in run_kernel; also writes the prequest and the marks
// Orders         as in run_kernel; the last block ends the epoch, after all blocks have seen that it was not active
// Requires       as in run_kernel; all launches of a request have equally many blocks. here: the prequest as it was made. Only
//                its epochs and misuse may have changed since. As a parameter it needs no load
// Cost           as in run_kernel
template <class T, Reduction reduction>
__global__ void __launch_bounds__(run_threads)
    execute_kernel(CollectivePrequest here, CollectivePrequest* request, BlockCounter* executed)
{
    const bool is_first = threadIdx.x == 0;
    if (is_active(*request))
    {
        if (is_first) { refuse(*request, Misuse::Active, no_partition); }
        return;
    }
    const Word epoch = request->started + 1;
    for (int p = static_cast<int>(blockIdx.x); p < here.partitions; p += static_cast<int>(gridDim.x))
    {
        if (!block_steps<T, reduction>(*request, here, p, epoch)) { return; }
        if (is_first) { here.ready[p] = here.takes_input ? epoch : 0, here.done[p] = epoch; }
    }
    // A single block needs no count, since all its threads have met at a barrier.
    if (gridDim.x == 1 ? is_first : is_last_block(*executed, gridDim.x)) { request->started = request->ended = epoch; }
}

// Purpose        ends an epoch
// Work           one block, in which each thread waits for a partition
// Reads/Writes   reads `done`, writes the prequest
// Orders         an acquire at system scope, then the end of the kernel
// Requires       that run() is queued where it need not wait for this kernel
// Cost           one launch
__global__ void __launch_bounds__(other_threads) end_collective_kernel(CollectivePrequest* request) { block_wait(*request); }

} // namespace

int GpuCollectiveRequest::Of::blocks(const GpuQueue& queue) const
{
    PARHELION_EXPECTS(!shares_gpu);                                // otherwise a block could keep other blocks from starting
    return std::min(elements.partitions, queue.multiprocessors()); // one block per multiprocessor always fits
}

CollectivePrequest* GpuCollectiveRequest::prequest() const { return of_->prequest(); }

void GpuCollectiveRequest::start(GpuQueue& queue) { launch(queue, of_->phase, start_collective_kernel, {1, 1}, of_->prequest()); }

void GpuCollectiveRequest::pready_all(GpuQueue& queue)
{
    if (of_->at_first.takes_input) { launch(queue, of_->phase, mark_kernel, {of_->elements.partitions, 32}, of_->prequest()); }
}

void GpuCollectiveRequest::run(GpuQueue& queue)
{
    const LaunchShape shape{of_->blocks(queue), run_threads};
    for_elements(of_->elements.type, of_->reduction, [&]<class T, Reduction reduction>() {
        launch(queue, of_->phase, run_kernel<T, reduction>, shape, of_->prequest());
    });
}

void GpuCollectiveRequest::execute(GpuQueue& queue)
{
    const LaunchShape shape{of_->blocks(queue), run_threads};
    for_elements(of_->elements.type, of_->reduction, [&]<class T, Reduction reduction>() {
        launch(queue, of_->phase, execute_kernel<T, reduction>, shape, of_->at_first, of_->prequest(), of_->executed);
    });
}

void GpuCollectiveRequest::wait(GpuQueue& queue)
{
    launch(queue, of_->phase, end_collective_kernel, {1, other_threads}, of_->prequest());
}

void GpuCollectiveRequest::check(GpuQueue& queue) const
{
    const CollectivePrequest now = download_object(queue, of_->prequest());
    if (now.misuse.code != 0) { refuse_misuse(of_->label, now.misuse); }
}

namespace {

// Packets double the bytes but need no signals and credits. Up to this size the additional bytes cost less time than signals.
constexpr std::size_t most_bytes_of_packets = std::size_t{1} << 19;

bool goes_by_packets(const CollectivePlan& plan)
{
    const std::size_t count = static_cast<std::size_t>(plan.elements.partitions) * plan.elements.count;
    const bool is_one_shot = plan.schedule.members > 1 && plan.schedule.chunks == 1;
    return plan.collective == Collective::AllReduce && is_one_shot &&
           count * bytes_of(plan.elements.type) < most_bytes_of_packets;
}

// Allocates slots for the packets of two epochs from each member, in each member's memory. They are zero, which is no epoch.
Window make_packets(GpuWorld& world, const CollectivePlan& plan)
{
    const std::size_t of_partition = (plan.elements.count * bytes_of(plan.elements.type) + sizeof(Word) - 1) / sizeof(Word);
    const std::size_t all = 2 * plan.members.size() * static_cast<std::size_t>(plan.elements.partitions) * of_partition;
    const Window window = world.allocate(plan.members, all * sizeof(Packet));
    for (const int member : plan.members)
    {
        if (world.is_here(member))
        {
            gpu_memory::set_bytes(world.setup_queue(member), world.data(member, window), 0, window.bytes);
        }
    }
    return window;
}

Ends::Ends(GpuWorld& world, const std::vector<CollectivePlan>& plans, bool are_needed)
    : senders(plans.size()), receivers(plans.size()), channels(plans.size())
{
    if (!are_needed) { return; }
    const std::size_t n = plans.size(), partitions = static_cast<std::size_t>(plans[0].elements.partitions);
    for (std::size_t m = 0; m < n; ++m) { senders[m].resize(partitions * n), receivers[m].resize(partitions * n); }
    for (std::size_t m = 0; m < n; ++m)
    {
        const CollectivePlan& plan = plans[m];
        for (std::size_t p = 0; p < partitions; ++p)
        {
            for (std::size_t to = 0; to < n; ++to)
            {
                if (!plan.sends_to(static_cast<int>(to))) { continue; }
                const GpuChannel channel = world.open(plan.name, plan.members[m], plan.members[to], plan.channel);
                channels[m].push_back(channel);
                senders[m][p * n + to] = channel.sender;
                receivers[to][p * n + m] = channel.receiver;
            }
        }
    }
}

} // namespace

GpuCollectiveRequest::Of::Of(GpuWorld& world, const CollectivePlan& plan, const GpuCollectiveBuffers& buffers, Ends& ends,
                             Window packets_)
    : label(plan.name), phase(world.phase()), elements(plan.elements), reduction(plan.reduction), members(plan.members),
      rank(members[static_cast<std::size_t>(plan.schedule.place)]), is_here(world.is_here(rank)),
      shares_gpu(is_here && world.shares_gpu(rank)), packets(packets_)
{
    const auto place = static_cast<std::size_t>(plan.schedule.place), partitions = static_cast<std::size_t>(elements.partitions);
    channels = std::move(ends.channels[place]);
    const int channel = world.name_channel(label);
    if (!is_here) { return; }
    std::vector<std::byte*> slots;
    for (const int member : members) { slots.push_back(world.data(member, packets)); }
    ObjectImage image;
    image.add<CollectivePrequest>(1);
    const std::size_t blocks = image.add<BlockCounter>(1), steps = image.add(plan.schedule.steps),
                      terms = image.add(plan.schedule.terms), outs = image.add(plan.schedule.outs),
                      senders = image.add(ends.senders[place]), receivers = image.add(ends.receivers[place]),
                      ready = image.add<Word>(partitions), done = image.add<Word>(partitions), slots_there = image.add(slots),
                      ranks = image.add(members);
    GpuQueue& queue = world.setup_queue(rank);
    memory = ObjectPool::take(world.pool(rank), queue, image.size());
    executed = memory.at<BlockCounter>(blocks);
    at_first.members = static_cast<int>(members.size());
    at_first.place = plan.schedule.place;
    at_first.partitions = elements.partitions;
    at_first.n_steps = static_cast<int>(plan.schedule.steps.size());
    at_first.takes_input = plan.schedule.takes_input();
    at_first.steps = memory.at<Step>(steps);
    at_first.terms = memory.at<int>(terms);
    at_first.outs = memory.at<int>(outs);
    at_first.layouts = plan.layouts;
    at_first.input = static_cast<const std::byte*>(buffers.input);
    at_first.result = static_cast<std::byte*>(buffers.result);
    at_first.senders = memory.at<GpuSender>(senders);
    at_first.receivers = memory.at<GpuReceiver>(receivers);
    at_first.ready = memory.at<Word>(ready);
    at_first.done = memory.at<Word>(done);
    if (goes_by_packets(plan)) { at_first.packets = {memory.at<Packet*>(slots_there), memory.at<int>(ranks)}; }
    at_first.watch = world.watch(rank);
    at_first.channel = channel;
    image.put(0, at_first);
    image.upload(queue, memory);
}

std::vector<GpuCollectiveRequest> make_collective(GpuWorld& world, Collective collective, const Elements& elements,
                                                  Reduction reduction, std::span<const GpuCollectiveBuffers> buffers, int root,
                                                  const CollectiveOptions& options)
{
    const std::vector<int>& members = options.members.empty() ? world.all_ranks() : options.members;
    PARHELION_EXPECTS(buffers.size() == members.size());
    if (!is_for_kernels(elements.type) || !is_for_kernels(reduction))
    {
        throw PartitionedError(Misuse::BadArgument, "Partitioned collective of GPUs: bytes, integers, products and averages are "
                                                    "between CPU ranks alone.");
    }
    std::vector<CollectivePlan> plans;
    for (std::size_t m = 0; m < members.size(); ++m)
    {
        plans.push_back(plan_collective(collective, elements, reduction, root, options, members[m], world.ranks()));
        plans[m].check_buffers(buffers[m].input, buffers[m].result);
    }
    world.expect_one_node(members, plans.at(0).name);
    const bool has_packets = goes_by_packets(plans[0]);
    const Window packets = has_packets ? make_packets(world, plans[0]) : Window{};
    Ends ends(world, plans, !has_packets);
    std::vector<GpuCollectiveRequest> requests;
    for (std::size_t m = 0; m < members.size(); ++m)
    {
        requests.push_back(
            GpuCollectiveRequest(std::make_shared<GpuCollectiveRequest::Of>(world, plans[m], buffers[m], ends, packets)));
    }
    for (const int member : members)
    {
        if (world.is_here(member)) { world.setup_queue(member).synchronize(GpuQueue::Wait::Spins); }
    }
    return requests;
}

void free_collective(GpuWorld& world, std::vector<GpuCollectiveRequest> requests)
{
    for (const GpuCollectiveRequest& request : requests)
    {
        if (!request.of_->is_here) { continue; }
        const CollectivePrequest now = download_object(world.setup_queue(request.of_->rank), request.of_->prequest());
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
    const auto& of = requests.front().of_;
    if (of->packets.bytes > 0) { world.release(of->members, std::exchange(of->packets, {})); }
}

} // namespace parhelion
