// SPDX-License-Identifier: Apache-2.0
#include "comm/world/world.hpp"

#include "base/error.hpp"
#include "comm/core/failures.hpp"
#include "comm/world/communicator.hpp"

#include <cstring>
#include <fmt/format.h>
#include <type_traits>

namespace parhelion {

namespace {

SymmetricMemory memory_from(Bootstrap& bootstrap, const WorldOptions& options)
{
    std::vector<SymmetricMemory::Arenas> arenas;
    for (int r = 0; r < bootstrap.ranks(); ++r)
    {
        std::byte* const signals = bootstrap.pages("signals", r, options.signal_slots * sizeof(SignalSlot));
        arenas.push_back({bootstrap.pages("payload", r, options.payload_bytes), reinterpret_cast<SignalSlot*>(signals)});
    }
    const auto show = [](int, SignalSlot* first, int count, Word shown) {
        for (SignalSlot* slot = first; slot != first + count; ++slot) { *slot = {shown, 0}; }
    };
    return SymmetricMemory(std::move(arenas), options.payload_bytes, options.signal_slots, show);
}

int first_within_reach(const SymmetricMemory& memory)
{
    int rank = 0;
    while (!memory.reaches(rank)) { ++rank; }
    return rank;
}

// Returns the key under which one end of a channel is stored for the other rank.
std::string key_of(const char* what, const ChannelName& name, const std::string& label)
{
    return fmt::format("{} from rank {} to rank {}: {}", what, name.source, name.destination, label);
}
constexpr const char* sends = "sends";
constexpr const char* receives = "receives";

template <class End>
Bytes bytes_of(const End& end)
{
    static_assert(std::is_trivially_copyable_v<End>);
    Bytes bytes(sizeof end);
    std::memcpy(bytes.data(), &end, sizeof end);
    return bytes;
}

} // namespace

World::World(Network network, const WorldOptions& options)
    : bootstrap_(std::move(network.bootstrap)), memory_(memory_from(*bootstrap_, options)), deadline_(options.deadline),
      tag_name_(options.tag_name), keeper_(first_within_reach(memory_)),
      first_failure_(reinterpret_cast<FirstFailure*>(bootstrap_->pages("first failure", keeper_, sizeof(FirstFailure)))),
      of_ranks_(static_cast<std::size_t>(bootstrap_->ranks()))
{
    for (int r = 0; r < ranks(); ++r)
    {
        if (memory_.reaches(r)) { abort_slots_.push_back(memory_.signal(r, SymmetricMemory::abort_signal)); }
    }
    transport_ = network.make_transport(memory_);
    for (int r = 0; r < ranks(); ++r)
    {
        of(r).watch = {r,
                       static_cast<int>(abort_slots_.size()),
                       deadline_.count(),
                       memory_.signal(r, SymmetricMemory::abort_signal),
                       abort_slots_.data(),
                       first_failure_,
                       &of(r).tag,
                       nullptr,
                       transport_.get()};
    }
    bootstrap_->listen({[this](const std::string& sentence) { lose(sentence); }, [this](const Notice& notice) { hear(notice); }});
}

World::~World() { bootstrap_->listen({}); }

void World::pause_deadlines(int rank)
{
    HostAtomics::fetch_add_relaxed_system(&first_failure_->pauses, one_pauses);
    bootstrap_->tell({Notice::Kind::Paused, rank});
}

void World::resume_deadlines(int rank)
{
    HostAtomics::fetch_add_relaxed_system(&first_failure_->pauses, one_resumes);
    bootstrap_->tell({Notice::Kind::Resumed, rank});
}

// Sets the second word of the rank's abort slot, unless the run has failed. A rank that ends because of a failure would otherwise
// look like the lost rank to a rank that learns of the failure later.
void World::leave(int rank)
{
    if (!is_whole(rank)) { return; }
    HostAtomics::store_release_system(&memory_.signal(rank, SymmetricMemory::abort_signal)->bytes, 1);
}

bool World::has_left(int rank) const
{
    SignalSlot* const slot = memory_.signal(rank, SymmetricMemory::abort_signal);
    return slot != nullptr && HostAtomics::load_acquire_system(&slot->bytes) != 0;
}

bool World::is_whole(int rank) const { return HostAtomics::load_acquire_system(&watch(rank).own_abort->epoch) == 0; }

void World::expect_whole(int rank)
{
    if (!is_whole(rank)) { throw_failure(rank, Verdict::Aborted); }
}

void World::stop(int rank)
{
    if (!loss().empty()) { return; } // a loss is reported to all ranks with its reason, which stop() would hide
    const Verdict verdict = fail<HostAtomics>(watch(rank), {rank, rank, -1, Awaited::Nothing, 0, 0, 0, of(rank).tag});
    if (verdict == Verdict::Expired) { bootstrap_->tell({Notice::Kind::Failed, rank}); }
}

void World::hear(const Notice& notice)
{
    if (memory_.reaches(notice.rank)) { return; } // the rank has changed the record itself, in shared memory
    const bool keeps_record =
        keeper_ >= here().first && keeper_ < here().first + here().count; // one of the processes that share the record updates it
    switch (notice.kind)
    {
    case Notice::Kind::Paused:
        if (keeps_record) { HostAtomics::fetch_add_relaxed_system(&first_failure_->pauses, one_pauses); }
        return;
    case Notice::Kind::Resumed:
        if (keeps_record) { HostAtomics::fetch_add_relaxed_system(&first_failure_->pauses, one_resumes); }
        return;
    case Notice::Kind::Failed:
        if (HostAtomics::exchange_relaxed_system(&first_failure_->claimed, 1) != 0) { return; }
        first_failure_->record = {notice.rank, notice.rank, -1, Awaited::Nothing, 0, 0, 0, -1};
        for (SignalSlot* const slot : abort_slots_) { HostAtomics::store_release_system(&slot->epoch, 1); }
        return;
    }
}

void World::lose(const std::string& sentence)
{
    {
        const std::scoped_lock lock(loss_mutex_);
        loss_ = sentence;
        if (on_loss_) { on_loss_(sentence); }
    }
    end_waits_here();
}

void World::end_waits_here()
{
    for (int r = here().first; r < here().first + here().count; ++r)
    {
        HostAtomics::store_release_system(&watch(r).own_abort->epoch, 1);
    }
}

void World::on_loss(OnLoss listener)
{
    const std::scoped_lock lock(loss_mutex_);
    on_loss_ = std::move(listener);
    if (on_loss_ && !loss_.empty()) { on_loss_(loss_); }
}

std::string World::loss() const
{
    const std::scoped_lock lock(loss_mutex_);
    return loss_;
}

Communicator World::communicator(int rank)
{
    PARHELION_EXPECTS(rank >= here().first && rank < here().first + here().count);
    return Communicator(*this, rank);
}

SendChannel World::open_send(const std::string& label, int source, int destination, const ChannelOptions& options)
{
    const ChannelName name{source, destination, static_cast<int>(of(source).channels.size())};
    of(source).channels.emplace_back(label, options);
    static_cast<void>(receive_end(name)); // if the options differ, this throws before memory is reserved
    const SendEnd end = make_send_end(memory_, name, options);
    bootstrap_->put(key_of(sends, name, label), bytes_of(end));
    const SendRoute route = send_route(memory_, name, end);
    return SendChannel(*this, HostSender(route, transport_.get(), options.first_epoch), options.capacity);
}

ReceiveChannel World::open_receive(const std::string& label, int source, int destination, const ChannelOptions& options)
{
    const ChannelName name{source, destination, static_cast<int>(of(destination).channels.size())};
    of(destination).channels.emplace_back(label, options);
    static_cast<void>(send_end(name));
    const ReceiveEnd end = make_receive_end(memory_, name, options);
    bootstrap_->put(key_of(receives, name, label), bytes_of(end));
    const ReceiveRoute route = receive_route(memory_, name, end);
    return ReceiveChannel(*this, HostReceiver(route, transport_.get(), options.first_epoch), end.slots, options.capacity);
}

template <class End>
std::optional<End> World::find(const char* what, const ChannelName& name, int asker) const
{
    const auto& [label, options] = of(asker).channels[static_cast<std::size_t>(name.number)];
    const std::optional<Bytes> bytes = bootstrap_->get(key_of(what, name, label));
    if (!bytes) { return std::nullopt; }
    PARHELION_EXPECTS(bytes->size() == sizeof(End));
    End end;
    std::memcpy(&end, bytes->data(), sizeof end);
    if (end.options == options) { return end; }
    throw ContractError(fmt::format("The ends of channel '{}' from rank {} to rank {} differ in their options.", label,
                                    name.source, name.destination));
}

std::optional<SendEnd> World::send_end(const ChannelName& name) const { return find<SendEnd>(sends, name, name.destination); }

std::optional<ReceiveEnd> World::receive_end(const ChannelName& name) const
{
    return find<ReceiveEnd>(receives, name, name.source);
}

void World::throw_failure(int rank, Verdict verdict, const std::string& text)
{
    if (verdict == Verdict::Expired) // then the failure record is that of this rank
    {
        bootstrap_->tell({Notice::Kind::Failed, rank});
        throw_first_failure(rank, text);
    }
    if (const std::string sentence = loss(); !sentence.empty())
    {
        // If a wait has failed, the lost process may have ended because of that failure.
        const std::string why = fmt::format("Rank {} stopped: {}", rank, sentence);
        if (HostAtomics::load_relaxed_system(&first_failure_->claimed) != 0) { throw PeerAborted(why); }
        throw AbortedByLoss(why);
    }
    // A rank that fails second may be here before the first rank has written its record.
    const bool is_written = HostAtomics::load_acquire_system(&watch(rank).own_abort->epoch) != 0;
    throw PeerAborted(is_written ? fmt::format("Rank {} stopped because rank {} did.", rank, first_failure_->record.rank)
                                 : fmt::format("Rank {} stopped because another rank did.", rank));
}

// Throws the error of the failure record, which is this rank's own record.
void World::throw_first_failure(int rank, const std::string& text) const
{
    const FailureRecord& record = first_failure_->record;
    const auto label = [&] { return of(rank).channels[static_cast<std::size_t>(record.channel)].first; };
    const std::string why = text.empty() ? failure_text(record, label(), deadline_, tag_name_) : text;
    const bool is_own_fault = record.peer == rank || record.awaited == Awaited::Ready;
    if (is_own_fault || !has_left(record.peer)) { throw CommError(why); }
    throw LostRank(fmt::format("{} The program of rank {} has ended.", why, record.peer));
}

} // namespace parhelion
