// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/gpu/partitioned_gpu.hpp"

#include "comm/partitioned/gpu/requests_gpu.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace parhelion {

namespace {

[[noreturn]] void refuse(Misuse misuse, const std::string& message) { throw PartitionedError(misuse, message); }

const char* sentence(Misuse misuse)
{
    switch (misuse)
    {
    case Misuse::NotActive:
        return "was marked ready outside start and wait";
    case Misuse::Active:
        return "was started before the last epoch ended";
    case Misuse::PartitionOutOfRange:
        return "does not exist";
    case Misuse::ReadyTwice:
        return "or another one of its group was marked ready twice";
    default:
        return "was used against the rules";
    }
}

} // namespace

void refuse_unmatched(const std::string& label, int peer)
{
    refuse(Misuse::NotMatched, fmt::format("{}: rank {} has made no request yet.", label, peer));
}

void refuse_freed(const std::string& label, int peer)
{
    refuse(Misuse::PeerFreed, fmt::format("{}: it or the other side, of rank {}, has been freed.", label, peer));
}

void refuse_misuse(const std::string& label, const DeviceMisuse& of_kernel)
{
    const auto misuse = static_cast<Misuse>(of_kernel.code - 1);
    const auto partition = static_cast<std::int64_t>(of_kernel.partition);
    const std::string what = partition == no_partition ? "it" : fmt::format("partition {}", partition);
    refuse(misuse, fmt::format("{}: {} {}, by a kernel.", label, what, sentence(misuse)));
}

// --- requests

SendPrequest* GpuSendRequest::prequest() const { return of_->prequest.data(); }
void GpuSendRequest::check(GpuQueue& queue) const { of_->check(queue); }

ReceivePrequest* GpuReceiveRequest::prequest() const { return of_->prequest.data(); }
std::byte* GpuReceiveRequest::buffer() const { return of_->buffer; }
void GpuReceiveRequest::check(GpuQueue& queue) const { of_->check(queue); }

// --- all of a world

struct GpuPartitioned::Requests
{
    using Key = std::tuple<int, int, int, std::string>; // source, destination, tag, group
    struct Unmatched                                    // in init order; one of the two is empty
    {
        std::deque<std::shared_ptr<GpuSendRequest::Of>> sends;
        std::deque<std::shared_ptr<GpuReceiveRequest::Of>> receives;
    };
    std::map<Key, Unmatched> unmatched;
    std::set<std::shared_ptr<void>> all; // also those whose handles are gone: kernels have their prequests

    static void connect(GpuWorld& world, GpuSendRequest::Of& send, GpuReceiveRequest::Of& receive);
    void match(GpuWorld& world, const Key& key)
    {
        Unmatched& here = unmatched[key];
        if (!here.sends.empty() && !here.receives.empty())
        {
            const auto send = std::move(here.sends.front());
            const auto receive = std::move(here.receives.front());
            here.sends.pop_front();
            here.receives.pop_front();
            connect(world, *send, *receive);
        }
        if (here.sends.empty() && here.receives.empty()) { unmatched.erase(key); }
    }
};

void GpuPartitioned::Requests::connect(GpuWorld& world, GpuSendRequest::Of& send, GpuReceiveRequest::Of& receive)
{
    if (send.total_bytes() != receive.total_bytes())
    {
        refuse(Misuse::BytesDiffer, fmt::format("{}: the buffer has {} bytes at the source and {} at the destination.",
                                                send.label, send.total_bytes(), receive.total_bytes()));
    }
    SymmetricMemory& memory = world.memory();
    const int per_signal = std::min(send.options.per_signal, send.partitioning.partitions);
    const PartitionCounts counts{send.partitioning.partitions, receive.partitioning.partitions, per_signal};
    const Word first = send.options.first_epoch;
    const bool is_carried = send.mechanism == Mechanism::ProgressionEngine;
    const std::size_t signal = memory.reserve_signals(receive.rank, counts.signals(), first - 1);
    const std::size_t credit = memory.reserve_signals(send.rank, 1, first - 1);
    send.slots = receive.slots = std::make_shared<SlotsOfPair>(SlotsOfPair{credit, signal, counts.signals(), is_carried});
    const int channel = world.name_channel(send.label);

    PartitionedSendRoute out{};
    out.source = send.rank;
    out.destination = receive.rank;
    out.counts = counts;
    out.partition_bytes = send.partitioning.bytes;
    out.offset = static_cast<std::size_t>(receive.buffer - world.data(receive.rank, {}));
    out.signal = signal;
    out.credit = memory.signal(send.rank, credit);
    out.first_epoch = first;
    PartitionedReceiveRoute in{};
    in.source = send.rank;
    in.destination = receive.rank;
    in.counts = counts;
    in.credit = credit;
    in.signals = memory.signal(receive.rank, signal);
    in.first_epoch = first;

    GpuQueue& queue = world.setup_queue(send.rank);
    queue.make_current();
    send.arrivals.resize(static_cast<std::size_t>(counts.signals()));
    send.arrivals.clear(queue);
    SendPrequest source{{}, send.buffer, nullptr, world.watch(send.rank), channel};
    if (is_carried)
    {
        out.staging = send.prepare_for_proxy(queue, counts.signals());
        source.buffer = nullptr; // what is marked is in its place
        source.read = send.read.data();
        send.connect(world, counts.signals(), signal, source.read);
        receive.connect(world, 1, credit, nullptr);
    }
    else
    {
        out.payload = receive.buffer;
        out.signals = in.signals;
        in.credit_there = out.credit;
    }
    source.core = {out, send.transport.data(), send.arrivals.data()};
    send.upload(world, source);
    receive.upload(world, {{in, receive.transport.data()}, world.watch(receive.rank), channel});
}

GpuPartitioned::GpuPartitioned(GpuWorld& world) : world_(world), requests_(std::make_unique<Requests>()) {}
GpuPartitioned::~GpuPartitioned() = default;

namespace {

std::string label_of(int source, int destination, const Envelope& envelope)
{
    const std::string group = envelope.group.empty() ? "" : fmt::format(", group '{}'", envelope.group);
    return fmt::format("partitioned message from rank {} to rank {}, tag {}{}", source, destination, envelope.tag, group);
}

void check_arguments(const GpuWorld& world, int rank, const Partitioning& partitioning, const Envelope& envelope)
{
    const auto is_rank = [&](int r) { return r >= 0 && r < world.ranks(); };
    if (is_rank(rank) && is_rank(envelope.peer) && partitioning.partitions >= 1) { return; }
    refuse(Misuse::BadArgument, fmt::format("{}: {} partitions, among {} ranks.", label_of(rank, envelope.peer, envelope),
                                            partitioning.partitions, world.ranks()));
}

} // namespace

GpuSendRequest GpuPartitioned::psend_init(int rank, const std::byte* buffer, Partitioning partitioning, const Envelope& envelope,
                                          const SendOptions& options, Mechanism mechanism)
{
    check_arguments(world_, rank, partitioning, envelope);
    auto of = std::make_shared<GpuSendRequest::Of>();
    of->rank = rank;
    of->peer = envelope.peer;
    of->partitioning = partitioning;
    of->label = label_of(rank, envelope.peer, envelope);
    of->phase = world_.phase();
    of->buffer = buffer;
    of->options = options;
    of->mechanism = mechanism;
    if (options.per_signal < 1)
    {
        refuse(Misuse::BadArgument, fmt::format("{}: {} partitions a signal.", of->label, options.per_signal));
    }
    requests_->all.insert(of);
    const Requests::Key key{rank, envelope.peer, envelope.tag, envelope.group};
    requests_->unmatched[key].sends.push_back(of);
    requests_->match(world_, key);
    return GpuSendRequest(of);
}

GpuReceiveRequest GpuPartitioned::precv_init(int rank, Window buffer, Partitioning partitioning, const Envelope& envelope)
{
    check_arguments(world_, rank, partitioning, envelope);
    auto of = std::make_shared<GpuReceiveRequest::Of>();
    of->rank = rank;
    of->peer = envelope.peer;
    of->partitioning = partitioning;
    of->label = label_of(envelope.peer, rank, envelope);
    of->phase = world_.phase();
    of->buffer = world_.data(rank, buffer);
    if (of->total_bytes() > buffer.bytes)
    {
        refuse(Misuse::NotSymmetric, fmt::format("{}: {} bytes in a window of {}.", of->label, of->total_bytes(), buffer.bytes));
    }
    requests_->all.insert(of);
    const Requests::Key key{envelope.peer, rank, envelope.tag, envelope.group};
    requests_->unmatched[key].receives.push_back(of);
    requests_->match(world_, key);
    return GpuReceiveRequest(of);
}

template <class Of>
void GpuPartitioned::free(const std::shared_ptr<Of>& of)
{
    const auto now = of->prequest.to_vector(world_.setup_queue(of->rank));
    if (now.empty()) { refuse_unmatched(of->label, of->peer); }
    if (now[0].started != now[0].ended) { refuse(Misuse::Active, fmt::format("{}: it was freed while active.", of->label)); }
    if (requests_->all.erase(of) == 0) { refuse(Misuse::Null, fmt::format("{}: it has been freed before.", of->label)); }
    if (++of->slots->freed_sides < 2) { return; }
    const auto [source, destination] = std::pair(now[0].core.route().source, now[0].core.route().destination);
    world_.memory().release_signals(source, of->slots->credit, 1);
    world_.memory().release_signals(destination, of->slots->first_signal, of->slots->signals);
    if (of->slots->is_carried)
    {
        world_.proxy(source).release(of->slots->signals);
        world_.proxy(destination).release(1);
    }
}
void GpuPartitioned::free(GpuSendRequest request) { free(request.of_); }
void GpuPartitioned::free(GpuReceiveRequest request) { free(request.of_); }

} // namespace parhelion
