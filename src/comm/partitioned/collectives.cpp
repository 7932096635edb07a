// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/collectives.hpp"

#include "comm/partitioned/collective_plan.hpp"
#include "comm/partitioned/reduction_cpu.hpp"
#include "comm/partitioned/requests.hpp"
#include "comm/rank_group.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

// One collective of a rank. Any thread that finds a partition free moves it on, as far as it goes without waiting: who marks it,
// and whoever of the rank waits for something.
class CollectiveState : public RequestState
{
public:
    CollectiveState(PartitionedEngine& engine, CollectivePlan plan, const std::byte* input, std::byte* result, std::string name);

    void pready(int partition);
    bool parrived(int partition);
    bool advance() override;
    void help() override;
    bool knows_peer() const override { return is_connected_.load(std::memory_order_acquire); }
    bool is_complete() override;
    std::string lacks() override;
    FailureRecord record(const Watch& watch) override;

private:
    // A partition on its way through the schedule.
    struct Partition
    {
        std::vector<ChannelPair> peers;     // by place; that of this rank is unused
        std::atomic<Word> ready = 0;        // the epoch for which it has been marked; release: the input -> acquire
        std::atomic<Word> done = 0;         // the epoch whose result is there; release: the result -> acquire
        std::atomic<bool> is_taken = false; // by a thread, which has the channels and `step` for itself
        std::size_t step = 0;
        std::vector<const std::byte*> terms; // of a step that is executed; kept, so that no epoch allocates
        std::vector<std::byte*> outs;
    };

    struct Late
    {
        int partition, peer;
        Awaited awaited;
    };

    void begin_epoch() override {}
    bool connect(); // by the rank's own thread, which alone takes memory
    bool has_input(const Partition& partition) const;
    bool is_done(const Partition& partition) const { return partition.done.load(std::memory_order_acquire) == nth(); }
    void move_on(int partition); // unless another thread is at it
    Late find_late();            // what this member waits for; of its own partitions if they are not ready
    bool can_do(Partition& partition, const Step& step);
    void execute(Partition& partition, int number, const Step& step);

    const CollectivePlan plan_;
    const std::byte* const input_;
    std::byte* const result_;
    const bool takes_input_;
    std::vector<Partition> partitions_;
    std::atomic<bool> is_connected_ = false;
    std::atomic<int> marking_ = 0; // threads in pready(): an epoch ends when they have left
};

CollectiveState::CollectiveState(PartitionedEngine& engine, CollectivePlan plan, const std::byte* input, std::byte* result,
                                 std::string name)
    : RequestState(engine, {plan.elements.partitions, plan.elements.count * bytes_of(plan.elements.type)}, {engine.rank()},
                   std::move(name)),
      plan_(std::move(plan)), input_(input), result_(result), takes_input_(plan_.schedule.takes_input()),
      partitions_(static_cast<std::size_t>(plan_.elements.partitions))
{
    World& world = engine.world();
    const int rank = engine.rank();
    for (std::size_t p = 0; p < partitions_.size(); ++p)
    {
        const std::string label = fmt::format("{}, partition {}", this->name(), p);
        for (int place = 0; place < plan_.schedule.members; ++place)
        {
            const int peer = plan_.members[static_cast<std::size_t>(place)];
            ChannelPair pair;
            if (plan_.sends_to(place)) { pair.send = world.open_send(label, rank, peer, plan_.channel); }
            if (plan_.takes_from(place)) { pair.receive = world.open_receive(label, peer, rank, plan_.channel); }
            partitions_[p].peers.push_back(std::move(pair));
        }
    }
}

bool CollectiveState::connect()
{
    if (knows_peer()) { return true; }
    // Nothing has been sent yet, so that a channel is ready as soon as its other end is open.
    for (Partition& partition : partitions_)
    {
        for (const int out : plan_.schedule.outs)
        {
            if (!partition.peers[static_cast<std::size_t>(out)].send.is_ready()) { return false; }
        }
    }
    is_connected_.store(true, std::memory_order_release); // the channels -> other threads
    return true;
}

bool CollectiveState::has_input(const Partition& partition) const
{
    return !takes_input_ || partition.ready.load(std::memory_order_acquire) == nth();
}

void CollectiveState::pready(int partition)
{
    if (!is_active()) { refuse(Misuse::NotActive, "pready() outside start() and wait()"); }
    check_partition(partition);
    if (!takes_input_) { refuse(Misuse::BadArgument, "pready() of a member without an input"); }
    Word last = nth() - 1;
    marking_.fetch_add(1, std::memory_order_relaxed); // before the mark, which lets the epoch end
    if (!partitions_[static_cast<std::size_t>(partition)].ready.compare_exchange_strong(last, nth(), std::memory_order_release,
                                                                                        std::memory_order_relaxed))
    {
        marking_.fetch_sub(1, std::memory_order_relaxed);
        refuse(Misuse::ReadyTwice, fmt::format("partition {} has been marked ready before", partition));
    }
    move_on(partition);
    marking_.fetch_sub(1, std::memory_order_release); // this thread reads nothing of the epoch any more -> its end
}

bool CollectiveState::parrived(int partition)
{
    check_partition(partition);
    const std::atomic<Word>& done = partitions_[static_cast<std::size_t>(partition)].done;
    if (!is_active() || done.load(std::memory_order_acquire) == nth()) { return true; }
    engine().advance(); // who asks again and again waits
    return done.load(std::memory_order_acquire) == nth();
}

bool CollectiveState::advance()
{
    if (!connect()) { return false; }
    if (!is_active()) { return true; }
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
    if (!is_done(partition)) // asked again: the thread before may have come to the end
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
    partition.is_taken.store(false, std::memory_order_release); // the step, the channels -> who takes it next
}

bool CollectiveState::can_do(Partition& partition, const Step& step)
{
    for (int t = step.first_term; t < step.first_term + step.terms; ++t)
    {
        const int term = plan_.schedule.terms[static_cast<std::size_t>(t)];
        if (term != plan_.schedule.place && !partition.peers[static_cast<std::size_t>(term)].receive.has_arrived())
        {
            return false;
        }
    }
    for (int o = step.first_out; o < step.first_out + step.outs; ++o)
    {
        const int out = plan_.schedule.outs[static_cast<std::size_t>(o)];
        if (!partition.peers[static_cast<std::size_t>(out)].send.is_ready()) { return false; }
    }
    return true;
}

void CollectiveState::execute(Partition& partition, int number, const Step& step)
{
    const std::size_t element = bytes_of(plan_.elements.type);
    const Extent input = plan_.layouts.input.extent(number, step.chunk), result = plan_.layouts.result.extent(number, step.chunk);
    const std::size_t bytes = result.count * element;
    const auto term = [&](int t) { return plan_.schedule.terms[static_cast<std::size_t>(step.first_term + t)]; };
    const auto out = [&](int o) -> SendChannel& {
        const int place = plan_.schedule.outs[static_cast<std::size_t>(step.first_out + o)];
        return partition.peers[static_cast<std::size_t>(place)].send;
    };
    std::vector<const std::byte*>& terms = partition.terms;
    std::vector<std::byte*>& outs = partition.outs;
    terms.clear();
    outs.clear();
    for (int t = 0; t < step.terms; ++t)
    {
        const bool is_own = term(t) == plan_.schedule.place;
        terms.push_back(is_own ? input_ + input.begin * element
                               : partition.peers[static_cast<std::size_t>(term(t))].receive.wait().data);
    }
    for (int o = 0; o < step.outs; ++o) { outs.push_back(out(o).begin(bytes)); }
    if (step.is_kept)
    {
        std::byte* const kept = result_ + result.begin * element;
        if (step.terms > 1 || kept != terms[0]) { outs.push_back(kept); } // a copy to itself is none
    }
    combine_on_cpu(plan_.elements.type, plan_.reduction, terms.data(), step.terms, outs.data(), static_cast<int>(outs.size()),
                   result.count);
    for (int o = 0; o < step.outs; ++o) { out(o).publish(bytes); }
    for (int t = 0; t < step.terms; ++t)
    {
        if (term(t) != plan_.schedule.place) { partition.peers[static_cast<std::size_t>(term(t))].receive.ack(); }
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
            if (!is_own && !partition.peers[place].receive.has_arrived()) { late = {p, plan_.members[place], Awaited::Signal}; }
        }
        for (int o = step.first_out; o < step.first_out + step.outs && late.awaited == Awaited::Nothing; ++o)
        {
            const auto place = static_cast<std::size_t>(plan_.schedule.outs[static_cast<std::size_t>(o)]);
            if (!partition.peers[place].send.is_ready()) { late = {p, plan_.members[place], Awaited::Credit}; }
        }
        partition.is_taken.store(false, std::memory_order_release);
        if (late.awaited != Awaited::Nothing) { return late; }
    }
    return {0, rank, Awaited::Nothing}; // what was awaited has just come
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
    const Late late = knows_peer() ? find_late() : Late{0, engine().rank(), Awaited::Opening};
    return {engine().rank(), late.peer, -1, late.awaited, nth(), nth() - 1, 0, *watch.tag};
}

// --- what callers have

CollectiveRequest::CollectiveRequest(std::unique_ptr<CollectiveState> state) : PartitionedRequest(std::move(state)) {}

CollectiveState& CollectiveRequest::collective() const { return static_cast<CollectiveState&>(state()); }

void CollectiveRequest::pready(int partition) { collective().pready(partition); }

void CollectiveRequest::pready_range(int first, int last)
{
    for (int p = first; p <= last; ++p) { collective().pready(p); }
}

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
        // The nth of these members finds the nth of the others, whatever its kind: so calls in another order are noticed.
        const std::string ranks = plan.name.substr(plan.name.find(" over "));
        std::string name = fmt::format("{}, number {}", plan.name, engine.next_number({-1, 0, "collective" + ranks}, true));
        auto state = std::make_unique<CollectiveState>(engine, std::move(plan), static_cast<const std::byte*>(input),
                                                       static_cast<std::byte*>(result), std::move(name));
        engine.list(*state);
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
