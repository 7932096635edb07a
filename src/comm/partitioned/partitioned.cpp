// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/partitioned.hpp"

#include "comm/partitioned/requests.hpp"

#include <fmt/format.h>

namespace parhelion {

namespace {

void check(const World& world, const Partitioning& partitioning, const Envelope& envelope)
{
    const auto refuse = [](const std::string& why) {
        throw PartitionedError(Misuse::BadArgument, fmt::format("Partitioned message: {}.", why));
    };
    if (partitioning.partitions < 1) { refuse(fmt::format("{} partitions", partitioning.partitions)); }
    if (envelope.peer < 0 || envelope.peer >= world.ranks())
    {
        refuse(fmt::format("rank {} of {}", envelope.peer, world.ranks()));
    }
}

} // namespace

// --- requests

PartitionedRequest::PartitionedRequest() = default;
PartitionedRequest::PartitionedRequest(std::unique_ptr<RequestState> state) : state_(std::move(state)) {}
PartitionedRequest::PartitionedRequest(PartitionedRequest&&) noexcept = default;
PartitionedRequest& PartitionedRequest::operator=(PartitionedRequest&&) noexcept = default;
PartitionedRequest::~PartitionedRequest() = default;

RequestState& PartitionedRequest::state() const
{
    if (!state_) { throw PartitionedError(Misuse::Null, "Partitioned message: the request is null, or has been freed."); }
    return *state_;
}

void PartitionedRequest::start() { state().start(); }
void PartitionedRequest::pbuf_prepare() { state().pbuf_prepare(); }

void PartitionedRequest::wait()
{
    if (state_) { state_->finish(); }
}

bool PartitionedRequest::test() { return !state_ || state_->test(); }
bool PartitionedRequest::is_active() const { return state_ && state_->is_active(); }

void PartitionedRequest::free()
{
    if (state().is_active() && !state().is_broken()) { state().refuse(Misuse::Active, "free() before wait()"); }
    state_.reset();
}

SendRequest::SendRequest(std::unique_ptr<SendState> state) : PartitionedRequest(std::move(state)) {}

SendState& SendRequest::send() const { return static_cast<SendState&>(state()); }

void SendRequest::pready(int partition) { send().pready(partition); }

void SendRequest::pready_range(int first, int last)
{
    for (int p = first; p <= last; ++p) { send().pready(p); }
}

void SendRequest::pready_list(std::span<const int> partitions)
{
    for (const int p : partitions) { send().pready(p); }
}

ReceiveRequest::ReceiveRequest(std::unique_ptr<ReceiveState> state) : PartitionedRequest(std::move(state)) {}

bool ReceiveRequest::parrived(int partition) const { return !state_ || static_cast<ReceiveState&>(*state_).parrived(partition); }

// --- a rank

Partitioned::Partitioned(Communicator& communicator)
    : engine_(std::make_unique<PartitionedEngine>(communicator.world(), communicator.rank()))
{
}
Partitioned::~Partitioned() = default;

std::span<std::byte> Partitioned::allocate(std::size_t bytes)
{
    SymmetricMemory& memory = engine_->world().memory();
    return {memory.payload(engine_->rank(), memory.allocate(engine_->rank(), bytes).offset), bytes};
}

void Partitioned::release(std::span<std::byte> memory)
{
    SymmetricMemory& all = engine_->world().memory();
    const auto offset = static_cast<std::size_t>(memory.data() - all.payload(engine_->rank(), 0));
    all.release(engine_->rank(), {offset, round_up_window(memory.size())});
}

SendRequest Partitioned::psend_init(const std::byte* buffer, Partitioning partitioning, const Envelope& envelope,
                                    const SendOptions& options)
{
    check(engine_->world(), partitioning, envelope);
    if (options.per_signal < 1)
    {
        throw PartitionedError(Misuse::BadArgument,
                               fmt::format("Partitioned message: {} partitions a signal.", options.per_signal));
    }
    auto state =
        std::make_unique<SendState>(*engine_, buffer, partitioning, envelope, engine_->next_name(envelope, true), options);
    engine_->list(*state);
    return SendRequest(std::move(state));
}

ReceiveRequest Partitioned::precv_init(std::byte* buffer, Partitioning partitioning, const Envelope& envelope)
{
    check(engine_->world(), partitioning, envelope);
    const std::size_t bytes = static_cast<std::size_t>(partitioning.partitions) * partitioning.bytes;
    if (!engine_->world().memory().holds(engine_->rank(), buffer, bytes))
    {
        throw PartitionedError(Misuse::NotSymmetric, "Partitioned message: the buffer of a receive request is not in its rank's "
                                                     "symmetric memory. Take it from allocate().");
    }
    auto state = std::make_unique<ReceiveState>(*engine_, buffer, partitioning, envelope, engine_->next_name(envelope, false));
    engine_->list(*state);
    return ReceiveRequest(std::move(state));
}

} // namespace parhelion
