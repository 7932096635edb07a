// SPDX-License-Identifier: Apache-2.0
// The transport between processes that share no memory: a TCP connection for each pair of processes, made at the start, by
// addresses from the rendezvous and with the secret of the run. Ranks that reach each other's memory, for instance in one
// process, store into that memory.
//
// A put is a header and its payload, each with its seal (comm/bootstraps/seal.hpp). The calling thread sends as much as
// possible at once; the rest stays at its place until the thread of the transport can send it. When the seal of the header is
// right, received payload goes into the destination's arena where the header says. When the payload's seal is right, too, the
// signal is set with release. The transport's thread receives, or a waiting rank, which saves a thread switch. So a signal
// follows its payload, and puts between two processes keep their order. A connection ends with a sealed farewell; without a
// farewell, the other side has been cut off.
#pragma once

#include "comm/bootstraps/rendezvous.hpp"
#include "comm/core/transport.hpp"
#include "device/helper_threads.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace parhelion {

class TcpTransport : public Transport
{
public:
    // Connects this process with all processes of the rendezvous that do not share its memory. The rendezvous outlives the
    // transport. Throws CommError, PeerAborted, SystemError.
    TcpTransport(const SymmetricMemory& memory, Rendezvous& rendezvous);
    // Unless the run has failed, waits for a bounded time until all puts are sent and the other processes have no more to send.
    ~TcpTransport() override;

    std::byte* reach_payload(int, int destination, std::size_t offset) override { return memory_.payload(destination, offset); }
    SignalSlot* reach_signal(int, int destination, std::size_t index) override { return memory_.signal(destination, index); }
    void put_signal(const Put& put) override;
    void progress() override;

private:
    struct Header
    {
        std::uint64_t offset, bytes, signal, epoch;
        std::int32_t destination;
        std::uint32_t has_payload;
    };
    class Stream;

    void await_mappings(Rendezvous& rendezvous);
    void connect_to_earlier(Rendezvous& rendezvous, TimePoint until);
    void accept_later(Rendezvous& rendezvous, Acceptor& acceptor, TimePoint until);
    void add(const ProcessCard& card, FileDescriptor socket, const SealKeys& keys);
    void tell_of_losses();
    void run();
    bool is_over();

    const SymmetricMemory& memory_;
    Rendezvous& rendezvous_;
    const RankRange here_;
    const std::chrono::nanoseconds deadline_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::vector<Stream*> stream_of_; // connections by rank; null if the rank's memory is within reach
    FileDescriptor wake_;            // readable when the transport's thread has work
    std::atomic<bool> is_leaving_{false};
    TimePoint leaving_until_{};                                  // published by the release of is_leaving_
    HelperThread thread_{"messages by TCP", HelperNeeds::Turns}; // declared last: starts when all are connected
};

} // namespace parhelion
