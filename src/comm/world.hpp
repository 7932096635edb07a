// SPDX-License-Identifier: Apache-2.0
// The ranks that talk to each other, as one process sees them: their symmetric memory, the transport between them, the channel
// ends they have opened, and the record of the first failure. Where the memory of others is out of reach, the record is of the
// ranks within reach, and who is not is told of failures and of pauses of deadlines through the bootstrap. A world runs nothing:
// each rank of this process is a thread of the caller's, which takes its communicator and shares nothing else with the others.
// How ranks find each other and who carries their bytes is the network's choice (comm/network.hpp).
#pragma once

#include "comm/channel.hpp"
#include "comm/network.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace parhelion {

class Communicator;

struct WorldOptions
{
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // of one wait
    std::size_t payload_bytes = std::size_t{1} << 30;             // of address space for each rank; memory_bytes of C and Python
    std::size_t signal_slots = std::size_t{1} << 16;              // for each rank
    std::string tag_name = "round"; // what Communicator::set_tag() counts, for the text of failures; -1 at first
};

class World
{
public:
    explicit World(Network network, const WorldOptions& options = {});
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    int ranks() const { return memory_.ranks(); }
    RankRange here() const { return bootstrap_->here(); }
    // Who besides is told that ranks elsewhere have ended, once and from any thread; empty: nobody. Not called any more when this
    // returns.
    using OnLoss = std::function<void(const std::string& sentence)>;
    void on_loss(OnLoss listener);
    // The rank's program has ended: it sends nothing any more. Others within its reach can ask.
    void leave(int rank);
    bool has_left(int rank) const;
    // Throws PeerAborted if a wait of any rank has failed, or a rank has been lost.
    void expect_whole(int rank);
    // For the thread that is this rank, of those here.
    Communicator communicator(int rank);

    // What follows is for the parts of this room.
    SymmetricMemory& memory() { return memory_; }
    Transport& transport() { return *transport_; }
    Bootstrap& bootstrap() { return *bootstrap_; }
    const Watch& watch(int rank) const { return of(rank).watch; }
    void set_tag(int rank, std::int64_t tag) { of(rank).tag = tag; }
    // No wait of any rank reaches its deadline between the two.
    void pause_deadlines(int rank);
    void resume_deadlines(int rank);
    // Ends all waits of all ranks, unless a failure has done so before.
    void stop(int rank);
    // Either end of a channel, for the rank's own thread. Each end is opened once.
    SendChannel open_send(const std::string& label, int source, int destination, const ChannelOptions& options);
    ReceiveChannel open_receive(const std::string& label, int source, int destination, const ChannelOptions& options);
    // The other end of one's channel of this number, once it is open. Throws ContractError if its options differ.
    std::optional<SendEnd> send_end(const ChannelName& name) const;
    std::optional<ReceiveEnd> receive_end(const ChannelName& name) const;
    // Ends a wait that did not end well, seen from this rank: CommError if the failure is its own, else PeerAborted. `text`: of
    // the CommError, if the record does not say it best.
    [[noreturn]] void throw_failure(int rank, Verdict verdict, const std::string& text = "");

private:
    struct OfRank
    {
        Watch watch{};
        std::int64_t tag = -1;
        std::vector<std::pair<std::string, ChannelOptions>> channels; // ends, by number; the rank's own
    };
    OfRank& of(int rank) { return of_ranks_[static_cast<std::size_t>(rank)]; }
    const OfRank& of(int rank) const { return of_ranks_[static_cast<std::size_t>(rank)]; }

    // Ends all waits of the ranks here: ranks elsewhere have ended, as the sentence says.
    void lose(const std::string& sentence);
    void hear(const Notice& notice);
    void end_waits_here();
    [[noreturn]] void throw_first_failure(int rank, const std::string& text) const;
    std::string loss() const; // the sentence, or nothing

    template <class End>
    std::optional<End> find(const char* what, const ChannelName& name, int asker) const;

    std::shared_ptr<Bootstrap> bootstrap_; // first: all memory is its
    SymmetricMemory memory_;
    std::chrono::nanoseconds deadline_;
    std::string tag_name_;
    FirstFailure own_failure_;             // used if rank 0's is out of reach
    FirstFailure* first_failure_;          // rank 0's, or this process's own
    std::vector<SignalSlot*> abort_slots_; // within reach
    std::vector<OfRank> of_ranks_;
    mutable std::mutex loss_mutex_;
    std::string loss_;                     // guarded by loss_mutex_
    OnLoss on_loss_;                       // likewise
    std::unique_ptr<Transport> transport_; // last: its threads end before the memory they write goes
};

} // namespace parhelion
