// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/packet_stream.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace parhelion {

namespace {

struct Header
{
    ProcessSays says;
    FailureKind failure;
    std::uint64_t size;
    std::uint64_t key_bytes, text_bytes;
};

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24; // of a key or a text: more is no packet

} // namespace

void PacketStream::send(const ProcessPacket& packet)
{
    if (!is_open()) { return; }
    const Header header{packet.says, packet.failure, packet.size, packet.key.size(), packet.text.size()};
    outgoing_.append(reinterpret_cast<const char*>(&header), sizeof header);
    outgoing_ += packet.key;
    outgoing_ += packet.text;
    flush();
}

void PacketStream::flush()
{
    while (is_open() && !outgoing_.empty())
    {
        const ssize_t sent = ::send(socket(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) { outgoing_.erase(0, static_cast<std::size_t>(sent)); }
        else if (errno == EAGAIN) { return; }
        else if (errno != EINTR) { outgoing_.clear(); } // receive() finds the end, after what came before it
    }
}

std::vector<ProcessPacket> PacketStream::receive()
{
    std::array<char, 1 << 14> bytes;
    while (is_open())
    {
        const ssize_t received = ::recv(socket(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (received > 0) { incoming_.append(bytes.data(), static_cast<std::size_t>(received)); }
        else if (received < 0 && errno == EINTR) { continue; }
        else if (received < 0 && errno == EAGAIN) { break; }
        else { close(); }
    }
    std::vector<ProcessPacket> packets;
    std::size_t used = 0;
    for (Header header; incoming_.size() - used >= sizeof header;)
    {
        std::memcpy(&header, incoming_.data() + used, sizeof header);
        if (header.key_bytes > most_bytes || header.text_bytes > most_bytes)
        {
            close();
            break;
        }
        const std::size_t whole = sizeof header + header.key_bytes + header.text_bytes;
        if (incoming_.size() - used < whole) { break; }
        const char* const key = incoming_.data() + used + sizeof header;
        packets.push_back(
            {header.says, header.failure, header.size, {key, header.key_bytes}, {key + header.key_bytes, header.text_bytes}});
        used += whole;
    }
    incoming_.erase(0, used);
    return packets;
}

} // namespace parhelion
