// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/process_messages.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace parhelion {

namespace {

// The header of a packet. The key and the text follow it and fill the rest of the packet.
struct Header
{
    ProcessSays says;
    FailureKind failure;
    std::uint64_t size;
    std::uint64_t key_bytes;
};

// One file descriptor, in the form in which a socket's message carries it.
struct alignas(cmsghdr) Ancillary
{
    char bytes[CMSG_SPACE(sizeof(int))] = {};
};

} // namespace

SocketPair make_socket_pair()
{
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    {
        throw SystemError(fmt::format("socketpair for the processes of a run failed: {}", std::strerror(errno)));
    }
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

Sent send_packet(int socket, const ProcessPacket& packet, int passed, Wait wait)
{
    Header header{packet.says, packet.failure, packet.size, packet.key.size()};
    PARHELION_EXPECTS(sizeof header + packet.key.size() + packet.text.size() <= most_packet_bytes);
    const auto piece = [](const void* data, std::size_t bytes) { return iovec{const_cast<void*>(data), bytes}; };
    iovec pieces[] = {piece(&header, sizeof header), piece(packet.key.data(), packet.key.size()),
                      piece(packet.text.data(), packet.text.size())};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = std::size(pieces);
    Ancillary ancillary;
    if (passed >= 0)
    {
        message.msg_control = ancillary.bytes;
        message.msg_controllen = sizeof ancillary.bytes;
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof passed);
        std::memcpy(CMSG_DATA(head), &passed, sizeof passed);
    }
    const int flags = MSG_NOSIGNAL | (wait == Wait::No ? MSG_DONTWAIT : 0);
    while (::sendmsg(socket, &message, flags) < 0)
    {
        if (errno == EINTR) { continue; }
        return errno == EAGAIN || errno == EWOULDBLOCK ? Sent::Later : Sent::Never;
    }
    return Sent::Yes;
}

std::optional<ReceivedPacket> receive_packet(int socket)
{
    Header header;
    std::string rest(most_packet_bytes, '\0');
    iovec pieces[] = {{&header, sizeof header}, {rest.data(), rest.size()}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = std::size(pieces);
    Ancillary ancillary;
    message.msg_control = ancillary.bytes;
    message.msg_controllen = sizeof ancillary.bytes;
    ssize_t bytes;
    do {
        bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (bytes < 0 && (errno == EINTR || errno == ECONNRESET)); // ECONNRESET is reported once if unread data is lost
    if (bytes <= 0) { return std::nullopt; }
    ReceivedPacket received;
    if (const cmsghdr* const head = CMSG_FIRSTHDR(&message); head != nullptr && head->cmsg_type == SCM_RIGHTS)
    {
        int fd;
        std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
        received.passed.reset(fd);
    }
    const std::size_t tail = static_cast<std::size_t>(bytes) - std::min(sizeof header, static_cast<std::size_t>(bytes));
    PARHELION_EXPECTS((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0);
    PARHELION_EXPECTS(static_cast<std::size_t>(bytes) >= sizeof header && header.key_bytes <= tail);
    received.packet = {header.says, header.failure, header.size, rest.substr(0, header.key_bytes),
                       rest.substr(header.key_bytes, tail - header.key_bytes)};
    return received;
}

} // namespace parhelion
