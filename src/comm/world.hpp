// SPDX-License-Identifier: Apache-2.0
// The ranks of one process: their symmetric memory, the transport between them, the table in which the two ends of a channel find
// each other, and the board for the first failure. Runs nothing: each rank is a thread of the caller's, which takes its
// communicator and shares nothing else with the others.
#pragma once

#include "comm/channel.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

namespace parhelion {

class Communicator;

// How a source gets bytes to its peer.
enum class PeerAccess : std::uint8_t
{
    Pointers, // it stores into the peer's memory
    Staged    // it stores into its own, and the transport carries them
};

struct WorldOptions
{
    PeerAccess access = PeerAccess::Pointers;
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // of one wait
    std::size_t payload_bytes = std::size_t{1} << 30;             // of address space for each rank
    std::size_t signal_slots = std::size_t{1} << 16;              // for each rank
    std::string tag_name = "round"; // what Communicator::set_tag() counts, for the text of failures; -1 at first
    // Puts another transport in front of the one between threads.
    std::function<std::unique_ptr<Transport>(std::unique_ptr<Transport>)> wrap_transport;
};

class World
{
public:
    explicit World(int ranks, const WorldOptions& options = {});
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    int ranks() const { return memory_.ranks(); }
    // For the thread that is this rank.
    Communicator communicator(int rank);

    // What follows is for the parts of this room.
    SymmetricMemory& memory() { return memory_; }
    Transport& transport() { return *transport_; }
    const Watch& watch(int rank) const { return contexts_[static_cast<std::size_t>(rank)].watch; }
    void set_tag(int rank, std::int64_t tag) { contexts_[static_cast<std::size_t>(rank)].tag = tag; }
    // Either end of a channel; whichever comes first reserves the memory of both. Each end is opened once.
    SendChannel open_send(const std::string& label, int source, int destination, const ChannelOptions& options);
    ReceiveChannel open_receive(const std::string& label, int source, int destination, const ChannelOptions& options);
    // The same offset for all members of a group, whichever of them calls first. Members call in one order, with equal sizes.
    Window allocate(const std::string& group, std::span<const int> members, int place, std::size_t bytes);
    // Ends a wait that did not end well, seen from this rank: CommError if the failure is its own, else PeerAborted.
    [[noreturn]] void throw_failure(int rank, Verdict verdict) const;

private:
    struct Context
    {
        Watch watch{};
        std::int64_t tag = -1;
    };
    struct Match; // what both ends of a channel share
    struct Key
    {
        std::string label;
        int source;
        int destination;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct GroupAllocation
    {
        std::vector<Window> windows;      // one per collective call
        std::map<int, std::size_t> calls; // made by each member, by place
    };

    Match& match(const Key& key, const ChannelOptions& options);
    std::string text_of(const FailureRecord& record) const;

    SymmetricMemory memory_;
    std::chrono::nanoseconds deadline_;
    std::string tag_name_;
    FailureBoard board_;
    std::vector<SignalSlot*> abort_slots_;
    std::vector<Context> contexts_;
    mutable std::mutex mutex_; // of what follows
    std::map<Key, std::unique_ptr<Match>> matches_;
    std::vector<const Key*> channels_; // by number
    std::map<std::string, GroupAllocation> group_allocations_;
    std::unique_ptr<Transport> transport_; // last: its threads end before the memory they write goes
};

} // namespace parhelion
