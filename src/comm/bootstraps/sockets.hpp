// SPDX-License-Identifier: Apache-2.0
// TCP connections between processes. No call waits without a bound.
#pragma once

#include "comm/bootstraps/process_messages.hpp"

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

using TimePoint = std::chrono::steady_clock::time_point;

struct Address
{
    std::string host; // a name or a numeric address
    int port = 0;
    std::string text() const; // returns text like "n042:29500"
};

std::string host_name();

using Listeners = std::vector<FileDescriptor>;
// Returns sockets that listen at this address, on all numeric addresses of its name; port 0 means a port that is free on all of
// them. So no other process of this host can listen where peers look for this process. Throws SystemError if listening is
// impossible, or if an address belongs to another host.
Listeners listen_at(const Address& address);
// Returns the address of this process's end of a connection, or of a listening socket.
Address address_of(int socket);
// A new connection and the numeric address of its host. The socket is empty if there was no connection; errno tells why.
struct Accepted
{
    FileDescriptor socket;
    std::string host{};
};
Accepted accept_one(int listener);
// One end of a connection: its host and port as numbers. An IPv4 address is mapped to IPv6 (RFC 4291, 2.5.5.2). All numbers are
// zero if the connection is gone.
struct EndPoint
{
    std::array<unsigned char, 16> host{};
    std::array<unsigned char, 2> port{}; // port number in network byte order
    std::string text() const;            // returns text like "10.0.0.4:29500" or "[fe80::1]:29500"
    friend bool operator==(const EndPoint&, const EndPoint&) = default;
};
EndPoint own_end(int socket);
EndPoint other_end(int socket);
// Returns a connection, or an empty descriptor if no process accepts before `until`. Calls on the socket do not wait.
FileDescriptor try_connect(const Address& address, TimePoint until);
// Sets the options of a socket: calls do not wait, and small messages are sent at once.
void prepare(int socket);

// Send or receive all of these bytes. Return false if the other end is gone, or if it takes longer than `until`.
bool send_all(int socket, std::string_view bytes, TimePoint until);
bool receive_all(int socket, std::span<char> bytes, TimePoint until);

} // namespace parhelion
