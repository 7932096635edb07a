// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/requests.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <type_traits>

namespace parhelion {

namespace {

// What each side leaves for the other.
struct SendSide
{
    int partitions, per_signal;
    std::size_t total_bytes;
    std::size_t credit; // index of its slot
    Word first_epoch;   // the least
};
struct ReceiveSide
{
    int partitions;
    std::size_t total_bytes;
    std::size_t offset; // of the buffer in the payload arena
    std::size_t signal; // index of the first slot
    Word first_epoch;
};

// The note of a credit by a destination that has been freed.
constexpr std::size_t freed_note = 1;

std::string key_of(bool is_send, const std::string& name)
{
    return fmt::format("partitioned {} {}", is_send ? "send" : "receive", name);
}

template <class Side>
void leave(World& world, bool is_send, const std::string& name, const Side& side)
{
    static_assert(std::is_trivially_copyable_v<Side>);
    Bytes bytes(sizeof side);
    std::memcpy(bytes.data(), &side, sizeof side);
    world.bootstrap().put(key_of(is_send, name), std::move(bytes));
}

template <class Side>
std::optional<Side> find(World& world, bool is_send, const std::string& name)
{
    const std::optional<Bytes> bytes = world.bootstrap().get(key_of(is_send, name));
    if (!bytes) { return std::nullopt; }
    PARHELION_EXPECTS(bytes->size() == sizeof(Side));
    Side side;
    std::memcpy(&side, bytes->data(), sizeof side);
    return side;
}

Word later(Word a, Word b) { return reached(a, b) ? a : b; }

std::string differing_bytes(std::size_t here, std::size_t there)
{
    return fmt::format("the buffer has {} bytes here and {} at the other side", here, there);
}

} // namespace

// --- what both sides do

RequestState::RequestState(PartitionedEngine& engine, Partitioning partitioning, Envelope envelope, std::string name)
    : engine_(engine), partitioning_(partitioning), envelope_(std::move(envelope)), name_(std::move(name))
{
}

RequestState::~RequestState() { engine_.forget(*this); }

std::string RequestState::text() const
{
    const std::string group = envelope_.group.empty() ? "" : fmt::format(", group '{}'", envelope_.group);
    return fmt::format("{}, tag {}{}, epoch {}", name_.substr(0, name_.find(',')), envelope_.tag, group, nth_);
}

void RequestState::refuse(Misuse misuse, const std::string& why) const
{
    throw PartitionedError(misuse, fmt::format("Partitioned message {}: {}.", text(), why));
}

void RequestState::break_off(Misuse misuse, std::string why) { broken_ = {misuse, std::move(why)}; }

void RequestState::expect_whole() const
{
    if (broken_) { refuse(broken_->first, broken_->second); }
}

void RequestState::check_partition(int partition) const
{
    if (partition >= 0 && partition < partitioning_.partitions) { return; }
    refuse(Misuse::PartitionOutOfRange, fmt::format("there is no partition {} of {}", partition, partitioning_.partitions));
}

void RequestState::start()
{
    expect_whole();
    if (is_active_) { refuse(Misuse::Active, "start() before the last epoch was waited for"); }
    {
        const std::scoped_lock lock(engine_.mutex());
        ++nth_;
        is_active_ = true;
    }
    begin_epoch();
    if (!advance()) { engine_.list(*this); }
}

void RequestState::pbuf_prepare()
{
    if (!is_active_) { refuse(Misuse::NotActive, "pbuf_prepare() before start()"); }
    engine_.wait_until(*this, [&] { return knows_peer(); });
}

bool RequestState::test()
{
    if (!is_active_) { return true; }
    engine_.advance();
    expect_whole();
    if (!is_complete()) { return false; }
    end_epoch();
    return true;
}

void RequestState::finish()
{
    if (!is_active_) { return; }
    engine_.wait_until(*this, [&] { return is_complete(); });
    end_epoch();
}

void RequestState::end_epoch()
{
    const std::scoped_lock lock(engine_.mutex());
    is_active_ = false;
}

// --- the source

SendState::SendState(PartitionedEngine& engine, const std::byte* buffer, Partitioning partitioning, Envelope envelope,
                     std::string name, const SendOptions& options)
    : RequestState(engine, partitioning, std::move(envelope), std::move(name)), buffer_(buffer),
      credit_(engine.take_signals(1, options.first_epoch - 1)), first_epoch_(later(options.first_epoch, credit_.shown + 1)),
      per_signal_(std::min(options.per_signal, partitioning.partitions)),
      marks_(static_cast<std::size_t>(partitioning.partitions), taken_in(0))
{
    leave(engine.world(), true, this->name(),
          SendSide{partitioning.partitions, per_signal_, total_bytes(), credit_.first, first_epoch_});
}

SendState::~SendState()
{
    // Who has never heard of the destination keeps its credit slot: a credit may still come.
    if (!is_connected_.load(std::memory_order_relaxed)) { return; }
    const Word last = core_.epoch(nth() + 1);
    engine().retire({credit_.first, credit_.count, last}, staging_, last);
}

bool SendState::connect()
{
    if (is_connected_.load(std::memory_order_relaxed)) { return true; }
    World& world = engine().world();
    const std::optional<ReceiveSide> there = find<ReceiveSide>(world, false, name());
    if (!there) { return false; }
    if (there->total_bytes != total_bytes())
    {
        break_off(Misuse::BytesDiffer, differing_bytes(total_bytes(), there->total_bytes));
        return false;
    }
    PartitionedSendRoute route{};
    route.source = engine().rank();
    route.destination = envelope().peer;
    route.counts = {partitioning().partitions, there->partitions, per_signal_};
    route.partition_bytes = partitioning().bytes;
    route.offset = there->offset;
    route.signal = there->signal;
    route.payload = world.transport().reach_payload(route.source, route.destination, there->offset);
    route.signals = world.transport().reach_signal(route.source, route.destination, there->signal);
    route.credit = world.memory().signal(route.source, credit_.first);
    route.first_epoch = there->first_epoch;
    if (route.payload == nullptr)
    {
        engine().settle_retired();
        staging_ = world.memory().allocate(route.source, total_bytes());
        route.staging = world.memory().payload(route.source, staging_.offset);
    }
    arrivals_.resize(static_cast<std::size_t>(route.counts.signals()));
    core_ = {route, &world.transport(), arrivals_.data()};
    is_connected_.store(true, std::memory_order_release); // core_ -> threads that mark partitions
    return true;
}

bool SendState::may_write() const
{
    return knows_peer() && HostAtomics::load_relaxed_system(&core_.route().credit->bytes) != freed_note;
}

void SendState::pready(int partition)
{
    if (!is_active()) { refuse(Misuse::NotActive, "pready() outside start() and wait()"); }
    check_partition(partition);
    Word expected = taken_in(nth() - 1);
    // Release: what this thread knows of the buffer -> whoever takes the partition.
    if (!std::atomic_ref(marks_[static_cast<std::size_t>(partition)])
             .compare_exchange_strong(expected, ready_in(nth()), std::memory_order_release, std::memory_order_relaxed))
    {
        refuse(Misuse::ReadyTwice, fmt::format("partition {} has been marked ready before", partition));
    }
    // If not now, then in advance(), which looks at all marks after it has seen the credit.
    if (may_write()) { send_if_ready(partition); }
}

// Whoever takes the partition sends it: the thread that has marked it, or advance().
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
    if (bytes > 0) { std::memcpy(core_.place(partition), buffer_ + p * bytes, bytes); }
    if (core_.arrive(partition, nth()) == Arrival::Last) { published_.fetch_add(1, std::memory_order_release); }
}

bool SendState::advance()
{
    if (is_broken() || !connect()) { return is_broken(); }
    if (!is_active() || is_complete()) { return true; }
    if (!knows_peer()) { return false; }
    if (!may_write())
    {
        break_off(Misuse::PeerFreed, fmt::format("rank {} has freed its request", envelope().peer));
        return true;
    }
    help();
    return is_complete();
}

void SendState::help()
{
    if (!is_active() || !may_write()) { return; }
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
    return {engine().rank(), envelope().peer, -1, is_connected ? Awaited::Credit : Awaited::Opening, nth(), seen, seen,
            *watch.tag};
}

// --- the destination

ReceiveState::ReceiveState(PartitionedEngine& engine, std::byte* buffer, Partitioning partitioning, Envelope envelope,
                           std::string name)
    : RequestState(engine, partitioning, std::move(envelope), std::move(name)), buffer_(buffer)
{
}

ReceiveState::~ReceiveState()
{
    // Of an active epoch, which is there only when something went wrong, a signal may be under way: the slots stay taken.
    if (!is_connected_.load(std::memory_order_relaxed) || is_active()) { return; }
    core_.prepare(nth() + 1, freed_note);
    engine().give_back({signals_.first, signals_.count, core_.epoch(nth())});
}

bool ReceiveState::connect()
{
    if (is_connected_.load(std::memory_order_relaxed)) { return true; }
    World& world = engine().world();
    const std::optional<SendSide> there = find<SendSide>(world, true, name());
    if (!there) { return false; }
    const int rank = engine().rank();
    ReceiveSide here{partitioning().partitions, total_bytes(), 0, 0, there->first_epoch};
    if (there->total_bytes != total_bytes())
    {
        leave(world, false, name(), here); // so that the source knows, too
        break_off(Misuse::BytesDiffer, differing_bytes(total_bytes(), there->total_bytes));
        return true;
    }
    PartitionedReceiveRoute route{};
    route.source = envelope().peer;
    route.destination = rank;
    route.counts = {there->partitions, partitioning().partitions, there->per_signal};
    signals_ = engine().take_signals(route.counts.signals(), there->first_epoch - 1);
    here.first_epoch = later(there->first_epoch, signals_.shown + 1);
    here.offset = total_bytes() == 0 ? 0 : static_cast<std::size_t>(buffer_ - world.memory().payload(rank, 0));
    here.signal = signals_.first;
    route.credit = there->credit;
    route.signals = world.memory().signal(rank, signals_.first);
    route.credit_there = world.transport().reach_signal(rank, envelope().peer, there->credit);
    route.first_epoch = here.first_epoch;
    core_ = {route, &world.transport()};
    leave(world, false, name(), here);
    if (is_active()) { core_.prepare(nth(), 0); }         // not freed: a slot that is used again may show so
    is_connected_.store(true, std::memory_order_release); // core_ -> threads that ask for partitions
    return true;
}

void ReceiveState::begin_epoch()
{
    arrived_ = 0;
    if (is_connected_.load(std::memory_order_relaxed)) { core_.prepare(nth(), 0); }
}

bool ReceiveState::parrived(int partition)
{
    check_partition(partition);
    if (!is_active() || (knows_peer() && core_.has_arrived(partition, nth()))) { return true; }
    engine().advance(); // who asks again and again waits
    return false;
}

bool ReceiveState::is_complete()
{
    if (!is_connected_.load(std::memory_order_relaxed)) { return false; }
    arrived_ = core_.signals_in_a_row(nth(), arrived_);
    return arrived_ == signals_.count;
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

// --- all requests of a rank

int PartitionedEngine::next_number(const Envelope& envelope, bool is_send)
{
    return made_[{envelope.peer, envelope.tag, envelope.group, is_send}]++;
}

std::string PartitionedEngine::next_name(const Envelope& envelope, bool is_send)
{
    const int number = next_number(envelope, is_send);
    const int source = is_send ? rank_ : envelope.peer, destination = is_send ? envelope.peer : rank_;
    return fmt::format("from rank {} to rank {}, number {} of tag {} of group {}", source, destination, number, envelope.tag,
                       envelope.group);
}

void PartitionedEngine::list(RequestState& state)
{
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(state.is_listed, true)) { listed_.push_back(&state); }
}

void PartitionedEngine::forget(RequestState& state)
{
    const std::scoped_lock lock(mutex_);
    if (state.is_listed) { std::erase(listed_, &state); }
}

void PartitionedEngine::advance()
{
    world_.transport().progress();
    if (std::this_thread::get_id() != owner_)
    {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) { return; } // another thread is at it
        for (RequestState* const state : listed_) { state->help(); }
        return;
    }
    const std::scoped_lock lock(mutex_);
    std::erase_if(listed_, [](RequestState* state) {
        state->is_listed = !state->advance();
        return !state->is_listed;
    });
}

template <class Done>
void PartitionedEngine::wait_until(RequestState& state, Done&& done)
{
    Patience<HostAtomics> patience(watch());
    for (bool is_last_look = false;;)
    {
        advance();
        if (state.is_broken()) { state.test(); } // which throws
        if (done()) { return; }
        if (is_last_look)
        {
            const Verdict verdict = fail<HostAtomics>(watch(), state.record(watch()));
            world_.throw_failure(rank_, verdict,
                                 fmt::format("Rank {} timed out after {:g} s waiting for {}: partitioned message {}.", rank_,
                                             static_cast<double>(watch().deadline_ns) * 1e-9, state.lacks(), state.text()));
        }
        const Verdict verdict = patience.next();
        if (verdict == Verdict::Aborted) { world_.throw_failure(rank_, verdict); }
        is_last_look = verdict == Verdict::Expired;
    }
}

SignalBlock PartitionedEngine::take_signals(int count, Word shown)
{
    settle_retired();
    std::vector<SignalBlock>& used = free_signals_[count];
    if (used.empty()) { return {world_.memory().reserve_signals(rank_, count, shown), count, shown}; }
    const SignalBlock block = used.back();
    used.pop_back();
    return block;
}

void PartitionedEngine::settle_retired()
{
    std::erase_if(retired_, [&](const Retired& r) {
        SignalSlot* const credit = world_.memory().signal(rank_, r.credit.first);
        if (!shows<HostAtomics>(credit, r.last)) { return false; }
        world_.memory().release(rank_, r.staging); // all of it has been read, before that credit
        give_back(r.credit);
        return true;
    });
}

} // namespace parhelion
