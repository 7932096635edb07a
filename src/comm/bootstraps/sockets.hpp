// SPDX-License-Identifier: Apache-2.0
// TCP connections between processes, none of whose calls waits without a bound.
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
    std::string host; // a name or a number
    int port = 0;
    std::string text() const; // "n042:29500"
};

std::string host_name();

using Listeners = std::vector<FileDescriptor>;
// Accept connections to this address, all numbers that its name has; port 0: one that is free for all of them. So nobody else of
// this host can listen where others look for this process. Throws SystemError if that cannot be, or if a number is another
// host's.
Listeners listen_at(const Address& address);
// Of the socket's own end.
Address address_of(int socket);
// Who has connected, and the number of his host; no socket: nobody, as errno says.
struct Accepted
{
    FileDescriptor socket;
    std::string host{};
};
Accepted accept_one(int listener);
// One end of a connection: the number of the host, one of IPv4 as IPv6 has it (RFC 4291, 2.5.5.2), and of the port. Zeros if the
// connection is gone.
struct EndPoint
{
    std::array<unsigned char, 16> host{};
    std::array<unsigned char, 2> port{}; // the most significant byte first
    std::string text() const;            // as an address has it
    friend bool operator==(const EndPoint&, const EndPoint&) = default;
};
EndPoint own_end(int socket);
EndPoint other_end(int socket);
// A connection, or none if nobody accepts it; calls do not wait on it.
FileDescriptor try_connect(const Address& address, TimePoint until);
// Calls do not wait on the socket, and small messages leave at once.
void prepare(int socket);

// All of these bytes. False if the other end is gone, or at that time.
bool send_all(int socket, std::string_view bytes, TimePoint until);
bool receive_all(int socket, std::span<char> bytes, TimePoint until);

} // namespace parhelion
