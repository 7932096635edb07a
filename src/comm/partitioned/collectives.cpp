// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/collectives.hpp"

#include "comm/partitioned/collective_state.hpp"
#include "comm/partitioned/reduction_cpu.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

bool CollectiveState::has_input(const Partition& partition) const
{
    return !takes_input_ || partition.ready.load(std::memory_order_acquire) == nth();
}

void CollectiveState::expect_markable(int partition) const
{
    expect_active("pready()");
    check_partition(partition);
    if (!takes_input_) { refuse(Misuse::BadArgument, "pready() of a member without an input"); }
}

void CollectiveState::pready(int partition)
{
    expect_markable(partition);
    mark(partition);
}

void CollectiveState::pready_range(int first, int last)
{
    if (first > last) { return; }
    expect_markable(first);
    expect_markable(last);
    for (int p = first; p <= last; ++p) { expect_unmarked(p); }
    for (int p = first; p <= last; ++p) { mark(p); }
}

void CollectiveState::expect_unmarked(int partition) const
{
    if (partitions_[static_cast<std::size_t>(partition)].ready.load(std::memory_order_relaxed) == nth() - 1) { return; }
    refuse_second_mark(partition);
}

void CollectiveState::mark(int partition)
{
    Word last = nth() - 1;
    marking_.fetch_add(1, std::memory_order_relaxed); // counted before the mark, which allows the epoch to end
    if (!partitions_[static_cast<std::size_t>(partition)].ready.compare_exchange_strong(last, nth(), std::memory_order_release,
                                                                                        std::memory_order_relaxed))
    {
        marking_.fetch_sub(1, std::memory_order_relaxed);
        refuse_second_mark(partition);
    }
    move_on(partition);
    marking_.fetch_sub(1, std::memory_order_release); // releases the epoch: this thread reads no more of its data
}

bool CollectiveState::parrived(int partition)
{
    check_partition(partition);
    const std::atomic<Word>& done = partitions_[static_cast<std::size_t>(partition)].done;
    if (!is_active() || done.load(std::memory_order_acquire) == nth()) { return true; }
    poll();
    return done.load(std::memory_order_acquire) == nth();
}

bool CollectiveState::advance()
{
    if (is_broken() || !knows_peer() || !is_active()) { return true; } // idle until a letter comes
    help();
    return is_complete();
}

void CollectiveState::help()
{
    if (!is_active()) { return; }
    for (int p = 0; p < plan_.elements.partitions; ++p) { move_on(p); }
}

bool CollectiveState::is_complete()
{
    return std::all_of(partitions_.begin(), partitions_.end(), [&](const Partition& p) { return is_done(p); }) &&
           marking_.load(std::memory_order_acquire) == 0;
}

void CollectiveState::move_on(int number)
{
    Partition& partition = partitions_[static_cast<std::size_t>(number)];
    if (!knows_peer() || !has_input(partition) || is_done(partition)) { return; }
    if (partition.is_taken.exchange(true, std::memory_order_acquire)) { return; }
    const std::vector<Step>& steps = plan_.schedule.steps;
    if (!is_done(partition)) // checked again, since the thread that had the partition before may have finished it
    {
        while (partition.step < steps.size() && can_do(partition, steps[partition.step]))
        {
            execute(partition, number, steps[partition.step]);
            ++partition.step;
        }
        if (partition.step == steps.size())
        {
            partition.step = 0;
            partition.done.store(nth(), std::memory_order_release);
        }
    }
    partition.is_taken.store(false, std::memory_order_release); // releases the step and the links to the next thread
}

bool CollectiveState::can_do(Partition& partition, const Step& step)
{
    for (int t = step.first_term; t < step.first_term + step.terms; ++t)
    {
        const int term = plan_.schedule.terms[static_cast<std::size_t>(t)];
        if (term != plan_.schedule.place && !partition.links[static_cast<std::size_t>(term)].receiver.has_arrived())
        {
            return false;
        }
    }
    for (int o = step.first_out; o < step.first_out + step.outs; ++o)
    {
        const int out = plan_.schedule.outs[static_cast<std::size_t>(o)];
        if (!may_send(partition.links[static_cast<std::size_t>(out)])) { return false; }
    }
    return true;
}

void CollectiveState::execute(Partition& partition, int number, const Step& step)
{
    const std::size_t element = bytes_of(plan_.elements.type);
    const Extent input = plan_.layouts.input.extent(number, step.chunk), result = plan_.layouts.result.extent(number, step.chunk);
    const std::size_t bytes = result.count * element;
    const auto term = [&](int t) { return plan_.schedule.terms[static_cast<std::size_t>(step.first_term + t)]; };
    const auto out = [&](int o) -> HostSender& {
        const int place = plan_.schedule.outs[static_cast<std::size_t>(step.first_out + o)];
        return partition.links[static_cast<std::size_t>(place)].sender;
    };
    std::vector<const std::byte*>& terms = partition.terms;
    std::vector<std::byte*>& outs = partition.outs;
    terms.clear();
    outs.clear();
    for (int t = 0; t < step.terms; ++t)
    {
        const bool is_own = term(t) == plan_.schedule.place;
        terms.push_back(is_own ? input_ + input.begin * element
                               : partition.links[static_cast<std::size_t>(term(t))].receiver.slot());
    }
    for (int o = 0; o < step.outs; ++o) { outs.push_back(out(o).slot()); }
    if (step.is_kept)
    {
        std::byte* const kept = result_ + result.begin * element;
        if (step.terms > 1 || kept != terms[0]) { outs.push_back(kept); } // a chunk already in its place is not copied
    }
    combine_on_cpu(plan_.elements.type, plan_.reduction, terms.data(), step.terms, outs.data(), static_cast<int>(outs.size()),
                   result.count);
    for (int o = 0; o < step.outs; ++o) { out(o).publish(bytes); }
    for (int t = 0; t < step.terms; ++t)
    {
        if (term(t) == plan_.schedule.place) { continue; }
        HostReceiver& receiver = partition.links[static_cast<std::size_t>(term(t))].receiver;
        receiver.take();
        receiver.acknowledge();
    }
}

CollectiveState::Late CollectiveState::find_late()
{
    const int rank = engine().rank();
    for (int p = 0; p < plan_.elements.partitions; ++p)
    {
        Partition& partition = partitions_[static_cast<std::size_t>(p)];
        if (!has_input(partition)) { return {p, rank, Awaited::Ready}; }
        if (is_done(partition) || partition.is_taken.exchange(true, std::memory_order_acquire)) { continue; }
        Late late{p, rank, Awaited::Nothing};
        const Step& step = plan_.schedule.steps[partition.step];
        for (int t = step.first_term; t < step.first_term + step.terms; ++t)
        {
            const auto place = static_cast<std::size_t>(plan_.schedule.terms[static_cast<std::size_t>(t)]);
            const bool is_own = plan_.members[place] == rank;
            if (!is_own && !partition.links[place].receiver.has_arrived()) { late = {p, plan_.members[place], Awaited::Signal}; }
        }
        for (int o = step.first_out; o < step.first_out + step.outs && late.awaited == Awaited::Nothing; ++o)
        {
            const auto place = static_cast<std::size_t>(plan_.schedule.outs[static_cast<std::size_t>(o)]);
            if (!may_send(partition.links[place])) { late = {p, plan_.members[place], Awaited::Credit}; }
        }
        partition.is_taken.store(false, std::memory_order_release);
        if (late.awaited != Awaited::Nothing) { return late; }
    }
    return {0, rank, Awaited::Nothing}; // the awaited message has just arrived
}

std::string CollectiveState::lacks()
{
    if (!knows_peer()) { return "all members to make the request"; }
    const Late late = find_late();
    if (late.awaited == Awaited::Ready) { return fmt::format("partition {} of its own to be marked ready", late.partition); }
    return fmt::format("rank {} in partition {}", late.peer, late.partition);
}

FailureRecord CollectiveState::record(const Watch& watch)
{
    const Late late = knows_peer() ? find_late() : Late{0, missing(), Awaited::Opening};
    return {engine().rank(), late.peer, -1, late.awaited, nth(), nth() - 1, 0, *watch.tag};
}

// --- the interface of callers

CollectiveRequest::CollectiveRequest(std::unique_ptr<CollectiveState> state) : PartitionedRequest(std::move(state)) {}

CollectiveState& CollectiveRequest::collective() const { return static_cast<CollectiveState&>(state()); }

void CollectiveRequest::pready(int partition) { collective().pready(partition); }

void CollectiveRequest::pready_range(int first, int last) { collective().pready_range(first, last); }

bool CollectiveRequest::parrived(int partition) const { return !state_ || collective().parrived(partition); }

class CollectiveMaker
{
public:
    static CollectiveRequest make(Partitioned& partitioned, Collective collective, const void* input, void* result,
                                  const Elements& elements, Reduction reduction, int root, const CollectiveOptions& options)
    {
        PartitionedEngine& engine = *partitioned.engine_;
        CollectivePlan plan =
            plan_collective(collective, elements, reduction, root, options, engine.rank(), engine.world().ranks());
        plan.check_buffers(input, result);
        const auto* const source = static_cast<const std::byte*>(input);
        auto* const target = static_cast<std::byte*>(result);
        const std::size_t block = *product_of(elements.partitions, elements.count, bytes_of(elements.type));
        const std::size_t all = block * plan.members.size();
        const std::size_t source_bytes = collective == Collective::ReduceScatter ? all : block;
        const std::size_t target_bytes = collective == Collective::AllGather ? all : block;
        if (block > 0 && (source == nullptr || target == nullptr))
        {
            throw PartitionedError(Misuse::Null, fmt::format("Partitioned {}: a buffer is null.", plan.name));
        }
        const PartitionedEngine::Turn turn(engine);
        RequestName name = engine.name_of_collective(plan.name.substr(plan.name.find(" over ")));
        name.text = plan.name;
        auto state = std::make_unique<CollectiveState>(engine, std::move(plan), source, target, std::move(name));
        state->keep(engine.allocations().use(source, source_bytes));
        state->keep(engine.allocations().use(target, target_bytes));
        engine.introduce(*state);
        return CollectiveRequest(std::move(state));
    }
};

CollectiveRequest pallreduce_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                  Reduction reduction, const CollectiveOptions& options)
{
    return CollectiveMaker::make(partitioned, Collective::AllReduce, input, result, elements, reduction, 0, options);
}
CollectiveRequest preduce_scatter_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                       Reduction reduction, const CollectiveOptions& options)
{
    return CollectiveMaker::make(partitioned, Collective::ReduceScatter, input, result, elements, reduction, 0, options);
}
CollectiveRequest pallgather_init(Partitioned& partitioned, const void* input, void* result, const Elements& elements,
                                  const CollectiveOptions& options)
{
    return CollectiveMaker::make(partitioned, Collective::AllGather, input, result, elements, Reduction::Sum, 0, options);
}
CollectiveRequest pbroadcast_init(Partitioned& partitioned, void* buffer, const Elements& elements, int root,
                                  const CollectiveOptions& options)
{
    return CollectiveMaker::make(partitioned, Collective::Broadcast, buffer, buffer, elements, Reduction::Sum, root, options);
}

} // namespace parhelion
