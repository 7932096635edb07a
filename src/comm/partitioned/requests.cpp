// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/requests.hpp"

#include "comm/core/copy_to_peer.hpp"
#include "comm/core/failures.hpp"
#include "comm/partitioned/engine.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <type_traits>

namespace parhelion {

namespace {

// The introductions that the two sides send each other.
struct SendSide
{
    int partitions, per_signal;
    std::size_t total_bytes;
    std::size_t credit; // index of the credit slot
    Word first_epoch;   // least first epoch that the source can use
};
struct ReceiveSide
{
    int partitions;
    std::size_t total_bytes;
};
constexpr std::size_t no_slots = ~std::size_t{0};
struct Place
{
    int partitions;     // number of partitions at the destination
    std::size_t offset; // offset of the buffer in the destination's payload arena
    std::size_t signal; // index of the first signal slot, or no_slots if none are left
    Word first_epoch;
};

std::string differing_bytes(int here, std::size_t bytes_here, int there, std::size_t bytes_there)
{
    return fmt::format("the buffer has {} bytes at rank {} and {} at rank {}", bytes_here, here, bytes_there, there);
}

// Returns the latest epoch that a slot may show, from what this side and the other side say.
Word latest(Word here, const std::vector<Partner>& partners)
{
    const Parting& there = *partners[0].parting;
    return there.epochs > 0 ? later(here, there.shown) : here;
}

} // namespace

// --- the source

SendState::SendState(PartitionedEngine& engine, const std::byte* buffer, Partitioning partitioning, Envelope envelope,
                     RequestName name, const SendOptions& options)
    : RequestState(engine, partitioning, envelope, std::move(name), {{envelope.peer}}), buffer_(buffer),
      credit_(engine.signals().take(1, options.first_epoch - 1)), first_epoch_(later(options.first_epoch, credit_.shown + 1)),
      per_signal_(std::min(options.per_signal, partitioning.partitions)),
      marks_(static_cast<std::size_t>(partitioning.partitions), taken_in(0))
{
    if (engine.world().transport().reach_payload(engine.rank(), envelope.peer, 0) != nullptr) { return; }
    try
    {
        staging_ = engine.allocate(total_bytes());
    }
    catch (...)
    {
        engine.signals().give_back(credit_);
        throw;
    }
}

SendState::~SendState()
{
    if (is_active() && !is_broken())
    {
        engine().abandon(*this);
        return;
    }
    const bool is_connected = is_connected_.load(std::memory_order_relaxed);
    const Word shown = is_connected && nth() > 0 ? core_.epoch(nth()) : credit_.shown;
    // When give_back is called, all of the staging memory has been read, as the other side has seen the signals.
    engine().part(*this, {is_connected ? nth() : 0, shown},
                  [&engine = engine(), credit = credit_, staging = staging_, shown](const std::vector<Partner>& partners) {
                      engine.signals().give_back({credit.first, credit.count, latest(shown, partners)});
                      engine.world().memory().release(engine.rank(), staging);
                      return true;
                  });
}

Bytes SendState::introduction(std::size_t) const
{
    return bytes_of(SendSide{partitioning().partitions, per_signal_, total_bytes(), credit_.first, first_epoch_});
}

void SendState::agree(std::size_t, const Bytes& introduction)
{
    const auto there = from_bytes<ReceiveSide>(introduction);
    if (there.total_bytes == total_bytes()) { return; }
    break_off(Misuse::BytesDiffer, differing_bytes(engine().rank(), total_bytes(), envelope().peer, there.total_bytes));
}

void SendState::place(const Bytes& answer)
{
    World& world = engine().world();
    const auto there = from_bytes<Place>(answer);
    if (there.signal == no_slots)
    {
        return break_off(std::make_exception_ptr(LimitReached(
            fmt::format("Partitioned message {}: rank {} has no signal slots left for it.", text(), envelope().peer))));
    }
    PartitionedSendRoute route{};
    route.source = engine().rank();
    route.destination = envelope().peer;
    route.counts = {partitioning().partitions, there.partitions, per_signal_};
    route.partition_bytes = partitioning().bytes;
    route.offset = there.offset;
    route.signal = there.signal;
    route.payload = world.transport().reach_payload(route.source, route.destination, there.offset);
    route.signals = world.transport().reach_signal(route.source, route.destination, there.signal);
    route.credit = world.memory().signal(route.source, credit_.first);
    route.first_epoch = there.first_epoch;
    if (route.payload == nullptr) { route.staging = world.memory().payload(route.source, staging_.offset); }
    arrivals_.resize(static_cast<std::size_t>(route.counts.signals()));
    core_ = {route, &world.transport(), arrivals_.data()};
    is_connected_.store(true, std::memory_order_release); // releases core_ to threads that mark partitions
    if (is_active()) { engine().list_locked(*this); }
}

void SendState::expect_unmarked(int partition) const
{
    const Word mark = std::atomic_ref(marks_[static_cast<std::size_t>(partition)]).load(std::memory_order_relaxed);
    if (mark != taken_in(nth() - 1)) { refuse_second_mark(partition); }
}

void SendState::mark(int partition)
{
    Word expected = taken_in(nth() - 1);
    // Releases the buffer's contents, as this thread sees them, to the thread that takes the partition.
    if (!std::atomic_ref(marks_[static_cast<std::size_t>(partition)])
             .compare_exchange_strong(expected, ready_in(nth()), std::memory_order_release, std::memory_order_relaxed))
    {
        refuse_second_mark(partition);
    }
    // Otherwise advance() sends the partition later: it looks at all marks after it has seen the credit.
    if (knows_peer()) { send_if_ready(partition); }
}

void SendState::pready(int partition)
{
    expect_active("pready()");
    check_partition(partition);
    mark(partition);
}

void SendState::pready_range(int first, int last)
{
    if (first > last) { return; }
    expect_active("pready()");
    check_partition(first);
    check_partition(last);
    for (int p = first; p <= last; ++p) { expect_unmarked(p); }
    for (int p = first; p <= last; ++p) { mark(p); }
}

void SendState::pready_list(std::span<const int> partitions)
{
    expect_active("pready()");
    std::vector<int> sorted(partitions.begin(), partitions.end());
    std::sort(sorted.begin(), sorted.end());
    for (const int p : sorted)
    {
        check_partition(p);
        expect_unmarked(p);
    }
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    {
        refuse_second_mark(*twice);
    }
    for (const int p : partitions) { mark(p); }
}

// Sends a partition that is marked and not taken. The thread that has marked it takes it, or a thread in advance().
void SendState::send_if_ready(int partition)
{
    const auto p = static_cast<std::size_t>(partition);
    Word expected = ready_in(nth());
    if (!std::atomic_ref(marks_[p]).compare_exchange_strong(expected, taken_in(nth()), std::memory_order_acquire,
                                                            std::memory_order_relaxed))
    {
        return;
    }
    const std::size_t bytes = partitioning().bytes;
    copy_to_peer(core_.place(partition), buffer_ + p * bytes, bytes, marks_.size() * bytes);
    if (core_.arrive(partition, nth()) == Arrival::Last) { published_.fetch_add(1, std::memory_order_release); }
}

bool SendState::advance()
{
    if (is_broken() || !is_connected_.load(std::memory_order_relaxed)) { return true; } // idle until a letter comes
    if (!is_active() || is_complete()) { return true; }
    help();
    return is_complete();
}

void SendState::help()
{
    if (!is_active() || !knows_peer()) { return; }
    for (int p = 0; p < partitioning().partitions; ++p) { send_if_ready(p); }
}

bool SendState::is_complete()
{
    return is_connected_.load(std::memory_order_relaxed) &&
           published_.load(std::memory_order_acquire) == nth() * static_cast<Word>(core_.route().counts.signals());
}

int SendState::count_ready()
{
    int ready = 0;
    for (Word& mark : marks_)
    {
        const Word seen = std::atomic_ref(mark).load(std::memory_order_relaxed);
        ready += seen == ready_in(nth()) || seen == taken_in(nth()) ? 1 : 0;
    }
    return ready;
}

std::string SendState::lacks()
{
    const int all = partitioning().partitions, ready = count_ready();
    if (!is_connected_.load(std::memory_order_relaxed)) { return fmt::format("rank {} to call precv_init", envelope().peer); }
    if (!knows_peer()) { return fmt::format("rank {} to start the epoch", envelope().peer); }
    return fmt::format("{} of {} partitions of its own to be marked ready", all - ready, all);
}

FailureRecord SendState::record(const Watch& watch)
{
    const bool is_connected = is_connected_.load(std::memory_order_relaxed);
    const Word seen = is_connected ? HostAtomics::load_relaxed_system(&core_.route().credit->epoch) : 0;
    const Awaited awaited = knows_peer() ? Awaited::Ready : is_connected ? Awaited::Credit : Awaited::Opening;
    return {engine().rank(), envelope().peer, -1, awaited, nth(), seen, seen, *watch.tag};
}

// --- the destination

ReceiveState::ReceiveState(PartitionedEngine& engine, std::byte* buffer, std::byte* place, Partitioning partitioning,
                           Envelope envelope, RequestName name)
    : RequestState(engine, partitioning, envelope, std::move(name), {{envelope.peer}}), place_(place)
{
    if (buffer != place) { copies_out_.emplace(buffer, place, partitioning.partitions, partitioning.bytes); }
}

ReceiveState::~ReceiveState()
{
    // A request is destroyed in an active epoch only after an error. A signal may still be in flight, so the slots stay taken.
    if (is_active() && !is_broken())
    {
        engine().abandon(*this);
        return;
    }
    if (copies_out_) { engine().world().memory().release(engine().rank(), {offset(), round_up_window(total_bytes())}); }
    const bool is_connected = is_connected_.load(std::memory_order_relaxed);
    const Word shown = is_connected && nth() > 0 ? core_.epoch(nth()) : signals_.shown;
    PartitionedEngine::GiveBack give_back;
    if (is_connected)
    {
        give_back = [&engine = engine(), signals = signals_, shown](const std::vector<Partner>& partners) {
            engine.signals().give_back({signals.first, signals.count, latest(shown, partners)});
            return true;
        };
    }
    engine().part(*this, {is_connected ? nth() : 0, shown}, std::move(give_back));
}

std::size_t ReceiveState::offset() const
{
    return static_cast<std::size_t>(place_ - engine().world().memory().payload(engine().rank(), 0));
}

Bytes ReceiveState::introduction(std::size_t) const { return bytes_of(ReceiveSide{partitioning().partitions, total_bytes()}); }

void ReceiveState::agree(std::size_t, const Bytes& introduction)
{
    const auto there = from_bytes<SendSide>(introduction);
    if (there.total_bytes == total_bytes()) { return; }
    break_off(Misuse::BytesDiffer, differing_bytes(engine().rank(), total_bytes(), envelope().peer, there.total_bytes));
}

void ReceiveState::meet(std::size_t, const Bytes& introduction)
{
    World& world = engine().world();
    const int rank = engine().rank(), peer = envelope().peer;
    const auto there = from_bytes<SendSide>(introduction);
    PartitionedReceiveRoute route{};
    route.source = peer;
    route.destination = rank;
    route.counts = {there.partitions, partitioning().partitions, there.per_signal};
    Place here{partitioning().partitions, 0, no_slots, 0};
    try
    {
        signals_ = engine().signals().take(route.counts.signals(), there.first_epoch - 1);
    }
    catch (const LimitReached&)
    {
        engine().answer(*this, peer, Letter::Kind::Placed, bytes_of(here)); // so that the source also knows of the failure
        return break_off(std::current_exception());
    }
    here.first_epoch = later(there.first_epoch, signals_.shown + 1);
    here.offset = total_bytes() == 0 ? 0 : offset();
    here.signal = signals_.first;
    route.credit = there.credit;
    route.signals = world.memory().signal(rank, signals_.first);
    route.credit_there = world.transport().reach_signal(rank, peer, there.credit);
    route.first_epoch = here.first_epoch;
    core_ = {route, &world.transport()};
    engine().answer(*this, peer, Letter::Kind::Placed, bytes_of(here));
    if (is_active()) { core_.prepare(nth()); }
    is_connected_.store(true, std::memory_order_release); // releases core_ to threads that ask for partitions
}

void ReceiveState::begin_epoch()
{
    arrived_ = 0;
    if (is_connected_.load(std::memory_order_relaxed)) { core_.prepare(nth()); }
}

bool ReceiveState::parrived(int partition)
{
    check_partition(partition);
    if (!is_active()) { return true; }
    if (knows_peer() && core_.has_arrived(partition, nth()) && (!copies_out_ || copies_out_->take(partition, nth())))
    {
        return true;
    }
    poll();
    return false;
}

bool ReceiveState::is_complete()
{
    if (!is_connected_.load(std::memory_order_relaxed)) { return false; }
    arrived_ = core_.signals_in_a_row(nth(), arrived_);
    return arrived_ == signals_.count && (!copies_out_ || copies_out_->take_all(nth()));
}

std::string ReceiveState::lacks()
{
    const int peer = envelope().peer;
    if (!is_connected_.load(std::memory_order_relaxed)) { return fmt::format("rank {} to call psend_init", peer); }
    return fmt::format("signal {} of {} from rank {}", arrived_ + 1, signals_.count, peer);
}

FailureRecord ReceiveState::record(const Watch& watch)
{
    const bool is_connected = is_connected_.load(std::memory_order_relaxed);
    const Word seen = is_connected ? HostAtomics::load_relaxed_system(&core_.route().signals[arrived_].epoch) : 0;
    return {engine().rank(), envelope().peer, -1, is_connected ? Awaited::Signal : Awaited::Opening, nth(), seen, 0, *watch.tag};
}

} // namespace parhelion
