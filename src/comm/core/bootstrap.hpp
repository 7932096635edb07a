// SPDX-License-Identifier: Apache-2.0
// The interface by which ranks find each other. A bootstrap knows which ranks take part, and carries a few bytes between ranks
// that cannot address each other's memory yet. With these bytes ranks find arenas and channel ends. No other code asks whether
// a peer is a thread, a process, or on another host. A bootstrap is for the setup, not for the step.
//
// Each implementation of this interface is one file of bootstraps/. Any thread may call any of its functions.
#pragma once

#include "comm/core/file_descriptor.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

using Bytes = std::vector<std::byte>;

// A notice from one rank to ranks with which it shares no memory. It travels beside the messages of channels.
struct Notice
{
    enum class Kind : std::uint32_t
    {
        Failed, // the rank has failed, so all waits must end
        Paused, // the rank pauses the deadlines of all waits
        Resumed // the rank has resumed the deadlines
    };
    Kind kind;
    int rank;
};

class Inbox; // defined in comm/core/inbox.hpp

// A range of consecutive ranks, given by the first rank and the number of ranks.
struct RankRange
{
    int first = 0;
    int count = 0;
};

class Bootstrap
{
public:
    virtual ~Bootstrap() = default;

    virtual int ranks() const = 0;
    // Returns the ranks that are threads of this process.
    virtual RankRange here() const = 0;
    // Stores bytes under a key, for get() in any process. Throws ContractError if the key has been used before.
    virtual void put(const std::string& key, Bytes value) = 0;
    // Returns the bytes stored under the key, or nothing if they have not come yet. All that the storing thread wrote before
    // put() is visible then. Its later writes may be visible, too.
    virtual std::optional<Bytes> get(const std::string& key) = 0;
    // Posts a letter to a rank. Letters from one rank to another keep their order. Does not wait until the letter is read.
    virtual void post(int rank, Bytes letter) = 0;
    // Returns the inbox of a rank of this process. The inbox lives as long as the bootstrap.
    virtual Inbox& inbox(int rank) = 0;
    // Returns pages of a rank's memory, or null if this process cannot map them. Callers with equal arguments share the pages.
    // These are zero at first, only address space until touched, and live as long as the bootstrap. Throws SystemError.
    virtual std::byte* pages(const std::string& what, int rank, std::size_t bytes) = 0;
    // Sends a notice to all processes whose memory is out of reach, in the order of the calls. Does not wait until it arrives.
    virtual void tell(const Notice&) {}
    // Passes a file descriptor, which the caller keeps, to the other processes of this host. No descriptor may have used the
    // key before. Does nothing if there is no other process, or if no other process can be reached.
    virtual void pass(const std::string& /*key*/, int /*descriptor*/) {}
    // Returns the descriptor that another process has passed under this key, once. Returns an empty one if it has not come.
    virtual FileDescriptor passed(const std::string& /*key*/) { return {}; }

    // The functions that a bootstrap calls when something happens. They may be called on any thread.
    struct Listener
    {
        // Called at most once, when ranks of other processes have ended too early; the sentence names them.
        std::function<void(const std::string& sentence)> on_loss = [](const std::string&) {};
        // Called with each notice of another process.
        std::function<void(const Notice&)> on_notice = [](const Notice&) {};
    };
    // Replaces the previous listener, which is not called any more after this returns. The first listener is also told of
    // notices that came before it. Every listener is told of a loss, even of an earlier one.
    virtual void listen(Listener listener) = 0;
};

// Waits until another process has stored bytes under the key, and returns the bytes. Throws CommError at the deadline; the text
// of the error names the missing bytes by their key.
Bytes wait_for(Bootstrap& bootstrap, const std::string& key, std::chrono::nanoseconds deadline);

} // namespace parhelion
