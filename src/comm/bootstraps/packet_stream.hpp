// SPDX-License-Identifier: Apache-2.0
// Packets over TCP, in order, each sealed (comm/bootstraps/seal.hpp). No call waits: what cannot be sent now stays here until
// flush().
#pragma once

#include "comm/bootstraps/process_messages.hpp"
#include "comm/bootstraps/seal.hpp"

#include <utility>
#include <vector>

namespace parhelion {

class PacketStream
{
public:
    PacketStream(FileDescriptor socket, const SealKeys& keys)
        : socket_(std::move(socket)), sending_(keys.sending), receiving_(keys.receiving)
    {
    }

    int socket() const { return socket_.get(); }
    bool is_open() const { return socket_.get() >= 0; }
    bool has_more_to_send() const { return !outgoing_.empty(); }
    // It has closed because what came was not what the other side had sent.
    bool was_forged() const { return was_forged_; }
    // If it is open. It closes when the other side has.
    void send(const ProcessPacket& packet);
    void flush();
    // What has come. The last packets may come with the end.
    std::vector<ProcessPacket> receive();

    void close() { socket_.reset(-1); }

private:
    struct Header
    {
        ProcessSays says;
        FailureKind failure;
        std::uint64_t size;
        std::uint64_t key_bytes, text_bytes;
    };
    // Of a packet: its header with the seal of that, key and text, and their seal.
    std::size_t whole() const { return sizeof header_ + header_.key_bytes + header_.text_bytes + 2 * sizeof(Seal); }
    bool read();
    bool begin_packet(std::string_view bytes);

    FileDescriptor socket_;
    Sealer sending_, receiving_;
    std::string outgoing_, incoming_;
    Header header_{};
    bool is_in_packet_ = false; // header_ holds
    bool was_forged_ = false;
};

} // namespace parhelion
