// SPDX-License-Identifier: Apache-2.0
#include "comm/world.hpp"

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "comm/transports/threads.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace parhelion {

struct World::Match
{
    ChannelOptions options;
    int number;
    Window slots;        // in the destination's arena
    std::size_t signals; // the first, at the destination
    std::size_t credits; // the first, at the source
    bool send_is_open = false;
    bool receive_is_open = false;
};

World::World(int ranks, const WorldOptions& options)
    : memory_(ranks, options.payload_bytes, options.signal_slots), deadline_(options.deadline), tag_name_(options.tag_name),
      contexts_(static_cast<std::size_t>(ranks))
{
    for (int r = 0; r < ranks; ++r) { abort_slots_.push_back(memory_.signal(r, memory_.reserve_signals(r, 1, 0))); }
    for (int r = 0; r < ranks; ++r)
    {
        Context& context = contexts_[static_cast<std::size_t>(r)];
        context.watch = {r,
                         ranks,
                         deadline_.count(),
                         abort_slots_[static_cast<std::size_t>(r)],
                         abort_slots_.data(),
                         &board_,
                         &context.tag,
                         nullptr};
    }
    transport_ = std::make_unique<ThreadsTransport>(memory_, options.access);
    if (options.wrap_transport) { transport_ = options.wrap_transport(std::move(transport_)); }
}

World::~World() = default;

Communicator World::communicator(int rank) { return Communicator(*this, rank); }

World::Match& World::match(const Key& key, const ChannelOptions& options)
{
    PARHELION_EXPECTS(options.depth >= 1);
    PARHELION_EXPECTS(key.source != key.destination);
    PARHELION_EXPECTS(std::min(key.source, key.destination) >= 0 && std::max(key.source, key.destination) < ranks());
    if (const auto found = matches_.find(key); found != matches_.end())
    {
        if (found->second->options == options) { return *found->second; }
        throw ContractError(fmt::format("The ends of channel '{}' from rank {} to rank {} differ in their options.", key.label,
                                        key.source, key.destination));
    }
    // The slots show the epoch before the first: nothing has arrived, and everything before has been acknowledged.
    const Word shown = options.first_epoch - 1;
    Match made{options, static_cast<int>(channels_.size()), {}, 0, 0};
    const std::size_t bytes = static_cast<std::size_t>(options.depth) * round_up_window(options.capacity);
    made.slots = memory_.allocate(key.destination, bytes);
    made.signals = memory_.reserve_signals(key.destination, options.depth, shown);
    made.credits = options.credits == Credits::Yes ? memory_.reserve_signals(key.source, options.depth, shown) : 0;
    const auto entry = matches_.emplace(key, std::make_unique<Match>(made)).first;
    channels_.push_back(&entry->first);
    return *entry->second;
}

SendChannel World::open_send(const std::string& label, int source, int destination, const ChannelOptions& options)
{
    const std::scoped_lock lock(mutex_);
    Match& m = match({label, source, destination}, options);
    PARHELION_EXPECTS(!std::exchange(m.send_is_open, true));
    SendRoute route{};
    route.source = source;
    route.destination = destination;
    route.channel = m.number;
    route.depth = options.depth;
    route.has_credits = options.credits == Credits::Yes;
    route.signal = m.signals;
    route.signals = transport_->reach_signal(source, destination, m.signals);
    route.credits = route.has_credits ? memory_.signal(source, m.credits) : nullptr;
    return SendChannel(*this, HostSender(route, transport_.get(), options.first_epoch), {m.slots.offset, options.capacity});
}

ReceiveChannel World::open_receive(const std::string& label, int source, int destination, const ChannelOptions& options)
{
    const std::scoped_lock lock(mutex_);
    Match& m = match({label, source, destination}, options);
    PARHELION_EXPECTS(!std::exchange(m.receive_is_open, true));
    ReceiveRoute route{};
    route.source = source;
    route.destination = destination;
    route.channel = m.number;
    route.depth = options.depth;
    route.has_credits = options.credits == Credits::Yes;
    route.stride = round_up_window(options.capacity);
    route.credit = m.credits;
    route.payload = memory_.payload(destination, m.slots.offset);
    route.signals = memory_.signal(destination, m.signals);
    route.credits = route.has_credits ? transport_->reach_signal(destination, source, m.credits) : nullptr;
    return ReceiveChannel(*this, HostReceiver(route, transport_.get(), options.first_epoch), m.slots,
                          {m.slots.offset, options.capacity});
}

Window World::allocate(const std::string& group, std::span<const int> members, int place, std::size_t bytes)
{
    const std::scoped_lock lock(mutex_);
    GroupAllocation& made = group_allocations_[group];
    const std::size_t call = made.calls[place]++;
    if (call == made.windows.size()) { made.windows.push_back(memory_.allocate(members, bytes)); }
    PARHELION_EXPECTS(made.windows[call].bytes == round_up_window(bytes));
    return made.windows[call];
}

std::string World::text_of(const FailureRecord& record) const
{
    const std::scoped_lock lock(mutex_);
    return failure_text(record, channels_[static_cast<std::size_t>(record.channel)]->label, deadline_, tag_name_);
}

void World::throw_failure(int rank, Verdict verdict) const
{
    if (verdict == Verdict::Expired) { throw CommError(text_of(board_.record)); }
    // Who came second to the board may be here before the first has written.
    const bool is_written = HostAtomics::load_acquire_system(&watch(rank).own_abort->epoch) != 0;
    throw PeerAborted(is_written ? fmt::format("Rank {} stopped because rank {} did.", rank, board_.record.rank)
                                 : fmt::format("Rank {} stopped because another rank did.", rank));
}

} // namespace parhelion
