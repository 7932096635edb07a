// SPDX-License-Identifier: Apache-2.0
// What processes of a run say to each other beside the messages of their ranks. On one host, with their launcher: packets over a
// pair of connected Unix-domain sockets, which keep the ends of packets, have no name that a stranger could connect to, and carry
// file descriptors. Between hosts: the same packets over TCP (comm/bootstraps/packet_stream.hpp).
#pragma once

#include "comm/bootstrap.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace parhelion {

enum class ProcessSays : std::uint32_t
{
    Put,    // either way: bytes under a key, to be known to all
    Pass,   // either way: a descriptor under a key, for all
    Pages,  // asks for, or brings the descriptor of, `size` bytes of shared memory; without a descriptor `text` says why not
    Failed, // `failure` ended this process, as `text` tells it
    Done,   // this process has done its part, with `size` as its result
    Lost,   // to a process: `text` says which other one has ended too early
    Noted,  // between hosts: `text` is the bytes of a Notice
    Letter, // bytes for rank `size` alone
    Alive   // between hosts: nothing, from time to time
};

// Which exception a process ended by, as base/error.hpp, comm/failures.hpp and comm/run_ranks.hpp have them.
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
    std::string text{}; // the bytes of a Put
};

inline constexpr std::size_t most_packet_bytes = std::size_t{1} << 16;

// Two connected sockets, closed on exec. Throws SystemError.
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
// `passed`: a descriptor to go with the packet, or -1. Throws ContractError if it is longer than most_packet_bytes.
Sent send_packet(int socket, const ProcessPacket& packet, int passed, Wait wait);

struct ReceivedPacket
{
    ProcessPacket packet;
    FileDescriptor passed;
};
// Waits for a packet; nothing: the other side is gone.
std::optional<ReceivedPacket> receive_packet(int socket);

} // namespace parhelion
