// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/sockets.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace parhelion {

namespace {

using Found = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Nothing: no such host.
Found look_up(const char* host, int port, int flags)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const bool is_known = ::getaddrinfo(host, std::to_string(port).c_str(), &hints, &found) == 0;
    return {is_known ? found : nullptr, &::freeaddrinfo};
}

FileDescriptor open_socket(const addrinfo& at)
{
    return FileDescriptor(::socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol));
}

FileDescriptor try_listen(const Found& found)
{
    for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next)
    {
        FileDescriptor socket = open_socket(*at);
        const int on = 1;
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (::bind(socket.get(), at->ai_addr, at->ai_addrlen) == 0 && ::listen(socket.get(), SOMAXCONN) == 0) { return socket; }
    }
    return {};
}

// Waits for the events; false at that time.
bool wait_for(int socket, short events, TimePoint until)
{
    for (;;)
    {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        pollfd watched{socket, events, 0};
        const int ready = ::poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, INT_MAX)));
        if (ready > 0) { return true; }
        if (ready == 0 || errno != EINTR) { return false; }
    }
}

Address numeric(const sockaddr_storage& storage, socklen_t bytes)
{
    std::array<char, NI_MAXHOST> host;
    std::array<char, NI_MAXSERV> port;
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), bytes, host.data(), host.size(), port.data(), port.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    {
        return {};
    }
    return {host.data(), std::stoi(port.data())};
}

} // namespace

std::string Address::text() const
{
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string host_name()
{
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

FileDescriptor listen_at(const Address& address)
{
    FileDescriptor socket = try_listen(look_up(address.host.c_str(), address.port, 0));
    if (socket.get() < 0 && errno != EADDRINUSE) { socket = try_listen(look_up(nullptr, address.port, AI_PASSIVE)); }
    if (socket.get() >= 0) { return socket; }
    throw SystemError(
        fmt::format("No connections can be accepted at {}: {}. Choose another port.", address.text(), std::strerror(errno)));
}

Address address_of(int socket)
{
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    return ::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &bytes) == 0 ? numeric(storage, bytes) : Address{};
}

std::string peer_of(int socket)
{
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    return ::getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &bytes) == 0 ? numeric(storage, bytes).host : "";
}

FileDescriptor try_connect(const Address& address, TimePoint until)
{
    const Found found = look_up(address.host.c_str(), address.port, 0);
    for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next)
    {
        FileDescriptor socket = open_socket(*at);
        if (::connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) { continue; }
        int error = 0;
        socklen_t bytes = sizeof error;
        if (!wait_for(socket.get(), POLLOUT, until) || ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 ||
            error != 0)
        {
            continue;
        }
        prepare(socket.get());
        return socket;
    }
    return {};
}

void prepare(int socket)
{
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
}

bool send_all(int socket, std::string_view bytes, TimePoint until)
{
    while (!bytes.empty())
    {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) { bytes.remove_prefix(static_cast<std::size_t>(sent)); }
        else if (errno != EAGAIN && errno != EINTR) { return false; }
        else if (!wait_for(socket, POLLOUT, until)) { return false; }
    }
    return true;
}

bool receive_all(int socket, std::span<char> bytes, TimePoint until)
{
    while (!bytes.empty())
    {
        const ssize_t received = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (received > 0) { bytes = bytes.subspan(static_cast<std::size_t>(received)); }
        else if (received == 0 || (errno != EAGAIN && errno != EINTR)) { return false; }
        else if (!wait_for(socket, POLLIN, until)) { return false; }
    }
    return true;
}

} // namespace parhelion
