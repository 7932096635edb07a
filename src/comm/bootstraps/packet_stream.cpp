// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/packet_stream.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace parhelion {

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24; // limit of the bytes of a key, and of those of a text

template <class T>
std::string_view bytes_of(const T& value)
{
    static_assert(std::has_unique_object_representations_v<T>);
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

bool is_seal(std::string_view bytes, const Seal& seal)
{
    Seal there;
    std::memcpy(there.data(), bytes.data(), sizeof there);
    return Sealer::are_equal(there, seal);
}

} // namespace

void PacketStream::send(const ProcessPacket& packet)
{
    if (!is_open()) { return; }
    const Header header{packet.says, packet.failure, packet.size, packet.key.size(), packet.text.size()};
    const std::string body = packet.key + packet.text;
    sending_.begin_packet();
    outgoing_ += bytes_of(header);
    outgoing_ += bytes_of(sending_.of_head(bytes_of(header)));
    outgoing_ += body;
    outgoing_ += bytes_of(sending_.of_body(body));
    flush();
}

void PacketStream::flush()
{
    while (is_open() && !outgoing_.empty())
    {
        const ssize_t sent = ::send(socket(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) { outgoing_.erase(0, static_cast<std::size_t>(sent)); }
        else if (errno == EAGAIN) { return; }
        else if (errno != EINTR) { outgoing_.clear(); } // receive() will find the end of the stream, after all packets before it
    }
}

// Receives bytes into the buffer. Returns false if no more bytes have come.
bool PacketStream::read()
{
    std::array<char, 1 << 14> bytes;
    const ssize_t received = ::recv(socket(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received > 0) { incoming_.append(bytes.data(), static_cast<std::size_t>(received)); }
    else if (received < 0 && errno == EAGAIN) { return false; }
    else if (received == 0 || errno != EINTR) { close(); }
    return is_open();
}

// Reads a header from the received bytes. Returns false if bytes are missing, or if the other side has not sent the header.
bool PacketStream::begin_packet(std::string_view bytes)
{
    if (bytes.size() < sizeof header_ + sizeof(Seal)) { return false; }
    std::memcpy(&header_, bytes.data(), sizeof header_);
    receiving_.begin_packet();
    is_in_packet_ = is_seal(bytes.substr(sizeof header_), receiving_.of_head(bytes_of(header_))) &&
                    header_.key_bytes <= most_bytes && header_.text_bytes <= most_bytes;
    was_forged_ = !is_in_packet_;
    return is_in_packet_;
}

std::vector<ProcessPacket> PacketStream::receive()
{
    std::vector<ProcessPacket> packets;
    if (was_forged_) { return packets; }
    while (is_open() && read()) {}
    std::string_view left = incoming_;
    while ((is_in_packet_ || begin_packet(left)) && left.size() >= whole())
    {
        const std::string_view body = left.substr(sizeof header_ + sizeof(Seal), header_.key_bytes + header_.text_bytes);
        was_forged_ = !is_seal({body.data() + body.size(), sizeof(Seal)}, receiving_.of_body(body));
        if (was_forged_) { break; }
        packets.push_back({header_.says, header_.failure, header_.size, std::string(body.substr(0, header_.key_bytes)),
                           std::string(body.substr(header_.key_bytes))});
        left.remove_prefix(whole());
        is_in_packet_ = false;
    }
    if (was_forged_) { close(); }
    incoming_.erase(0, incoming_.size() - left.size());
    return packets;
}

} // namespace parhelion
