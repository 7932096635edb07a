// SPDX-License-Identifier: Apache-2.0
// A rendezvous after its processes have met; rendezvous_meeting.cpp has the meeting.
#include "comm/bootstraps/rendezvous.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/process_errors.hpp"
#include "comm/bootstraps/rendezvous_parts.hpp"
#include "comm/core/atomics.hpp"
#include "comm/core/failures.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

namespace parhelion {

namespace {

using namespace std::chrono_literals;
using namespace rendezvous_parts;

constexpr std::chrono::seconds until_stuck = 4s; // time after a failure at which a process that is stuck is ended

// Returns the time between two heartbeats. A process counts as lost after longest_silence(), which is less than the deadline.
std::chrono::nanoseconds beat(std::chrono::nanoseconds deadline)
{
    return std::clamp<std::chrono::nanoseconds>(deadline / 20, 10ms, 2s);
}
std::chrono::nanoseconds longest_silence(std::chrono::nanoseconds deadline) { return deadline - 2 * beat(deadline); }

} // namespace

Rendezvous::~Rendezvous() { leave(); }

void Rendezvous::leave()
{
    {
        const std::scoped_lock lock(mutex_);
        is_leaving_ = have_returned_ = true;
        // Stays for a whole deadline, since another rank may only now begin to wait for this one. The error of its wait tells
        // more.
        const auto whole_wait = std::chrono::duration_cast<Clock::duration>(options_.deadline) + grace;
        leaving_until_ = Clock::now() + (failure_ ? grace : whole_wait);
        if (!is_host()) { send({.says = ProcessSays::Done}); }
    }
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
}

// --- the calls of a world

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

std::string Rendezvous::host() const { return is_host() ? options_.address.host : own_host_; }

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

// If rank 0 has sent the failure, this process lets rank 0 report first: once a process ends, some launchers end the others.
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
