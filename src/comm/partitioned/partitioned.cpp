// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/partitioned.hpp"

#include "comm/partitioned/engine.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

using Turn = PartitionedEngine::Turn;

void check(const World& world, const Partitioning& partitioning, const Envelope& envelope)
{
    const auto refuse = [](const std::string& why) {
        throw PartitionedError(Misuse::BadArgument, fmt::format("Partitioned message: {}.", why));
    };
    if (partitioning.partitions < 1 || partitioning.partitions > most_partitions)
    {
        refuse(fmt::format("{} partitions, not 1 to {}", partitioning.partitions, most_partitions));
    }
    if (!product_of(partitioning.partitions, partitioning.bytes, 1))
    {
        refuse(fmt::format("{} partitions of {} bytes are more than there can be", partitioning.partitions, partitioning.bytes));
    }
    if (envelope.peer < 0 || envelope.peer >= world.ranks())
    {
        refuse(fmt::format("rank {} of {}", envelope.peer, world.ranks()));
    }
}

void expect_buffer(const std::byte* buffer, std::size_t bytes)
{
    if (buffer == nullptr && bytes > 0) { throw PartitionedError(Misuse::Null, "Partitioned message: the buffer is null."); }
}

} // namespace

std::optional<std::size_t> product_of(int partitions, std::size_t count, std::size_t bytes, std::size_t blocks)
{
    std::size_t product = static_cast<std::size_t>(partitions);
    for (const std::size_t factor : {count, bytes, blocks})
    {
        if (factor != 0 && product > most_bytes / factor) { return std::nullopt; }
        product *= factor;
    }
    return product;
}

// --- requests

PartitionedRequest::PartitionedRequest() = default;
PartitionedRequest::PartitionedRequest(std::unique_ptr<RequestState> state) : state_(std::move(state)) {}
PartitionedRequest::PartitionedRequest(PartitionedRequest&&) noexcept = default;
PartitionedRequest& PartitionedRequest::operator=(PartitionedRequest&& other) noexcept
{
    end();
    state_ = std::move(other.state_);
    return *this;
}
PartitionedRequest::~PartitionedRequest() { end(); }

void PartitionedRequest::end() noexcept
{
    if (!state_) { return; }
    const Turn turn(state_->engine());
    state_.reset();
}

RequestState& PartitionedRequest::state() const
{
    if (!state_) { throw PartitionedError(Misuse::Null, "Partitioned message: the request is null, or has been freed."); }
    return *state_;
}

void PartitionedRequest::start()
{
    const Turn turn(state().engine());
    state().start();
}

void PartitionedRequest::pbuf_prepare()
{
    const Turn turn(state().engine());
    state().pbuf_prepare();
}

void PartitionedRequest::wait()
{
    if (!state_) { return; }
    const Turn turn(state_->engine());
    state_->finish();
}

bool PartitionedRequest::test()
{
    if (!state_) { return true; }
    const Turn turn(state_->engine());
    return state_->test();
}

bool PartitionedRequest::is_active() const { return state_ && state_->is_active(); }

void PartitionedRequest::free()
{
    RequestState& of = state();
    // After a failure of the world nobody waits for the request any more, so that it may be freed.
    const bool is_waited_for = of.is_active() && !of.is_broken() && of.engine().world().is_whole(of.engine().rank());
    if (is_waited_for) { of.refuse(Misuse::Active, "free() before wait()"); }
    end();
}

SendRequest::SendRequest(std::unique_ptr<SendState> state) : PartitionedRequest(std::move(state)) {}

SendState& SendRequest::send() const { return static_cast<SendState&>(state()); }

void SendRequest::pready(int partition) { send().pready(partition); }

void SendRequest::pready_range(int first, int last) { send().pready_range(first, last); }

void SendRequest::pready_list(std::span<const int> partitions) { send().pready_list(partitions); }

ReceiveRequest::ReceiveRequest(std::unique_ptr<ReceiveState> state) : PartitionedRequest(std::move(state)) {}

bool ReceiveRequest::parrived(int partition) const { return !state_ || static_cast<ReceiveState&>(*state_).parrived(partition); }

// --- a rank

Partitioned::Partitioned(Communicator& communicator)
    : engine_(std::make_unique<PartitionedEngine>(communicator.world(), communicator.rank()))
{
}
Partitioned::~Partitioned() = default;

void Partitioned::reserve_for_calls() { engine_->reserve_call_peers(); }

void Partitioned::progress()
{
    if (const Turn turn(*engine_, std::try_to_lock); turn.is_taken()) { engine_->advance(); }
}

void Partitioned::leave()
{
    const Turn turn(*engine_);
    engine_->leave();
}

std::span<std::byte> Partitioned::allocate(std::size_t bytes)
{
    if (bytes > most_bytes)
    {
        throw PartitionedError(Misuse::BadArgument, fmt::format("Symmetric memory: {} bytes are more than there can be.", bytes));
    }
    const Turn turn(*engine_);
    // An empty piece has an address of its own, too, by which it is released.
    const Window window = engine_->allocate(std::max<std::size_t>(bytes, 1));
    std::byte* const begin = engine_->world().memory().payload(engine_->rank(), window.offset);
    engine_->allocations().add(begin, bytes);
    return {begin, bytes};
}

void Partitioned::release(std::span<std::byte> memory)
{
    const Turn turn(*engine_);
    engine_->allocations().remove(memory.data(), memory.size());
    SymmetricMemory& all = engine_->world().memory();
    const auto offset = static_cast<std::size_t>(memory.data() - all.payload(engine_->rank(), 0));
    all.release(engine_->rank(), {offset, round_up_window(std::max<std::size_t>(memory.size(), 1))});
}

SendRequest Partitioned::psend_init(const std::byte* buffer, Partitioning partitioning, const Envelope& envelope,
                                    const SendOptions& options)
{
    check(engine_->world(), partitioning, envelope);
    const std::size_t bytes = static_cast<std::size_t>(partitioning.partitions) * partitioning.bytes;
    if (options.per_signal < 1)
    {
        throw PartitionedError(Misuse::BadArgument,
                               fmt::format("Partitioned message: {} partitions a signal.", options.per_signal));
    }
    expect_buffer(buffer, bytes);
    const Turn turn(*engine_);
    auto state =
        std::make_unique<SendState>(*engine_, buffer, partitioning, envelope, engine_->name_of_message(envelope, true), options);
    state->keep(engine_->allocations().use(buffer, bytes));
    engine_->introduce(*state);
    return SendRequest(std::move(state));
}

ReceiveRequest Partitioned::precv_init(std::byte* buffer, Partitioning partitioning, const Envelope& envelope)
{
    check(engine_->world(), partitioning, envelope);
    const std::size_t bytes = static_cast<std::size_t>(partitioning.partitions) * partitioning.bytes;
    expect_buffer(buffer, bytes);
    const Turn turn(*engine_);
    const SymmetricMemory& memory = engine_->world().memory();
    const bool is_symmetric = engine_->allocations().holds(buffer, bytes);
    if (!is_symmetric && memory.touches(engine_->rank(), buffer, bytes))
    {
        throw PartitionedError(Misuse::NotSymmetric,
                               "Partitioned message: the buffer of a receive request is in its rank's symmetric "
                               "memory, and not within what one call of allocate() has given.");
    }
    std::byte* const place = is_symmetric ? buffer : memory.payload(engine_->rank(), engine_->allocate(bytes).offset);
    auto state = std::make_unique<ReceiveState>(*engine_, buffer, place, partitioning, envelope,
                                                engine_->name_of_message(envelope, false));
    state->keep(engine_->allocations().use(buffer, bytes));
    engine_->introduce(*state);
    return ReceiveRequest(std::move(state));
}

} // namespace parhelion
