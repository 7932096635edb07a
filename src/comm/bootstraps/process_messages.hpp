// SPDX-License-Identifier: Apache-2.0
// Messages between the processes of a run, beside those between their ranks. On one host they are packets between a process and
// its launcher, over two connected Unix-domain sockets, which keep packet boundaries, have no name to which a stranger could
// connect, and carry file descriptors. Between hosts they go over TCP (comm/bootstraps/packet_stream.hpp).
#pragma once

#include "comm/core/bootstrap.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace parhelion {

enum class ProcessSays : std::uint32_t
{
    Put,    // sent both ways: bytes under a key, for all processes
    Pass,   // sent both ways: a file descriptor under a key, for all processes
    Pages,  // request for `size` bytes of shared memory; the answer has their descriptor, or the reason in `text`
    Failed, // this process ended by the error `failure`; `text` is the error's text
    Done,   // this process has finished, with result `size`
    Lost,   // sent to a process: another process has ended too early, which `text` says
    Noted,  // between hosts: `text` holds the bytes of a Notice
    Letter, // `text` holds bytes for rank `size` only
    Alive   // between hosts: a heartbeat without data
};

// The exceptions that can end a process, from base/error.hpp and comm/core/failures.hpp.
enum class FailureKind : std::uint32_t
{
    Input,
    Physics,
    Comm,
    PeerAborted,
    System,
    Contract,
    ProgramStopped,
    MemoryFull,
    LimitReached,
    LostRank
};

struct ProcessPacket
{
    ProcessSays says{};
    FailureKind failure{};
    std::uint64_t size = 0;
    std::string key{};
    std::string text{}; // text; in a Put the stored bytes
};

inline constexpr std::size_t most_packet_bytes = std::size_t{1} << 16;

// Two sockets that are connected with each other and closed on exec. make_socket_pair() throws SystemError.
struct SocketPair
{
    FileDescriptor launcher, process;
};
SocketPair make_socket_pair();

enum class Wait : std::uint8_t
{
    Yes,
    No
};
enum class Sent : std::uint8_t
{
    Yes,
    Later, // the other side's queue is full
    Never  // the other side is gone
};
// Sends a packet. `passed`: descriptor to send along, or -1. Throws ContractError if the packet exceeds most_packet_bytes.
Sent send_packet(int socket, const ProcessPacket& packet, int passed, Wait wait);

struct ReceivedPacket
{
    ProcessPacket packet;
    FileDescriptor passed;
};
// Waits for a packet and returns it. Returns nothing if the other side is gone.
std::optional<ReceivedPacket> receive_packet(int socket);

} // namespace parhelion
