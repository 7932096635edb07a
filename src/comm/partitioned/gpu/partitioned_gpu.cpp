// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/gpu/partitioned_gpu.hpp"

#include "comm/partitioned/gpu/requests_gpu.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <utility>

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

void refuse_elsewhere(const std::string& label, int rank)
{
    refuse(Misuse::BadArgument,
           fmt::format("{}: rank {} belongs to another process, which alone may use this request.", label, rank));
}

void refuse_misuse(const std::string& label, const DeviceMisuse& of_kernel)
{
    const auto misuse = static_cast<Misuse>(of_kernel.code - 1);
    const auto partition = static_cast<std::int64_t>(of_kernel.partition);
    const std::string what = partition == no_partition ? "it" : fmt::format("partition {}", partition);
    refuse(misuse, fmt::format("{}: {} {}, by a kernel.", label, what, sentence(misuse)));
}

// --- requests

SendPrequest* GpuSendRequest::prequest() const { return of_->prequest(); }
void GpuSendRequest::check(GpuQueue& queue) const { of_->check(queue); }

ReceivePrequest* GpuReceiveRequest::prequest() const { return of_->prequest(); }
std::byte* GpuReceiveRequest::buffer() const { return of_->buffer; }
void GpuReceiveRequest::check(GpuQueue& queue) const { of_->check(queue); }

// --- all of a world

struct GpuPartitioned::Requests
{
    using Key = std::tuple<int, int, int, std::string>; // source, destination, tag, group
    struct Unmatched                                    // requests in the order of their init calls; one list is empty
    {
        std::deque<std::shared_ptr<GpuSendRequest::Of>> sends;
        std::deque<std::shared_ptr<GpuReceiveRequest::Of>> receives;
    };
    std::map<Key, Unmatched> unmatched;
    std::set<std::shared_ptr<void>> all; // all requests, even those without handles: kernels use their prequests

    // Matches a send and a receive. Every process reserves the signal slots of both sides; set_up() is for ranks of this process.
    static void connect(GpuWorld& world, GpuSendRequest::Of& send, GpuReceiveRequest::Of& receive);
    static void set_up(GpuWorld& world, GpuSendRequest::Of& send, PartitionedSendRoute out, const SlotsOfPair& slots,
                       int channel);
    static void set_up(GpuWorld& world, GpuReceiveRequest::Of& receive, PartitionedReceiveRoute in, const SlotsOfPair& slots,
                       int channel);
    static std::pair<PartitionedSendRoute, PartitionedReceiveRoute> routes_of(GpuWorld& world, const GpuSendRequest::Of& send,
                                                                              const GpuReceiveRequest::Of& receive,
                                                                              const PartitionCounts& counts,
                                                                              const SlotsOfPair& slots);
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

// Returns the routes of both sides, with no addresses in the memory of the respective other side.
std::pair<PartitionedSendRoute, PartitionedReceiveRoute>
GpuPartitioned::Requests::routes_of(GpuWorld& world, const GpuSendRequest::Of& send, const GpuReceiveRequest::Of& receive,
                                    const PartitionCounts& counts, const SlotsOfPair& slots)
{
    PartitionedSendRoute out{};
    out.source = send.rank;
    out.destination = receive.rank;
    out.counts = counts;
    out.partition_bytes = send.partitioning.bytes;
    out.offset = receive.window.offset;
    out.signal = slots.first_signal;
    out.credit = world.memory().signal(send.rank, slots.credit);
    out.first_epoch = send.options.first_epoch;
    PartitionedReceiveRoute in{};
    in.source = send.rank;
    in.destination = receive.rank;
    in.counts = counts;
    in.credit = slots.credit;
    in.signals = world.memory().signal(receive.rank, slots.first_signal);
    in.first_epoch = send.options.first_epoch;
    return {out, in};
}

void GpuPartitioned::Requests::connect(GpuWorld& world, GpuSendRequest::Of& send, GpuReceiveRequest::Of& receive)
{
    SymmetricMemory& memory = world.memory();
    const int per_signal = std::min(send.options.per_signal, send.partitioning.partitions);
    const PartitionCounts counts{send.partitioning.partitions, receive.partitioning.partitions, per_signal};
    const Word first = send.options.first_epoch;
    const bool is_carried = send.mechanism == Mechanism::ProgressionEngine;
    const auto slots = std::make_shared<SlotsOfPair>(
        SlotsOfPair{send.rank, receive.rank, memory.reserve_signals(send.rank, 1, first - 1),
                    memory.reserve_signals(receive.rank, counts.signals(), first - 1), counts.signals(), is_carried});
    const int channel = world.name_channel(send.label);
    auto [out, in] = routes_of(world, send, receive, counts, *slots);
    if (!is_carried)
    {
        out.payload = receive.buffer;
        out.signals = in.signals;
        in.credit_there = out.credit;
    }
    if (send.is_here) { set_up(world, send, out, *slots, channel); }
    if (receive.is_here) { set_up(world, receive, in, *slots, channel); }
    for (const int rank : {send.rank, receive.rank}) // the uploads of both sides are in flight now
    {
        if (world.is_here(rank)) { world.setup_queue(rank).synchronize(GpuQueue::Wait::Spins); }
    }
    send.slots = receive.slots = slots;
}

// Uploads the image of a prequest: the prequest, its arrays and, with the progression engine, its transport to the proxy.
void GpuPartitioned::Requests::set_up(GpuWorld& world, GpuSendRequest::Of& send, PartitionedSendRoute out,
                                      const SlotsOfPair& slots, int channel)
{
    const auto of_signals = static_cast<std::size_t>(slots.signals);
    const std::size_t of_proxy = slots.is_carried ? 1 : 0;
    ObjectImage image;
    const std::size_t at = image.add<SendPrequest>(1), arrivals = image.add<ArrivalCounter<CudaAtomics>>(of_signals);
    const std::size_t read = image.add(std::vector<Word>(of_proxy * of_signals, out.first_epoch - 1));
    const std::size_t to_proxy = image.add<GpuProxyTransport>(of_proxy);
    GpuQueue& queue = world.setup_queue(send.rank);
    send.memory = ObjectPool::take(world.pool(send.rank), queue, image.size());
    SendPrequest sender{{}, send.buffer, nullptr, world.watch(send.rank), channel};
    GpuProxyTransport* way = nullptr;
    if (slots.is_carried)
    {
        out.staging = send.place_for_proxy(queue);
        sender.buffer = nullptr; // marked partitions are already where the proxy reads
        sender.read = send.memory.at<Word>(read);
        way = send.memory.at<GpuProxyTransport>(to_proxy);
        image.put(to_proxy, send.reserve_proxy(world, slots.signals, slots.first_signal, sender.read));
    }
    sender.core = {out, way, send.memory.at<ArrivalCounter<CudaAtomics>>(arrivals)};
    image.put(at, sender);
    image.upload(queue, send.memory);
}

void GpuPartitioned::Requests::set_up(GpuWorld& world, GpuReceiveRequest::Of& receive, PartitionedReceiveRoute in,
                                      const SlotsOfPair& slots, int channel)
{
    ObjectImage image;
    const std::size_t at = image.add<ReceivePrequest>(1), to_proxy = image.add<GpuProxyTransport>(slots.is_carried ? 1 : 0);
    GpuQueue& queue = world.setup_queue(receive.rank);
    receive.memory = ObjectPool::take(world.pool(receive.rank), queue, image.size());
    GpuProxyTransport* way = nullptr;
    if (slots.is_carried)
    {
        way = receive.memory.at<GpuProxyTransport>(to_proxy);
        image.put(to_proxy, receive.reserve_proxy(world, 1, slots.credit, nullptr));
    }
    image.put(at, ReceivePrequest{{in, way}, world.watch(receive.rank), channel});
    image.upload(queue, receive.memory);
}

GpuPartitioned::GpuPartitioned(GpuWorld& world) : world_(world), requests_(std::make_unique<Requests>())
{
    for (int r = world.here().first; r < world.here().first + world.here().count; ++r)
    {
        ObjectPool::take(world.pool(r), world.setup_queue(r), 1); // allocates the pool's first block before any request
    }
}
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
    const bool has_partitions = partitioning.partitions >= 1 && partitioning.partitions <= most_partitions;
    if (is_rank(rank) && is_rank(envelope.peer) && has_partitions && product_of(partitioning.partitions, partitioning.bytes, 1))
    {
        return;
    }
    refuse(Misuse::BadArgument,
           fmt::format("{}: {} partitions of {} bytes, among {} ranks.", label_of(rank, envelope.peer, envelope),
                       partitioning.partitions, partitioning.bytes, world.ranks()));
}

// Throws if the two sides differ in size. It comes before matching, so that a refused request does not use up the other side's.
void expect_same_bytes(const std::string& label, std::size_t source, std::size_t destination)
{
    if (source == destination) { return; }
    refuse(Misuse::BytesDiffer,
           fmt::format("{}: the buffer has {} bytes at the source and {} at the destination.", label, source, destination));
}

} // namespace

GpuSendRequest GpuPartitioned::psend_init(int rank, const std::byte* buffer, Partitioning partitioning, const Envelope& envelope,
                                          const SendOptions& options, Mechanism mechanism)
{
    check_arguments(world_, rank, partitioning, envelope);
    auto of = std::make_shared<GpuSendRequest::Of>();
    of->rank = rank;
    of->peer = envelope.peer;
    of->is_here = world_.is_here(rank);
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
    if (mechanism == Mechanism::KernelCopy)
    {
        world_.expect_one_node(std::array{rank, envelope.peer}, of->label + ", kernel copy");
    }
    const Requests::Key key{rank, envelope.peer, envelope.tag, envelope.group};
    Requests::Unmatched& unmatched = requests_->unmatched[key];
    if (!unmatched.receives.empty())
    {
        expect_same_bytes(of->label, of->total_bytes(), unmatched.receives.front()->total_bytes());
    }
    requests_->all.insert(of);
    unmatched.sends.push_back(of);
    requests_->match(world_, key);
    return GpuSendRequest(of);
}

GpuReceiveRequest GpuPartitioned::precv_init(int rank, Window buffer, Partitioning partitioning, const Envelope& envelope)
{
    check_arguments(world_, rank, partitioning, envelope);
    auto of = std::make_shared<GpuReceiveRequest::Of>();
    of->rank = rank;
    of->peer = envelope.peer;
    of->is_here = world_.is_here(rank);
    of->partitioning = partitioning;
    of->label = label_of(envelope.peer, rank, envelope);
    of->phase = world_.phase();
    of->window = buffer;
    of->buffer = world_.data(rank, buffer);
    if (of->total_bytes() > buffer.bytes)
    {
        refuse(Misuse::NotSymmetric, fmt::format("{}: {} bytes in a window of {}.", of->label, of->total_bytes(), buffer.bytes));
    }
    const Requests::Key key{envelope.peer, rank, envelope.tag, envelope.group};
    Requests::Unmatched& unmatched = requests_->unmatched[key];
    if (!unmatched.sends.empty()) { expect_same_bytes(of->label, unmatched.sends.front()->total_bytes(), of->total_bytes()); }
    requests_->all.insert(of);
    unmatched.receives.push_back(of);
    requests_->match(world_, key);
    return GpuReceiveRequest(of);
}

template <class Of>
void GpuPartitioned::free(const std::shared_ptr<Of>& of)
{
    if (!of->slots) { refuse_unmatched(of->label, of->peer); }
    if (of->is_here)
    {
        const auto now = download_object(world_.setup_queue(of->rank), of->prequest());
        if (now.started != now.ended) { refuse(Misuse::Active, fmt::format("{}: it was freed while active.", of->label)); }
    }
    if (requests_->all.erase(of) == 0) { refuse(Misuse::Null, fmt::format("{}: it has been freed before.", of->label)); }
    SlotsOfPair& slots = *of->slots;
    if (++slots.freed_sides < 2) { return; }
    world_.memory().release_signals(slots.source, slots.credit, 1);
    world_.memory().release_signals(slots.destination, slots.first_signal, slots.signals);
    if (slots.is_carried && world_.is_here(slots.source)) { world_.proxy(slots.source).release(slots.signals); }
    if (slots.is_carried && world_.is_here(slots.destination)) { world_.proxy(slots.destination).release(1); }
}
void GpuPartitioned::free(GpuSendRequest request) { free(request.of_); }
void GpuPartitioned::free(GpuReceiveRequest request) { free(request.of_); }

} // namespace parhelion
