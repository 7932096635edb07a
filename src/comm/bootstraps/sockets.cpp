// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/sockets.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <arpa/inet.h>
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
#include <utility>

namespace parhelion {

namespace {

using Found = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Returns the addresses of a host, or null if there is no such host.
Found look_up(const Address& address)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const bool is_known =
        !address.host.empty() && ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found) == 0;
    return {is_known ? found : nullptr, &::freeaddrinfo};
}

// Returns each address of a host once; name tables may list an address twice.
std::vector<sockaddr_storage> addresses_of(const Address& address)
{
    std::vector<sockaddr_storage> addresses;
    const Found found = look_up(address);
    for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next)
    {
        sockaddr_storage storage{};
        std::memcpy(&storage, at->ai_addr, at->ai_addrlen);
        const bool is_known = std::any_of(addresses.begin(), addresses.end(), [&](const sockaddr_storage& other) {
            return std::memcmp(&other, &storage, sizeof storage) == 0;
        });
        if (!is_known) { addresses.push_back(storage); }
    }
    return addresses;
}

FileDescriptor open_socket(const addrinfo& at)
{
    return FileDescriptor(::socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol));
}

void set_port(sockaddr_storage& address, int port)
{
    const auto number = htons(static_cast<std::uint16_t>(port));
    if (address.ss_family == AF_INET6) { reinterpret_cast<sockaddr_in6&>(address).sin6_port = number; }
    else { reinterpret_cast<sockaddr_in&>(address).sin_port = number; }
}

EndPoint end_point(const sockaddr_storage& address)
{
    EndPoint end{};
    if (address.ss_family == AF_INET6)
    {
        const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
        std::memcpy(end.host.data(), &six.sin6_addr, sizeof end.host);
        std::memcpy(end.port.data(), &six.sin6_port, sizeof end.port);
    }
    else if (address.ss_family == AF_INET)
    {
        const auto& four = reinterpret_cast<const sockaddr_in&>(address);
        end.host[10] = end.host[11] = 0xff;
        std::memcpy(end.host.data() + 12, &four.sin_addr, 4);
        std::memcpy(end.port.data(), &four.sin_port, sizeof end.port);
    }
    return end;
}

in6_addr host_of(const EndPoint& end)
{
    in6_addr host;
    std::memcpy(&host, end.host.data(), sizeof host);
    return host;
}

// Returns whether the address can belong to a single host: it is no wildcard, broadcast or multicast address.
bool is_one_hosts(const EndPoint& end)
{
    const in6_addr host = host_of(end);
    if (!IN6_IS_ADDR_V4MAPPED(&host)) { return !IN6_IS_ADDR_UNSPECIFIED(&host) && !IN6_IS_ADDR_MULTICAST(&host); }
    return end.host[12] != 0 && end.host[12] < 224;
}

struct Listening
{
    Listeners sockets;
    int error = 0; // errno of the address on which this process cannot listen
    std::string where{};
};

// Listens once on each address. A host without IPv6 may still list ::1, an address at which no peer can connect.
Listening try_listen(const std::vector<sockaddr_storage>& addresses, int port)
{
    Listening all;
    for (sockaddr_storage address : addresses)
    {
        set_port(address, port);
        const socklen_t bytes = address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
        const EndPoint end = end_point(address);
        const in6_addr host = host_of(end);
        FileDescriptor socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        const int on = 1;
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        errno = is_one_hosts(end) ? 0 : EADDRNOTAVAIL;
        if (errno == 0 && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
            ::listen(socket.get(), SOMAXCONN) == 0)
        {
            if (port == 0) { port = address_of(socket.get()).port; }
            all.sockets.push_back(std::move(socket));
            continue;
        }
        if ((errno == EADDRNOTAVAIL || errno == EBADF) && IN6_IS_ADDR_LOOPBACK(&host)) { continue; }
        return {{}, errno, end.text()};
    }
    return all;
}

// Waits for the events. Returns false if they do not come before the time `until`.
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

Listeners listen_at(const Address& address)
{
    const std::vector<sockaddr_storage> addresses = addresses_of(address);
    if (addresses.empty())
    {
        throw SystemError(
            fmt::format("There is no host '{}', where this process would listen. Name this host by its name or number "
                        "(PARHELION_HOST).",
                        address.host));
    }
    constexpr int most_tries = 20; // a port that is free on one address may be taken on another
    Listening listening;
    for (int tries = 0; tries < (address.port == 0 ? most_tries : 1); ++tries)
    {
        listening = try_listen(addresses, address.port);
        if (!listening.sockets.empty()) { return std::move(listening.sockets); }
        if (listening.error != EADDRINUSE) { break; }
    }
    if (listening.error == EADDRINUSE)
    {
        throw SystemError(
            fmt::format("No connections can be accepted at {}: {} is in use already, by another run or by a stranger. "
                        "Choose another port.",
                        address.text(), listening.where));
    }
    if (listening.error == EADDRNOTAVAIL || listening.error == 0)
    {
        throw SystemError(fmt::format("No connections can be accepted at {}: {} is not a number of this host alone, and others "
                                      "would call somebody else there. Name this host by its name or number (PARHELION_HOST).",
                                      address.text(), listening.where));
    }
    throw SystemError(fmt::format("No connections can be accepted at {}: {}: {}. Choose another port.", address.text(),
                                  listening.where, std::strerror(listening.error)));
}

EndPoint own_end(int socket)
{
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    return ::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &bytes) == 0 ? end_point(storage) : EndPoint{};
}

EndPoint other_end(int socket)
{
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    return ::getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &bytes) == 0 ? end_point(storage) : EndPoint{};
}

std::string EndPoint::text() const
{
    const in6_addr number = host_of(*this);
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool is_four = IN6_IS_ADDR_V4MAPPED(&number);
    ::inet_ntop(is_four ? AF_INET : AF_INET6, host.data() + (is_four ? 12 : 0), text.data(), text.size());
    return Address{text.data(), port[0] << 8 | port[1]}.text();
}

Address address_of(int socket)
{
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    return ::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &bytes) == 0 ? numeric(storage, bytes) : Address{};
}

Accepted accept_one(int listener)
{
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    FileDescriptor socket(::accept4(listener, reinterpret_cast<sockaddr*>(&storage), &bytes, SOCK_CLOEXEC));
    if (socket.get() < 0) { return {}; }
    prepare(socket.get());
    return {std::move(socket), numeric(storage, bytes).host};
}

FileDescriptor try_connect(const Address& address, TimePoint until)
{
    const Found found = look_up(address);
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
