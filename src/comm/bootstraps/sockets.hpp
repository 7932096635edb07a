// SPDX-License-Identifier: Apache-2.0
// TCP connections between processes, none of whose calls waits without a bound.
#pragma once

#include "comm/bootstraps/process_messages.hpp"

#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace parhelion {

using TimePoint = std::chrono::steady_clock::time_point;

struct Address
{
    std::string host; // a name or a number
    int port = 0;
    std::string text() const; // "n042:29500"
};

std::string host_name();

// Accepts connections to this address, or to this port of any if the host is not one of this machine's; port 0: a free one.
// Throws SystemError.
FileDescriptor listen_at(const Address& address);
// Of the socket's own end.
Address address_of(int socket);
// Of the other end; empty if that is gone.
std::string peer_of(int socket);
// A connection, or none if nobody accepts it; calls do not wait on it.
FileDescriptor try_connect(const Address& address, TimePoint until);
// Calls do not wait on the socket, and small messages leave at once.
void prepare(int socket);

// All of these bytes. False if the other end is gone, or at that time.
bool send_all(int socket, std::string_view bytes, TimePoint until);
bool receive_all(int socket, std::span<char> bytes, TimePoint until);

} // namespace parhelion
