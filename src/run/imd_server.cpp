// SPDX-License-Identifier: Apache-2.0
#include "run/imd_server.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace parhelion {

namespace {

constexpr std::size_t most_frames = 4;                     // maximum number of frames that are queued or in flight
constexpr auto longest_greeting = std::chrono::seconds(5); // limit of the time until a client sends Go
constexpr auto longest_farewell = std::chrono::seconds(5); // limit of the time for sending queued packets after the run has ended
constexpr auto patient_farewell = std::chrono::seconds(60); // this limit if ImdOptions::waits is set and the run was not stopped
constexpr auto longest_goodbye = std::chrono::seconds(1);   // limit of the time until the client closes the connection, too
constexpr auto look_again = std::chrono::milliseconds(100); // interval at which a waiting run checks `stop`

TimePoint now() { return std::chrono::steady_clock::now(); }

// Sets the socket to fail 30 s after the client's host has become unreachable, or if data is unacknowledged for 5 minutes.
void notice_if_gone(int socket)
{
    const int on = 1, idle_s = 10, between_s = 5, probes = 4;
    const unsigned longest_ms = 300000;
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &between_s, sizeof between_s);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &longest_ms, sizeof longest_ms);
}

void wake(int event)
{
    const std::uint64_t one = 1;
    static_cast<void>(::write(event, &one, sizeof one)); // fails only if the counter is full: then the thread is awake already
}

} // namespace

ImdServer::ImdServer(const ImdOptions& options)
    : options_(options), listeners_(listen_at(options.address)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      waits_(options.waits)
{
    PARHELION_EXPECTS(options.version == 2 || options.version == 3);
    if (wake_.get() < 0) { throw SystemError(fmt::format("eventfd failed: {}", std::strerror(errno))); }
}

ImdServer::~ImdServer() { finish(); }

Address ImdServer::address() const { return {options_.address.host, address_of(listeners_.front().get()).port}; }

void ImdServer::start(std::atomic<bool>& stop)
{
    PARHELION_EXPECTS(!thread_.joinable());
    stop_ = &stop;
    thread_ = std::jthread([this] { talk(); });
}

bool ImdServer::has_room() const { return is_listened_to_ && !is_paused_ && frames_.size() < most_frames; }

bool ImdServer::wants(std::int64_t step)
{
    std::unique_lock lock(mutex_);
    while (waits_ && !has_room() && !*stop_) { changed_.wait_for(lock, look_again); }
    if (!has_room() || (rate_ > 0 && last_step_ && step < *last_step_ + rate_)) { return false; }
    last_step_ = step;
    return true;
}

void ImdServer::send(std::string packets)
{
    {
        const std::lock_guard lock(mutex_);
        if (!is_listened_to_) { return; } // the client has disconnected meanwhile
        frames_.push_back(std::move(packets));
    }
    wake(wake_.get());
}

std::vector<std::string> ImdServer::news()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

void ImdServer::finish()
{
    if (!thread_.joinable()) { return; }
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    wake(wake_.get());
    thread_.join();
}

// --- the thread that talks to clients

void ImdServer::tell(const std::string& what)
{
    constexpr std::size_t most_news = 100; // the limit if news() is never called
    if (news_.size() < most_news) { news_.push_back("IMD: " + what); }
}

void ImdServer::talk()
{
    // Times when the run ended and when the client was told of it. Unread bytes of the client must be read before the connection
    // is closed: otherwise data in flight would be lost.
    std::optional<TimePoint> over, told;
    for (;;)
    {
        await_events();
        accept_clients();
        if (client_) { receive(); }
        if (client_) { send_some(); }
        if (client_ && !client_->has_begun && now() > client_->since + longest_greeting) { leave("has not said go"); }
        {
            const std::lock_guard lock(mutex_);
            if (!is_over_) { continue; }
        }
        if (!over) { over = now(); }
        const auto farewell = options_.waits && !*stop_ ? patient_farewell : longest_farewell;
        const bool is_late = now() > *over + farewell || (told && now() > *told + longest_goodbye);
        if (!client_ || !client_->has_begun || is_late) { break; }
        if (told || has_more_to_send()) { continue; }
        ::shutdown(client_->socket.get(), SHUT_WR);
        told = now();
    }
    client_.reset();
}

void ImdServer::await_events()
{
    constexpr int longest_ms = 200; // longest sleep, so that deadlines are checked in time
    std::vector<pollfd> events = {{wake_.get(), POLLIN, 0}};
    for (const FileDescriptor& listener : listeners_) { events.push_back({listener.get(), POLLIN, 0}); }
    if (client_)
    {
        const bool has_more = client_->has_begun && has_more_to_send();
        events.push_back({client_->socket.get(), static_cast<short>(POLLIN | (has_more ? POLLOUT : 0)), 0});
    }
    ::poll(events.data(), events.size(), longest_ms);
    std::uint64_t count = 0;
    static_cast<void>(::read(wake_.get(), &count, sizeof count));
}

void ImdServer::accept_clients()
{
    for (const FileDescriptor& listener : listeners_)
    {
        Accepted accepted = accept_one(listener.get());
        if (accepted.socket.get() < 0 || client_) { continue; } // one client at a time; the connections of others are closed
        client_.emplace(Client{}); // clang: without arguments Client counts as not constructible, as ImdServer was incomplete
        client_->socket = std::move(accepted.socket), client_->host = std::move(accepted.host), client_->since = now();
        notice_if_gone(client_->socket.get());
        const std::string greeting = imd_greeting(options_.version);
        if (::send(client_->socket.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
            static_cast<ssize_t>(greeting.size()))
        {
            leave("was gone at once");
        }
    }
}

void ImdServer::receive()
{
    std::array<char, 65536> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv()
    const ssize_t count = ::recv(client_->socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) { return; }
    if (count <= 0) { return leave("is gone"); }
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);)
    {
        const std::size_t left = static_cast<std::size_t>(count) - at;
        if (client_->to_skip > 0)
        {
            const auto skipped = std::min<std::size_t>(left, static_cast<std::size_t>(client_->to_skip));
            client_->to_skip -= static_cast<std::int64_t>(skipped), at += skipped;
            continue;
        }
        const std::size_t missing = std::min(left, imd_header_bytes - client_->received.size());
        client_->received.append(bytes.data() + at, missing), at += missing;
        if (client_->received.size() < imd_header_bytes) { return; }
        const ImdHeader header = imd_header(std::span<const char, imd_header_bytes>(client_->received.data(), imd_header_bytes));
        client_->received.clear();
        if (!understand(header)) { return leave(fmt::format("has sent what is no packet (type {})", header.type)); }
        if (!client_) { return; }
    }
}

bool ImdServer::understand(const ImdHeader& header)
{
    const auto request = static_cast<ImdType>(header.type);
    if (request == ImdType::Disconnect)
    {
        leave("has left");
        return true;
    }
    if (client_->has_begun)
    {
        const std::lock_guard lock(mutex_);
        const bool is_known = obey(request, header.value);
        changed_.notify_all();
        return is_known;
    }
    if (request != ImdType::Go) { return false; }
    client_->has_begun = true;
    const std::lock_guard lock(mutex_);
    is_listened_to_ = true, last_step_.reset();
    tell(client_->host + " looks on");
    changed_.notify_all();
    return true;
}

// Does what a client asks for after Go. Returns false for any other packet. Requires that the caller holds mutex_.
bool ImdServer::obey(ImdType request, std::int32_t value)
{
    switch (request)
    {
    case ImdType::Go:
        return true; // Go is sent again
    case ImdType::Pause:
        is_paused_ = options_.version == 2 ? !is_paused_ : true;
        return true;
    case ImdType::Resume:
        is_paused_ = false;
        return true;
    case ImdType::Rate:
        rate_ = std::max(0, value);
        return true;
    case ImdType::Wait:
        waits_ = options_.waits && value != 0;
        return true;
    case ImdType::Kill:
        tell(client_->host +
             (options_.may_end ? " ends the run" : " asks for the end of the run, which it may not (--imd-kill)"));
        if (options_.may_end) { *stop_ = true; }
        return true;
    case ImdType::Forces:
        if (value < 0) { return false; }
        client_->to_skip = std::int64_t{16} * value; // an index and three components for each atom
        if (!std::exchange(has_told_of_forces_, true)) { tell("forces that " + client_->host + " sends do not act"); }
        return true;
    default:
        return false;
    }
}

bool ImdServer::has_more_to_send()
{
    if (client_->sent < client_->sending.size()) { return true; }
    const std::lock_guard lock(mutex_);
    return !frames_.empty();
}

void ImdServer::send_some()
{
    while (client_->has_begun && has_more_to_send())
    {
        if (client_->sent == client_->sending.size())
        {
            const std::lock_guard lock(mutex_);
            client_->sending = std::move(frames_.front()), client_->sent = 0;
            frames_.pop_front();
            changed_.notify_all();
        }
        const std::string_view left = std::string_view(client_->sending).substr(client_->sent);
        const ssize_t count = ::send(client_->socket.get(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) { return; }
        if (count < 0) { return leave("is gone"); }
        client_->sent += static_cast<std::size_t>(count);
    }
}

void ImdServer::leave(const std::string& why)
{
    const std::lock_guard lock(mutex_);
    tell(client_->host + " " + why);
    client_.reset();
    frames_.clear();
    is_listened_to_ = is_paused_ = false;
    rate_ = 0;
    changed_.notify_all();
}

} // namespace parhelion
