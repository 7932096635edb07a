// SPDX-License-Identifier: Apache-2.0
// A stream of packets over TCP, in order, each authenticated by a seal (comm/bootstraps/seal.hpp). No call waits. Data that
// cannot be sent at once is kept until flush().
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
    // Returns whether the stream has closed because received bytes were not those that the other side had sent.
    bool was_forged() const { return was_forged_; }
    // Sends a packet if the stream is open. The stream closes when the other side has closed.
    void send(const ProcessPacket& packet);
    void flush();
    // Returns all packets that have come, in order. The last packets may come together with the end of the stream.
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
    // Returns the number of bytes of a packet: the header and its seal, the key and the text, and the seal of both.
    std::size_t whole() const { return sizeof header_ + header_.key_bytes + header_.text_bytes + 2 * sizeof(Seal); }
    bool read();
    bool begin_packet(std::string_view bytes);

    FileDescriptor socket_;
    Sealer sending_, receiving_;
    std::string outgoing_, incoming_;
    Header header_{};
    bool is_in_packet_ = false; // true: header_ is valid, and the rest of its packet is missing
    bool was_forged_ = false;
};

} // namespace parhelion
