// SPDX-License-Identifier: Apache-2.0
// The transport between processes that share no memory: a TCP connection for each two of them, made at the start, by the
// addresses that they leave with the rendezvous and with the secret of the run. Ranks of one process store into each other's
// memory.
//
// A put is a header and its payload, each with its seal (comm/bootstraps/seal.hpp). Whoever puts sends as much as goes at once;
// the rest stays where it lies until the thread of this process can send it. Received payload goes into the arena of the
// destination, where the header says once its seal is right, and then, once that of the payload is, the signal is set with
// release: by the thread, or by a rank that waits, which needs no switch of threads. So a signal follows its payload, and puts
// between two processes keep their order. A connection ends with a farewell, sealed as well: without it the other side has been
// cut off.
#pragma once

#include "comm/bootstraps/rendezvous.hpp"
#include "comm/transport.hpp"
#include "device/helper_threads.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace parhelion {

class TcpTransport : public Transport
{
public:
    // Connects all processes of the rendezvous, which outlives it. Throws CommError, PeerAborted, SystemError.
    TcpTransport(const SymmetricMemory& memory, Rendezvous& rendezvous);
    // Waits, bounded, until all has been sent and the others have no more to send, unless the run has failed.
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
    std::vector<Stream*> stream_of_; // by rank; null: here
    FileDescriptor wake_;            // readable when the thread has something to do
    std::atomic<bool> is_leaving_{false};
    TimePoint leaving_until_{};                                  // released by is_leaving_
    HelperThread thread_{"messages by TCP", HelperNeeds::Turns}; // last: starts when all are connected
};

} // namespace parhelion
