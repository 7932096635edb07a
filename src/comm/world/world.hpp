// SPDX-License-Identifier: Apache-2.0
// The ranks of a run as one process sees them: their symmetric memory, the transport, the channel ends they have opened, and
// the record of the first failure. If memory of some ranks is out of reach, the record is for the ranks within reach; the
// bootstrap informs the other ranks of failures and of pauses of deadlines. A world runs no code of its own. Each rank of this
// process is a thread of the caller's, which takes its communicator and shares nothing else with other ranks. The network
// decides how ranks find each other and what carries their bytes (comm/core/network.hpp).
#pragma once

#include "comm/core/network.hpp"
#include "comm/world/channel.hpp"

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
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // limit of each wait
    std::size_t payload_bytes = std::size_t{1} << 30;             // address space of each rank; C and Python call it memory_bytes
    std::size_t signal_slots = std::size_t{1} << 16;              // number of signal slots of each rank
    std::string tag_name = "round"; // noun for the number of Communicator::set_tag(), -1 at first, in texts of failures
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
    // Sets the listener that is called once, on any thread, when ranks of other processes have ended; empty means none. The
    // previous listener is not called any more after this returns.
    using OnLoss = std::function<void(const std::string& sentence)>;
    void on_loss(OnLoss listener);
    // Declares that the rank's program has ended and sends no more messages. has_left() tells that to ranks within reach.
    void leave(int rank);
    bool has_left(int rank) const;
    // Throws PeerAborted if a wait of any rank has failed, or a rank has been lost.
    void expect_whole(int rank);
    bool is_whole(int rank) const; // returns whether expect_whole() would not throw
    // Returns the communicator of a rank of this process. The thread that runs this rank calls it.
    Communicator communicator(int rank);

    // The members below are for other parts of src/comm.
    SymmetricMemory& memory() { return memory_; }
    Transport& transport() { return *transport_; }
    Bootstrap& bootstrap() { return *bootstrap_; }
    const Watch& watch(int rank) const { return of(rank).watch; }
    void set_tag(int rank, std::int64_t tag) { of(rank).tag = tag; }
    // Between these two calls no wait of any rank reaches its deadline.
    void pause_deadlines(int rank);
    void resume_deadlines(int rank);
    // Ends all waits of all ranks, unless a failure has already done so.
    void stop(int rank);
    // Open one end of a channel; the rank's own thread calls. Each end is opened once.
    SendChannel open_send(const std::string& label, int source, int destination, const ChannelOptions& options);
    ReceiveChannel open_receive(const std::string& label, int source, int destination, const ChannelOptions& options);
    // Return the other end of a channel of this rank, or nothing before it is open. They throw ContractError if options differ.
    std::optional<SendEnd> send_end(const ChannelName& name) const;
    std::optional<ReceiveEnd> receive_end(const ChannelName& name) const;
    // Throws the error of a wait of this rank that failed: CommError if this rank failed first, otherwise PeerAborted. If
    // `text` is not empty, it is the text of the CommError in place of the one made from the record.
    [[noreturn]] void throw_failure(int rank, Verdict verdict, const std::string& text = "");

private:
    struct OfRank
    {
        Watch watch{};
        std::int64_t tag = -1;
        std::vector<std::pair<std::string, ChannelOptions>> channels; // this rank's ends by number; only its thread uses them
    };
    OfRank& of(int rank) { return of_ranks_[static_cast<std::size_t>(rank)]; }
    const OfRank& of(int rank) const { return of_ranks_[static_cast<std::size_t>(rank)]; }

    // Ends all waits of the ranks of this process, because other ranks have ended; the sentence says which.
    void lose(const std::string& sentence);
    void hear(const Notice& notice);
    void end_waits_here();
    [[noreturn]] void throw_first_failure(int rank, const std::string& text) const;
    std::string loss() const; // returns the sentence given to lose(), or an empty text

    template <class End>
    std::optional<End> find(const char* what, const ChannelName& name, int asker) const;

    std::shared_ptr<Bootstrap> bootstrap_; // declared first, as it owns all memory
    SymmetricMemory memory_;
    std::chrono::nanoseconds deadline_;
    std::string tag_name_;
    int keeper_; // first rank within reach, whose memory holds the failure record
    FirstFailure* first_failure_;
    std::vector<SignalSlot*> abort_slots_; // abort slots of all ranks within reach
    std::vector<OfRank> of_ranks_;
    mutable std::mutex loss_mutex_;
    std::string loss_;                     // guarded by loss_mutex_
    OnLoss on_loss_;                       // guarded by loss_mutex_
    std::unique_ptr<Transport> transport_; // declared last: its threads end before the memory they write is freed
};

} // namespace parhelion
