// SPDX-License-Identifier: Apache-2.0
#include "comm/channel.hpp"

#include "base/error.hpp"
#include "comm/world.hpp"

#include <fmt/format.h>

namespace parhelion {

std::string failure_text(const FailureRecord& record, const std::string& label, std::chrono::nanoseconds deadline,
                         const std::string& tag_name)
{
    return fmt::format("Rank {} waited {:g} s in vain for {} from rank {}: channel '{}', epoch expected {}, seen {}, credit {}, "
                       "in {} {}.",
                       record.rank, std::chrono::duration<double>(deadline).count(),
                       record.awaited == Awaited::Credit ? "leave to write" : "a message", record.peer, label, record.expected,
                       record.seen, record.credit, tag_name, record.tag);
}

SendChannel::SendChannel(World& world, const HostSender& core, Placement placement) : world_(&world), core_(core)
{
    bind(placement);
}

bool SendChannel::is_ready() const { return core_.is_ready(); }

std::byte* SendChannel::begin(std::size_t bytes)
{
    PARHELION_EXPECTS(bytes <= capacity_ && begun_ == not_begun);
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

ReceiveChannel::ReceiveChannel(World& world, const HostReceiver& core, Window slots, Placement placement)
    : world_(&world), core_(core), placement_(placement), slots_(slots)
{
}

bool ReceiveChannel::has_arrived() const { return core_.has_arrived(); }

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
        slots_ = {}; // whatever the next line throws
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
