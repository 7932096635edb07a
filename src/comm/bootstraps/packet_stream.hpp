// SPDX-License-Identifier: Apache-2.0
// Packets over TCP, in order. No call waits: what cannot be sent now stays here until flush().
#pragma once

#include "comm/bootstraps/process_messages.hpp"

#include <utility>
#include <vector>

namespace parhelion {

class PacketStream
{
public:
    explicit PacketStream(FileDescriptor socket) : socket_(std::move(socket)) {}

    int socket() const { return socket_.get(); }
    bool is_open() const { return socket_.get() >= 0; }
    bool has_more_to_send() const { return !outgoing_.empty(); }
    // If it is open. It closes when the other side has.
    void send(const ProcessPacket& packet);
    void flush();
    // What has come. The last packets may come with the end.
    std::vector<ProcessPacket> receive();

    void close() { socket_.reset(-1); }

private:
    FileDescriptor socket_;
    std::string outgoing_, incoming_;
};

} // namespace parhelion
