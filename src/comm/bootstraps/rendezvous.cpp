// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/rendezvous.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/process_errors.hpp"
#include "comm/core/atomics.hpp"
#include "comm/core/failures.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <type_traits>
#include <utility>

namespace parhelion {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* processes_key = "processes of the run";
std::string door_key(int first) { return fmt::format("door to the memory of rank {}", first); } // first rank of a process
constexpr std::chrono::milliseconds between_tries = 50ms;
// The longest time for which the file of rank 0 may still hold an old secret.
constexpr std::chrono::nanoseconds until_secret_is_right = 3s;
// `grace`: how long after a failure processes report or hear of it. `until_stuck`: when processes that are stuck are ended.
constexpr std::chrono::seconds grace = 2s, until_stuck = 4s;

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Returns the time between two heartbeats. A process counts as lost after longest_silence(), which is less than the deadline.
std::chrono::nanoseconds beat(std::chrono::nanoseconds deadline)
{
    return std::clamp<std::chrono::nanoseconds>(deadline / 20, 10ms, 2s);
}
std::chrono::nanoseconds longest_silence(std::chrono::nanoseconds deadline) { return deadline - 2 * beat(deadline); }

template <class T>
std::string text_of(const T* values, std::size_t n)
{
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const char*>(values), n * sizeof(T)};
}

std::vector<ProcessCard> by_rank(std::vector<ProcessCard> cards)
{
    std::sort(cards.begin(), cards.end(), [](const ProcessCard& a, const ProcessCard& b) { return a.first < b.first; });
    return cards;
}

// Returns whether the other side has sent something before the time `until`.
bool greets(int socket, TimePoint until)
{
    pollfd watched{socket, POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    return ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0;
}

std::string text_of(const Bytes& bytes) { return text_of(bytes.data(), bytes.size()); }

Bytes bytes_of(const std::string& text)
{
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

} // namespace

Rendezvous::Rendezvous(const RendezvousOptions& options) : options_(options), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    PARHELION_EXPECTS(options.here.first >= 0 && options.here.count >= 1);
    PARHELION_EXPECTS(options.here.first + options.here.count <= options.ranks);
    if (wake_.get() < 0) { throw SystemError(fmt::format("eventfd failed: {}", std::strerror(errno))); }
    if (options.shares_memory) { host_memory_ = std::make_unique<HostMemory>(); }
    if (is_host())
    {
        try
        {
            host_all();
        }
        catch (...) // who has come hears why
        {
            if (!members_.empty())
            {
                thread_.start([this] { run(); });
                leave();
            }
            throw;
        }
        thread_.start([this] { run(); });
        open_door();
        return;
    }
    join();
    thread_.start([this] { run(); });
    try
    {
        const Bytes cards = wait_for(processes_key, options_.deadline + grace); // rank 0 gives up earlier, with a better error
        processes_.resize(cards.size() / sizeof(ProcessCard));
        std::memcpy(processes_.data(), cards.data(), processes_.size() * sizeof(ProcessCard));
        expect_all_ranks();
        open_door();
    }
    catch (const AbortedByLoss& error)
    {
        leave();
        throw LostRank(error.what());
    }
    catch (const PeerAborted& error)
    {
        leave();
        throw CommError(error.what());
    }
    catch (...)
    {
        leave();
        throw;
    }
}

void Rendezvous::open_door() { put(door_key(options_.here.first), bytes_of(host_memory_ ? host_memory_->door() : "")); }

// Throws unless the processes that rank 0 has sent have all ranks: they are used as indices here.
void Rendezvous::expect_all_ranks() const
{
    std::int64_t next = 0;
    for (const ProcessCard& card : processes_)
    {
        PARHELION_EXPECTS(card.first == next && card.count >= 1);
        next += card.count;
    }
    PARHELION_EXPECTS(next == options_.ranks);
}

Rendezvous::~Rendezvous() { leave(); }

void Rendezvous::leave()
{
    {
        const std::scoped_lock lock(mutex_);
        is_leaving_ = have_returned_ = true;
        // Another rank may only now begin to wait for this process. That rank's own error tells more than this farewell.
        const auto whole_wait = std::chrono::duration_cast<Clock::duration>(options_.deadline) + grace;
        leaving_until_ = Clock::now() + (failure_ ? grace : whole_wait);
        if (!is_host()) { send({.says = ProcessSays::Done}); }
    }
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
}

// --- meeting

std::string Rendezvous::why_not(const ProcessCard& card) const
{
    if (card.ranks != options_.ranks)
    {
        return fmt::format("it was started for {} ranks, and rank 0 for {}", card.ranks, options_.ranks);
    }
    const auto end = [](const ProcessCard& c) { return std::int64_t{c.first} + c.count; };
    if (card.first < 0 || card.count < 1 || end(card) > options_.ranks)
    {
        return fmt::format("there is no rank {} of {}", card.first, options_.ranks);
    }
    const auto overlaps = [&](const ProcessCard& other) { return card.first < end(other) && other.first < end(card); };
    const auto same = std::find_if(processes_.begin(), processes_.end(), overlaps);
    return same != processes_.end() ? fmt::format("rank {} is there already, on {}", card.first, same->host) : "";
}

std::string Rendezvous::who_has_not_come(int here) const
{
    int missing = 0; // number of the first rank that is missing
    for (const ProcessCard& c : by_rank(processes_)) { missing = c.first == missing ? c.first + c.count : missing; }
    return fmt::format("The process of rank {} has not come to {} within {:g} s ({} of {} ranks are there). Was it started?",
                       missing, options_.address.text(), seconds(options_.deadline), here, options_.ranks);
}

void Rendezvous::host_all()
{
    Listeners listeners = options_.listen(options_.address); // comes before the secret, as it throws if another run listens here
    secret_ = options_.secret();
    PARHELION_EXPECTS(secret_);
    Acceptor acceptor(std::move(listeners), *secret_, options_.wire, options_.on_stranger);
    processes_ = {card()};
    auto until = Clock::now() + options_.deadline;
    for (int here = options_.here.count; here < options_.ranks;)
    {
        look_after_all();
        if (failure_) { until = std::min(until, failed_at_ + grace); } // processes that join by then get the failure, too
        if (std::optional<Acceptor::Guest> guest = acceptor.accept([&](const ProcessCard& c) { return why_not(c); }))
        {
            processes_.push_back(guest->card);
            members_.push_back({PacketStream(std::move(guest->socket), guest->keys), guest->card, HostAtomics::nanoseconds()});
            here += guest->card.count;
            if (failure_) { members_.back().stream.send(*failure_); }
            continue;
        }
        {
            const std::scoped_lock lock(mutex_);
            send({.says = ProcessSays::Alive}); // heartbeat for the processes that have come already
        }
        if (Clock::now() > until)
        {
            const std::string why = acceptor.trouble();
            const FailureKind kind = why.empty() ? FailureKind::Comm : FailureKind::System;
            end({.says = ProcessSays::Failed, .failure = kind, .text = who_has_not_come(here) + why}); // unless one has failed
            break;
        }
        std::vector<pollfd> watched;
        for (const int socket : acceptor.sockets()) { watched.push_back({socket, POLLIN, 0}); }
        ::poll(watched.data(), watched.size(), 50);
    }
    if (failure_) { throw_error_of(*failure_); }
    processes_ = by_rank(std::move(processes_));
    put(processes_key, bytes_of(text_of(processes_.data(), processes_.size())));
}

// Receives packets of the processes that have joined, while others are still missing, and notices lost processes.
void Rendezvous::look_after_all()
{
    const std::int64_t now = HostAtomics::nanoseconds();
    for (Member& member : members_)
    {
        const std::vector<ProcessPacket> packets = member.stream.receive();
        if (!packets.empty()) { member.heard_at = now; }
        for (const ProcessPacket& packet : packets) { take(member, packet); }
        if (member.is_done) { lose_member(member, "has left before all had come"); }
        else { look_after(member, now); }
    }
}

void Rendezvous::join()
{
    const auto start = Clock::now(), until = start + options_.deadline;
    const ProcessCard me = card();
    std::string last = "nobody accepts connections there";
    for (; Clock::now() < until; std::this_thread::sleep_for(between_tries))
    {
        FileDescriptor socket = try_connect(options_.address, until);
        if (socket.get() < 0) { continue; }
        // Rank 0 greets after it has stored its secret. A secret found before the greeting may be that of a run that was killed.
        secret_ = greets(socket.get(), until) ? options_.secret() : std::nullopt;
        if (!secret_)
        {
            last = "it has not greeted, or there is no secret";
            continue;
        }
        Greeted greeted = greet(std::move(socket), me, *secret_, options_.wire, until);
        if (greeted.socket.get() >= 0)
        {
            ProcessCard host{options_.ranks, 0, 1, {}};
            options_.address.host.copy(host.host, sizeof host.host - 1);
            members_.push_back({PacketStream(std::move(greeted.socket), greeted.keys), host, 0});
            return;
        }
        last = greeted.why_not;
        if (!greeted.may_try_again ||
            (greeted.is_stranger && Clock::now() > start + std::min(until_secret_is_right, options_.deadline / 4)))
        {
            throw CommError(fmt::format("Rank {} was turned away at {}: {}.", me.first, options_.address.text(), last));
        }
    }
    throw CommError(fmt::format("Rank {} has not reached rank 0 at {} within {:g} s: {}. Was the process of rank 0 started?",
                                me.first, options_.address.text(), seconds(options_.deadline), last));
}

// --- what a world asks for

void Rendezvous::put(const std::string& key, Bytes value)
{
    ProcessPacket packet{.says = ProcessSays::Put, .key = key};
    packet.text.assign(reinterpret_cast<const char*>(value.data()), value.size());
    heard_.put(key, std::move(value));
    const std::scoped_lock lock(mutex_);
    send(packet);
}

// Sends a letter to all processes: letters are few, and only the process of rank 0 knows where each rank is.
void Rendezvous::post(int rank, Bytes letter)
{
    if (is_here(rank)) { return heard_.inbox(rank).leave(std::move(letter)); }
    ProcessPacket packet{.says = ProcessSays::Letter, .size = static_cast<std::uint64_t>(rank)};
    packet.text.assign(reinterpret_cast<const char*>(letter.data()), letter.size());
    const std::scoped_lock lock(mutex_);
    send(packet);
}

bool Rendezvous::is_here(int rank) const
{
    return rank >= options_.here.first && rank < options_.here.first + options_.here.count;
}

void Rendezvous::tell(const Notice& notice)
{
    const std::scoped_lock lock(mutex_);
    send({.says = ProcessSays::Noted, .text = text_of(&notice, 1)});
}

std::byte* Rendezvous::pages(const std::string& what, int rank, std::size_t bytes)
{
    const std::string key = fmt::format("{} of rank {}", what, rank);
    if (host_memory_)
    {
        if (is_here(rank)) { return host_memory_->own(key, bytes); }
        const auto has_rank = [&](const ProcessCard& card) { return rank >= card.first && rank < card.first + card.count; };
        const Bytes door = wait_for(door_key(std::find_if(processes_.begin(), processes_.end(), has_rank)->first));
        return door.empty() ? nullptr : host_memory_->theirs(text_of(door), key, bytes, options_.deadline);
    }
    if (!is_here(rank)) { return nullptr; }
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Pages>& pages = pages_[key];
    if (!pages) { pages = std::make_unique<Pages>(bytes); }
    PARHELION_EXPECTS(pages->bytes() == bytes);
    return pages->data();
}

Bytes Rendezvous::wait_for(const std::string& key, std::chrono::nanoseconds patience)
{
    std::unique_lock lock(mutex_);
    std::optional<Bytes> value;
    changed_.wait_for(lock, patience, [&] { return (value = heard_.get(key)).has_value() || failure_; });
    if (value) { return *std::move(value); }
    throw_if_failed("");
    throw CommError(fmt::format("Rank {} timed out after {:g} s waiting for '{}'.", options_.here.first, seconds(patience), key));
}

void Rendezvous::expect_whole()
{
    const std::scoped_lock lock(mutex_);
    throw_if_failed(fmt::format("Rank {} stopped: ", options_.here.first));
}

// With mutex_ taken.
void Rendezvous::throw_if_failed(const std::string& before) const
{
    if (failure_ && failure_->failure == FailureKind::LostRank) { throw AbortedByLoss(before + failure_->text); }
    if (failure_) { throw PeerAborted(before + failure_->text); }
}

std::string Rendezvous::host() const { return is_host() ? options_.address.host : address_of(members_[0].stream.socket()).host; }

void Rendezvous::end_by(const std::exception_ptr& error)
{
    ProcessPacket packet = packet_of(error);
    if (packet.failure != FailureKind::PeerAborted)
    {
        if (is_host()) { end(packet); }
        else
        {
            const std::scoped_lock lock(mutex_);
            send(packet);
        }
    }
    std::unique_lock lock(mutex_);
    have_returned_ = true;
    changed_.wait_for(lock, grace, [&] { return failure_.has_value(); });
    if (!failure_) { failure_ = std::move(packet); }
    throw_error_of(*failure_);
}

void Rendezvous::lose(const std::string& sentence)
{
    const ProcessPacket failure{.says = ProcessSays::Failed, .failure = FailureKind::Comm, .text = sentence};
    if (!is_host())
    {
        const std::scoped_lock lock(mutex_);
        if (!failure_) { send(failure); }
    }
    end(failure);
}

bool Rendezvous::is_told_by_first()
{
    const std::scoped_lock lock(mutex_);
    return is_told_by_first_;
}

// --- the thread

// Sends a packet to all members, except one if `except` is not null. mutex_ must be locked.
void Rendezvous::send(const ProcessPacket& packet, const Member* except)
{
    bool is_waiting = false;
    for (Member& member : members_)
    {
        if (&member != except) { member.stream.send(packet); }
        is_waiting = is_waiting || member.stream.has_more_to_send();
    }
    if (is_waiting) { ::eventfd_write(wake_.get(), 1); }
}

void Rendezvous::run()
{
    const auto beat_ns = beat(options_.deadline).count();
    std::int64_t last_beat = HostAtomics::nanoseconds(); // this clock does not advance while the process is stopped
    for (Member& member : members_) { member.heard_at = last_beat; }
    do {
        wait_for_news(static_cast<int>(std::max<std::int64_t>(1, beat_ns / 2'000'000)));
        const std::int64_t now = HostAtomics::nanoseconds();
        for (Member& member : members_)
        {
            const std::vector<ProcessPacket> packets = [&] {
                const std::scoped_lock lock(mutex_);
                member.stream.flush();
                return member.stream.receive();
            }();
            if (!packets.empty()) { member.heard_at = now; }
            for (const ProcessPacket& packet : packets) { take(member, packet); }
            look_after(member, now);
        }
        if (now - last_beat > beat_ns)
        {
            const std::scoped_lock lock(mutex_);
            send({.says = ProcessSays::Alive});
            last_beat = now;
        }
        if (const std::string why = options_.why_end ? options_.why_end() : ""; !why.empty()) { lose(why); }
        end_if_stuck();
    } while (!is_over());
}

void Rendezvous::wait_for_news(int milliseconds)
{
    std::vector<pollfd> watched = {{wake_.get(), POLLIN, 0}};
    {
        const std::scoped_lock lock(mutex_);
        for (const Member& member : members_)
        {
            if (!member.stream.is_open()) { continue; }
            watched.push_back(
                {member.stream.socket(), static_cast<short>(POLLIN | (member.stream.has_more_to_send() ? POLLOUT : 0)), 0});
        }
    }
    ::poll(watched.data(), watched.size(), milliseconds);
    eventfd_t times;
    ::eventfd_read(wake_.get(), &times);
}

void Rendezvous::take(Member& from, const ProcessPacket& packet)
{
    switch (packet.says)
    {
    case ProcessSays::Put:
        heard_.value(packet.key, bytes_of(packet.text));
        break;
    case ProcessSays::Letter:
        if (const int to = static_cast<int>(packet.size); is_here(to)) { heard_.inbox(to).leave(bytes_of(packet.text)); }
        break;
    case ProcessSays::Noted: {
        Notice notice;
        if (packet.text.size() != sizeof notice) { return; }
        std::memcpy(&notice, packet.text.data(), sizeof notice);
        heard_.notice(notice);
        break;
    }
    case ProcessSays::Failed: {
        {
            const std::scoped_lock lock(mutex_);
            is_told_by_first_ = !is_host() && !failure_;
        }
        return end(packet);
    }
    case ProcessSays::Done: {
        const std::scoped_lock lock(mutex_);
        from.is_done = true;
        if (is_host()) { from.stream.send({.says = ProcessSays::Done}); } // all that the process has stored has been forwarded
        return;
    }
    default:
        return; // a heartbeat
    }
    const std::scoped_lock lock(mutex_);
    if (is_host()) { send(packet, &from); }
    changed_.notify_all();
}

void Rendezvous::look_after(Member& member, std::int64_t now)
{
    const std::chrono::nanoseconds silence = longest_silence(options_.deadline);
    std::string how;
    {
        const std::scoped_lock lock(mutex_);
        if (member.is_done || failure_) { return; }
        if (member.stream.was_forged()) { how = "has not sent what comes over its connection: somebody in between changes it"; }
        else if (!member.stream.is_open()) { how = "has ended, or its connection is lost"; }
        else if (now - member.heard_at > silence.count())
        {
            how = fmt::format("has been silent for {:.3g} s", seconds(silence));
            member.stream.close(); // no farewell will come on this connection
        }
    }
    if (!how.empty()) { lose_member(member, how); }
}

void Rendezvous::lose_member(const Member& member, const std::string& how)
{
    const FailureKind kind = member.stream.was_forged() ? FailureKind::Comm : FailureKind::LostRank;
    end({.says = ProcessSays::Failed, .failure = kind, .text = fmt::format("The {} {}.", member.card.name(), how)});
}

// Ends the run with its first failure, and sends the failure to all processes.
void Rendezvous::end(const ProcessPacket& failure)
{
    {
        const std::scoped_lock lock(mutex_);
        if (failure_) { return; }
        failure_ = failure;
        failed_at_ = Clock::now();
        if (is_host()) { send(failure); }
        leaving_until_ = std::min(leaving_until_, Clock::now() + grace);
    }
    changed_.notify_all();
    heard_.loss(failure.text);
}

// A process that rank 0 has told of the failure lets rank 0 report first, since some launchers then end all other processes.
void Rendezvous::end_if_stuck()
{
    std::unique_lock lock(mutex_);
    const auto patience = is_told_by_first_ ? until_stuck + 1s : until_stuck;
    if (!options_.on_stuck || !failure_ || have_returned_ || Clock::now() < failed_at_ + patience) { return; }
    have_returned_ = true; // the ranks never will return; set so that on_stuck is called only once
    const ProcessPacket failure = *failure_;
    const bool is_told = is_told_by_first_;
    lock.unlock();
    try
    {
        throw_error_of(failure);
    }
    catch (...)
    {
        options_.on_stuck(std::current_exception(), is_told);
    }
}

bool Rendezvous::is_over()
{
    const std::scoped_lock lock(mutex_);
    if (!is_leaving_) { return false; }
    const bool have_all_left = std::all_of(members_.begin(), members_.end(), [](const Member& m) {
        return !m.stream.is_open() || (m.is_done && !m.stream.has_more_to_send());
    });
    return have_all_left || Clock::now() > leaving_until_;
}

} // namespace parhelion
