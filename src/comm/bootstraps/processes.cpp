// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/processes.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

namespace parhelion {

ProcessesBootstrap::ProcessesBootstrap(int socket, int ranks, RankRange here, std::chrono::nanoseconds patience)
    : socket_(socket), ranks_(ranks), here_(here), patience_(patience), end_(::eventfd(0, EFD_CLOEXEC))
{
    if (end_.get() < 0) { throw SystemError(fmt::format("eventfd failed: {}", std::strerror(errno))); }
    thread_.start([this] { run(); });
}

ProcessesBootstrap::~ProcessesBootstrap()
{
    ::eventfd_write(end_.get(), 1);
    thread_.join();
}

void ProcessesBootstrap::put(const std::string& key, Bytes value)
{
    heard_.put(key, value);
    ProcessPacket packet{.says = ProcessSays::Put, .key = key};
    packet.text.assign(reinterpret_cast<const char*>(value.data()), value.size());
    send_packet(socket_, packet, -1, Wait::Yes); // if the launcher is gone, the thread reports that
}

void ProcessesBootstrap::post(int rank, Bytes letter)
{
    if (rank >= here_.first && rank < here_.first + here_.count) { return heard_.inbox(rank).leave(std::move(letter)); }
    ProcessPacket packet{.says = ProcessSays::Letter, .size = static_cast<std::uint64_t>(rank)};
    packet.text.assign(reinterpret_cast<const char*>(letter.data()), letter.size());
    send_packet(socket_, packet, -1, Wait::Yes);
}

void ProcessesBootstrap::pass(const std::string& key, int descriptor)
{
    send_packet(socket_, {.says = ProcessSays::Pass, .key = key}, descriptor, Wait::Yes);
}

FileDescriptor ProcessesBootstrap::passed(const std::string& key)
{
    const std::scoped_lock lock(mutex_);
    auto found = passed_.extract(key);
    return found.empty() ? FileDescriptor() : std::move(found.mapped());
}

std::byte* ProcessesBootstrap::pages(const std::string& what, int rank, std::size_t bytes)
{
    const std::string key = fmt::format("{} of rank {}", what, rank);
    const std::scoped_lock asking(asking_);
    std::unique_lock lock(mutex_);
    if (const auto known = pages_.find(key); known != pages_.end())
    {
        PARHELION_EXPECTS(known->second->bytes() == bytes);
        return known->second->data();
    }
    send_packet(socket_, {.says = ProcessSays::Pages, .size = bytes, .key = key}, -1, Wait::Yes);
    const bool is_over = changed_.wait_for(lock, patience_, [&] { return answers_.count(key) > 0 || !heard_.loss().empty(); });
    if (!is_over)
    {
        throw CommError(fmt::format("The process that started the ranks has not answered for {:g} s.",
                                    std::chrono::duration<double>(patience_).count()));
    }
    const auto answer = answers_.find(key);
    if (answer == answers_.end()) { throw PeerAborted(fmt::format("Rank {} stopped: {}", here_.first, heard_.loss())); }
    const ReceivedPacket received = std::move(answer->second);
    answers_.erase(answer);
    if (received.passed.get() < 0) { throw SystemError(received.packet.text); }
    PARHELION_EXPECTS(received.packet.size == bytes); // all ranks must ask for the same size
    std::unique_ptr<Pages>& pages = pages_[key];
    pages = std::make_unique<Pages>(bytes, received.passed.get());
    return pages->data();
}

void ProcessesBootstrap::take(ReceivedPacket&& received)
{
    const ProcessPacket& packet = received.packet;
    const auto* const first = reinterpret_cast<const std::byte*>(packet.text.data());
    Bytes bytes(first, first + packet.text.size());
    if (packet.says == ProcessSays::Put) { return heard_.value(packet.key, std::move(bytes)); }
    if (packet.says == ProcessSays::Letter) { return heard_.inbox(static_cast<int>(packet.size)).leave(std::move(bytes)); }
    if (packet.says == ProcessSays::Lost) { heard_.loss(packet.text); }
    {
        const std::scoped_lock lock(mutex_); // so that a waiting thread either has not looked yet, or is notified
        if (packet.says == ProcessSays::Pass)
        {
            PARHELION_EXPECTS(passed_.emplace(packet.key, std::move(received.passed)).second);
        }
        if (packet.says == ProcessSays::Pages) { answers_[packet.key] = std::move(received); }
    }
    changed_.notify_all();
}

void ProcessesBootstrap::run()
{
    for (;;)
    {
        pollfd watched[] = {{socket_, POLLIN, 0}, {end_.get(), POLLIN, 0}};
        if (::poll(watched, std::size(watched), -1) < 0) { continue; } // the call was interrupted by a signal
        if (watched[1].revents != 0) { return; }
        std::optional<ReceivedPacket> received = receive_packet(socket_);
        if (!received) { return; } // the launcher has ended, so this process will end, too
        take(std::move(*received));
    }
}

} // namespace parhelion
