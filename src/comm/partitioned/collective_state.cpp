// SPDX-License-Identifier: Apache-2.0
// The setup and the end of a member's collective: the memory that it takes, the introductions that members exchange, and the
// memory that it gives back. The work of an epoch is in collectives.cpp.
#include "comm/partitioned/collective_state.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

std::vector<Partner> others_of(const CollectivePlan& plan)
{
    std::vector<Partner> others;
    for (int place = 0; place < plan.schedule.members; ++place)
    {
        if (place != plan.schedule.place) { others.push_back({plan.members[static_cast<std::size_t>(place)]}); }
    }
    return others;
}

std::size_t index_of(const std::vector<int>& places, int place)
{
    return static_cast<std::size_t>(std::find(places.begin(), places.end(), place) - places.begin());
}

} // namespace

CollectiveState::CollectiveState(PartitionedEngine& engine, CollectivePlan plan, const std::byte* input, std::byte* result,
                                 RequestName name)
    : RequestState(engine, {plan.elements.partitions, plan.elements.count * bytes_of(plan.elements.type)}, {engine.rank()},
                   std::move(name), others_of(plan)),
      plan_(std::move(plan)), input_(input), result_(result), takes_input_(plan_.schedule.takes_input()),
      stride_(round_up_window(plan_.channel.capacity)), first_epoch_(plan_.channel.first_epoch),
      introductions_(plan_.members.size()), partitions_(static_cast<std::size_t>(plan_.elements.partitions))
{
    for (int place = 0; place < plan_.schedule.members; ++place)
    {
        if (plan_.sends_to(place)) { sinks_.push_back(place); }
        if (plan_.takes_from(place)) { sources_.push_back(place); }
        if (place != plan_.schedule.place) { of_partners_.push_back(static_cast<std::size_t>(place)); }
    }
    try
    {
        take_memory();
    }
    catch (...)
    {
        give_back(engine, held_);
        throw;
    }
    if (of_partners_.empty()) { connect(); }
}

CollectiveState::~CollectiveState()
{
    if (is_active() && !is_broken())
    {
        engine().abandon(*this);
        return;
    }
    if (knows_peer()) { held_.signals.shown = held_.credits.shown = later(last_epoch(), held_.signals.shown); }
    const Word begun = knows_peer() ? nth() : 0;
    engine().part(*this, {begun, 0},
                  [&engine = engine(), held = held_, epochs = begun,
                   credits = begun > 0 ? last_credits()
                                       : std::vector<std::pair<SignalSlot*, Word>>()](const std::vector<Partner>& partners) {
                      // A member that has started more epochs may have a message in flight to this rank: slots stay taken.
                      const auto is_even = [&](const Partner& p) { return p.parting->epochs == epochs; };
                      if (!std::all_of(partners.begin(), partners.end(), is_even)) { return true; }
                      const auto has_come = [](const auto& credit) { return shows<HostAtomics>(credit.first, credit.second); };
                      if (!std::all_of(credits.begin(), credits.end(), has_come)) { return false; }
                      give_back(engine, held);
                      return true;
                  });
}

void CollectiveState::take_memory()
{
    World& world = engine().world();
    const std::size_t channels = partitions_.size(), depth = static_cast<std::size_t>(plan_.channel.depth);
    const auto slots_of = [&](const std::vector<int>& places) { return places.size() * channels * depth; };
    const auto is_carried = [&](int place) {
        const int peer = plan_.members[static_cast<std::size_t>(place)];
        return world.transport().reach_payload(engine().rank(), peer, 0) == nullptr;
    };
    held_.slots = engine().allocate(slots_of(sources_) * stride_);
    const bool is_staged = std::any_of(sinks_.begin(), sinks_.end(), is_carried);
    if (is_staged) { held_.staging = engine().allocate(slots_of(sinks_) * stride_); }
    const std::size_t signals = slots_of(sources_), credits = slots_of(sinks_);
    const Word shown = plan_.channel.first_epoch - 1;
    held_.signals = engine().signals().take(static_cast<int>(signals), shown);
    held_.credits = engine().signals().take(static_cast<int>(credits), shown);
    for (const SignalBlock& block : {held_.signals, held_.credits})
    {
        if (block.count > 0) { first_epoch_ = later(first_epoch_, block.shown + 1); }
    }
}

void CollectiveState::give_back(PartitionedEngine& engine, const Held& held)
{
    SymmetricMemory& memory = engine.world().memory();
    memory.release(engine.rank(), held.slots);
    memory.release(engine.rank(), held.staging);
    engine.signals().give_back(held.signals);
    engine.signals().give_back(held.credits);
}

Bytes CollectiveState::introduction(std::size_t partner) const
{
    const auto place = static_cast<int>(of_partners_[partner]);
    const std::size_t channels = partitions_.size() * static_cast<std::size_t>(plan_.channel.depth);
    const std::size_t source = index_of(sources_, place), sink = index_of(sinks_, place);
    return bytes_of(Introduction{plan_.terms, first_epoch_, held_.slots.offset + source * channels * stride_,
                                 held_.signals.first + source * channels, held_.credits.first + sink * channels});
}

void CollectiveState::agree(std::size_t partner, const Bytes& introduction)
{
    const CollectiveTerms there = from_bytes<Introduction>(introduction).terms;
    if (there == plan_.terms) { return; }
    break_off(Misuse::BadArgument,
              fmt::format("members ask for different things: rank {} for {}, rank {} for {}", engine().rank(), plan_.terms.text(),
                          plan_.members[of_partners_[partner]], there.text()));
}

void CollectiveState::meet(std::size_t partner, const Bytes& introduction)
{
    const std::size_t place = of_partners_[partner];
    introductions_[place] = from_bytes<Introduction>(introduction);
    const auto is_there = [&](std::size_t p) { return introductions_[p].has_value(); };
    if (std::all_of(of_partners_.begin(), of_partners_.end(), is_there)) { connect(); }
}

void CollectiveState::connect()
{
    for (const std::size_t place : of_partners_) { first_epoch_ = later(first_epoch_, introductions_[place]->first_epoch); }
    for (int p = 0; p < plan_.elements.partitions; ++p)
    {
        std::vector<Link>& links = partitions_[static_cast<std::size_t>(p)].links;
        links.resize(plan_.members.size());
        for (const std::size_t place : of_partners_)
        {
            links[place] = make_link(static_cast<int>(place), p, *introductions_[place]);
        }
    }
    is_connected_.store(true, std::memory_order_release); // releases the links to other threads
    if (is_active()) { engine().list_locked(*this); }
}

// Returns the link to the member at this place; `there` tells where its slots and signals for this member begin.
CollectiveState::Link CollectiveState::make_link(int place, int partition, const Introduction& there) const
{
    World& world = engine().world();
    SymmetricMemory& memory = world.memory();
    const int rank = engine().rank(), peer = plan_.members[static_cast<std::size_t>(place)], depth = plan_.channel.depth;
    const std::size_t source = index_of(sources_, place), sink = index_of(sinks_, place);
    const std::size_t number = static_cast<std::size_t>(partition) * static_cast<std::size_t>(depth); // partition's first slot
    const std::size_t channels = partitions_.size() * static_cast<std::size_t>(depth);
    Link link;
    if (plan_.sends_to(place))
    {
        SendRoute route{rank, peer, -1, depth, true, there.slots + number * stride_, stride_, there.signals + number,
                        {},   {},   {}, {}};
        route.payload = world.transport().reach_payload(rank, peer, route.offset);
        if (route.payload == nullptr)
        {
            route.staging = memory.payload(rank, held_.staging.offset + (sink * channels + number) * stride_);
        }
        route.signals = world.transport().reach_signal(rank, peer, route.signal);
        route.credits = memory.signal(rank, held_.credits.first + sink * channels + number);
        link.sender = HostSender(route, &world.transport(), first_epoch_);
    }
    if (plan_.takes_from(place))
    {
        ReceiveRoute route{peer, rank, -1, depth, true, stride_, there.credits + number, {}, {}, {}};
        route.payload = memory.payload(rank, held_.slots.offset + (source * channels + number) * stride_);
        route.signals = memory.signal(rank, held_.signals.first + source * channels + number);
        route.credits = world.transport().reach_signal(rank, peer, route.credit);
        link.receiver = HostReceiver(route, &world.transport(), first_epoch_);
    }
    return link;
}

// The first messages need no credit: a reused credit slot shows an old epoch then, which is no credit of this collective.
bool CollectiveState::may_send(const Link& link) const
{
    return link.sender.next_epoch() - first_epoch_ < static_cast<Word>(plan_.channel.depth) || link.sender.is_ready();
}

Word CollectiveState::last_epoch() const
{
    Word last = first_epoch_ - 1;
    for (const Partition& partition : partitions_)
    {
        for (const Link& link : partition.links)
        {
            if (link.sender.route().depth > 0) { last = later(last, link.sender.next_epoch() - 1); }
            if (link.receiver.route().depth > 0) { last = later(last, link.receiver.next_epoch() - 1); }
        }
    }
    return last;
}

// Returns, for each credit slot of a channel on which a message was sent, the slot and the epoch of its last credit.
std::vector<std::pair<SignalSlot*, Word>> CollectiveState::last_credits()
{
    std::vector<std::pair<SignalSlot*, Word>> credits;
    const auto depth = static_cast<Word>(plan_.channel.depth);
    for (const Partition& partition : partitions_)
    {
        for (const int sink : sinks_)
        {
            const HostSender& sender = partition.links[static_cast<std::size_t>(sink)].sender;
            const Word sent = sender.next_epoch() - first_epoch_;
            for (Word back = 1; back <= std::min(sent, depth); ++back)
            {
                const Word epoch = sender.next_epoch() - back;
                credits.emplace_back(sender.route().credits + slot_of_epoch(epoch, plan_.channel.depth), epoch);
            }
        }
    }
    return credits;
}

} // namespace parhelion
