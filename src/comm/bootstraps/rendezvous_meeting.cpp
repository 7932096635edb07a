// SPDX-License-Identifier: Apache-2.0
// How the processes of a rendezvous meet: rank 0 lets the others in until all have come, and the others join it.
#include "base/error.hpp"
#include "comm/bootstraps/process_errors.hpp"
#include "comm/bootstraps/rendezvous.hpp"
#include "comm/bootstraps/rendezvous_parts.hpp"
#include "comm/core/atomics.hpp"
#include "comm/core/failures.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

namespace parhelion {

namespace {

using namespace std::chrono_literals;
using namespace rendezvous_parts;

constexpr const char* processes_key = "processes of the run";
constexpr std::chrono::milliseconds between_tries = 50ms;
// The longest time for which the file of rank 0 may still hold an old secret.
constexpr std::chrono::nanoseconds until_secret_is_right = 3s;

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
        catch (...) // the processes that have joined get the error
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
    own_host_ = address_of(members_[0].stream.socket()).host; // later the thread may close this socket
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
            end({.says = ProcessSays::Failed, .failure = kind, .text = who_has_not_come(here) + why}); // ignored after a failure
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

} // namespace parhelion
