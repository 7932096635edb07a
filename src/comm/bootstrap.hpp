// SPDX-License-Identifier: Apache-2.0
// How ranks find each other. A bootstrap says which ranks take part and carries a few bytes between ranks that do not reach each
// other's memory yet. With it they find each other's arenas and the ends of channels. Nothing else asks whether a peer is a
// thread of this process, another process, or on another host. It serves the setup, not the step.
//
// An implementation is one file of bootstraps/. All calls may come from any thread.
#pragma once

#include "comm/file_descriptor.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

using Bytes = std::vector<std::byte>;

// What ranks without a word of memory in common tell each other beside their messages.
struct Notice
{
    enum class Kind : std::uint32_t
    {
        Failed, // the rank has failed: all waits end
        Paused, // it pauses deadlines
        Resumed // it has resumed them
    };
    Kind kind;
    int rank;
};

class Inbox; // comm/bootstraps/inbox.hpp

// Neighbouring ranks.
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
    // Those that are threads of this process.
    virtual RankRange here() const = 0;
    // Leaves bytes for whoever asks by this key, which nobody has used before (ContractError).
    virtual void put(const std::string& key, Bytes value) = 0;
    // What was left under the key, or nothing yet. What its writer did before is then visible; what it did later may be so
    // earlier.
    virtual std::optional<Bytes> get(const std::string& key) = 0;
    // Leaves a letter for a rank. Of one rank to another letters keep their order. Does not wait for who reads them.
    virtual void post(int rank, Bytes letter) = 0;
    // Where a rank of this process finds its letters, as long as the bootstrap lives.
    virtual Inbox& inbox(int rank) = 0;
    // Pages of a rank's memory, shared by all who ask for the same: null where this process does not reach that rank's memory.
    // Zero at first, address space until touched, there until the bootstrap ends. Throws SystemError.
    virtual std::byte* pages(const std::string& what, int rank, std::size_t bytes) = 0;
    // To all processes whose memory this one does not reach, in the order of the calls. Does not wait until they have heard it.
    virtual void tell(const Notice&) {}
    // Hands a descriptor, which stays the caller's, to the other processes of this host, under a key that nobody has used for
    // one before. Where there are none, or none can be reached, nothing happens.
    virtual void pass(const std::string& /*key*/, int /*descriptor*/) {}
    // One that another process has passed, once; or none yet.
    virtual FileDescriptor passed(const std::string& /*key*/) { return {}; }

    // Called from any thread.
    struct Listener
    {
        // Ranks elsewhere have ended too early, says a sentence that names them. Once.
        std::function<void(const std::string& sentence)> on_loss = [](const std::string&) {};
        // What another process has told.
        std::function<void(const Notice&)> on_notice = [](const Notice&) {};
    };
    // Replaces the one before, which is not called any more when this returns. The first one also hears what came before it; a
    // loss is told to every one.
    virtual void listen(Listener listener) = 0;
};

// What another process leaves under the key, as soon as it is there. Throws CommError after the deadline; the key is the text's
// noun.
Bytes wait_for(Bootstrap& bootstrap, const std::string& key, std::chrono::nanoseconds deadline);

} // namespace parhelion
