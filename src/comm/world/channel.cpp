// SPDX-License-Identifier: Apache-2.0
#include "comm/world/channel.hpp"

#include "base/error.hpp"
#include "comm/world/world.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// Waits until this rank's end of a channel knows the other end.
template <class Connect, class Record>
void wait_for_end(World& world, int rank, Connect&& connect, Record&& record)
{
    const Watch& watch = world.watch(rank);
    Patience<HostAtomics> patience(watch);
    for (bool is_last_look = false; !connect();)
    {
        const Verdict verdict = is_last_look ? fail<HostAtomics>(watch, record(watch)) : patience.next();
        if (is_last_look || verdict == Verdict::Aborted) { world.throw_failure(rank, verdict); }
        is_last_look = verdict == Verdict::Expired;
    }
}

} // namespace

SendChannel::SendChannel(World& world, const HostSender& core, std::size_t capacity)
    : world_(&world), core_(core), capacity_(capacity)
{
    connect();
}

bool SendChannel::connect()
{
    if (is_connected_) { return true; }
    SendRoute route = core_.route();
    const std::optional<ReceiveEnd> there = world_->receive_end({route.source, route.destination, route.channel});
    if (!there) { return false; }
    parhelion::connect(route, *there, nullptr, world_->transport().reach_signal(route.source, route.destination, there->signals));
    core_.rebind(route);
    is_connected_ = true;
    place({there->slots.offset, capacity_});
    return true;
}

void SendChannel::wait_connected()
{
    wait_for_end(
        *world_, core_.route().source, [&] { return connect(); }, [&](const Watch& watch) { return record(watch); });
}

FailureRecord SendChannel::record(const Watch& watch) const
{
    FailureRecord record = core_.record(watch);
    if (!is_connected_) { record.awaited = Awaited::Opening; }
    return record;
}

bool SendChannel::is_ready()
{
    if (connect() && core_.is_ready()) { return true; }
    world_->transport().progress(); // polling also moves messages
    return false;
}

std::byte* SendChannel::begin(std::size_t bytes)
{
    PARHELION_EXPECTS(bytes <= capacity_ && begun_ == not_begun);
    if (!is_connected_) { wait_connected(); }
    const int rank = core_.route().source;
    const Verdict verdict = core_.wait_ready(world_->watch(rank));
    if (verdict != Verdict::Reached) { world_->throw_failure(rank, verdict); }
    begun_ = bytes;
    return core_.slot();
}

void SendChannel::publish(std::size_t bytes)
{
    PARHELION_EXPECTS(begun_ != not_begun && bytes <= begun_);
    begun_ = not_begun;
    core_.publish(bytes);
}

void SendChannel::bind(Placement placement)
{
    PARHELION_EXPECTS(begun_ == not_begun);
    wait_connected();
    place(placement);
}

void SendChannel::place(Placement placement)
{
    SendRoute route = core_.route();
    route.offset = placement.offset;
    route.stride = round_up_window(placement.capacity);
    route.payload = world_->transport().reach_payload(route.source, route.destination, placement.offset);
    const std::size_t staged = static_cast<std::size_t>(route.depth) * route.stride;
    if (route.payload == nullptr && staged > staging_.bytes)
    {
        world_->memory().release(route.source, staging_);
        staging_ = world_->memory().allocate(route.source, staged);
    }
    route.staging = route.payload == nullptr ? world_->memory().payload(route.source, staging_.offset) : nullptr;
    core_.rebind(route);
    capacity_ = placement.capacity;
}

ReceiveChannel::ReceiveChannel(World& world, const HostReceiver& core, Window slots, std::size_t capacity)
    : world_(&world), core_(core), placement_{slots.offset, capacity}, slots_(slots)
{
    connect();
}

bool ReceiveChannel::connect()
{
    if (is_connected_) { return true; }
    ReceiveRoute route = core_.route();
    const std::optional<SendEnd> there = world_->send_end({route.source, route.destination, route.channel});
    if (!there) { return false; }
    SignalSlot* const credits =
        route.has_credits ? world_->transport().reach_signal(route.destination, route.source, there->credits) : nullptr;
    parhelion::connect(route, *there, credits);
    core_.rebind(route);
    is_connected_ = true;
    return true;
}

void ReceiveChannel::wait_connected()
{
    const auto record = [&](const Watch& watch) {
        FailureRecord made = core_.record(watch);
        made.awaited = Awaited::Opening;
        return made;
    };
    wait_for_end(
        *world_, core_.route().destination, [&] { return connect(); }, record);
}

bool ReceiveChannel::has_arrived() const
{
    if (core_.has_arrived()) { return true; }
    world_->transport().progress(); // polling also moves messages
    return false;
}

Message ReceiveChannel::wait()
{
    const int rank = core_.route().destination;
    const Verdict verdict = core_.wait_arrived(world_->watch(rank));
    if (verdict != Verdict::Reached) { world_->throw_failure(rank, verdict); }
    const Message message{core_.slot(), core_.bytes()};
    core_.take();
    return message;
}

void ReceiveChannel::ack()
{
    PARHELION_EXPECTS(core_.owes_acknowledgement());
    if (!is_connected_) { wait_connected(); } // the source has opened its end, but this rank may not have seen that yet
    core_.acknowledge();
}

Placement ReceiveChannel::reserve(std::size_t capacity)
{
    if (capacity > placement_.capacity)
    {
        PARHELION_EXPECTS(!core_.owes_acknowledgement());
        const std::size_t grown = round_up_window(std::max(capacity, placement_.capacity + placement_.capacity * 3 / 10));
        const int rank = core_.route().destination;
        world_->memory().release(rank, slots_);
        slots_ = {}; // no slots, in case the next line throws
        const Window slots = world_->memory().allocate(rank, static_cast<std::size_t>(core_.route().depth) * grown);
        bind({slots.offset, grown});
        slots_ = slots;
    }
    return placement_;
}

void ReceiveChannel::bind(Placement placement)
{
    PARHELION_EXPECTS(!core_.owes_acknowledgement());
    const int rank = core_.route().destination;
    world_->memory().release(rank, slots_);
    slots_ = {};
    ReceiveRoute route = core_.route();
    route.stride = round_up_window(placement.capacity);
    route.payload = world_->memory().payload(rank, placement.offset);
    core_.rebind(route);
    placement_ = placement;
}

} // namespace parhelion
