// SPDX-License-Identifier: Apache-2.0
// The engine of all partitioned requests of a rank. It exchanges letters with the engines of other ranks, advances requests,
// waits, and gives back what freed requests held. Only the thread that has the rank's turn handles letters, slots and memory.
#pragma once

#include "comm/partitioned/call_peer.hpp"
#include "comm/partitioned/requests.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>

namespace parhelion {

class PartitionedEngine
{
public:
    PartitionedEngine(World& world, int rank);

    World& world() const { return world_; }
    int rank() const { return rank_; }
    const Watch& watch() const { return world_.watch(rank_); }
    SignalPool& signals() { return signals_; }
    Allocations& allocations() { return allocations_; }
    // The turn of a rank, a lock that every call takes, so that the rank's calls come from one thread at a time. A thread in
    // parrived() takes the turn only if it is free, and then does the work of the rank's own thread.
    class Turn
    {
    public:
        explicit Turn(PartitionedEngine& engine) : engine_(&engine) // waits for a thread in parrived(), which takes little time
        {
            while (engine.turn_.test_and_set(std::memory_order_acquire)) { HostAtomics::pause(0); }
        }
        Turn(PartitionedEngine& engine, std::try_to_lock_t)
            : engine_(engine.turn_.test_and_set(std::memory_order_acquire) ? nullptr : &engine)
        {
        }
        ~Turn()
        {
            if (engine_ != nullptr) { engine_->turn_.clear(std::memory_order_release); }
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        bool is_taken() const { return engine_ != nullptr; }

    private:
        PartitionedEngine* engine_;
    };

    // These two return the name of the next message with this envelope, or of the next collective of these members. The request
    // that is introduced next gets this name.
    RequestName name_of_message(const Envelope& envelope, bool is_send) const;
    RequestName name_of_collective(const std::string& members) const;
    // Announces a new request to its partners, and gives the request the letters that partners have already sent to it.
    void introduce(RequestState& state);
    // Sends a letter of this kind and body from a request to one of its partners.
    void answer(const RequestState& state, int partner, Letter::Kind kind, Bytes body);
    // Tells the partners of a freed request that it is freed. Once all partners have freed theirs, give_back
    // releases what the request held. If its value is false, because something is still in flight, advance()
    // calls it again.
    using GiveBack = std::function<bool(const std::vector<Partner>& partners)>;
    void part(const RequestState& state, const Parting& parting, GiveBack give_back);
    // Forgets a request that is destroyed in the middle of an epoch. The slots and memory that it holds stay taken.
    void abandon(const RequestState& state) { living_.erase(state.name().here.text()); }

    // Declares that the rank's program has ended. Requests that are destroyed from now on send no letters to their partners.
    void leave() { is_leaving_ = true; }

    // Allocates in this rank's arena. Throws MemoryFull.
    Window allocate(std::size_t bytes);

    void list(RequestState& state);
    void list_locked(RequestState& state);
    void forget(RequestState& state);
    // Reads letters and advances all listed requests. For the thread that has the rank's turn.
    void advance();
    // Sends the partitions of listed requests that are marked ready. For any thread.
    void help();
    // The lock is held while a request is listed or unlisted, moved on, gets a letter, or begins or ends an epoch.
    std::mutex& mutex() { return mutex_; }
    // Returns the channels to and from another rank for collectives of one call. The first call for a rank makes them.
    CallPeer& call_peer(int rank);
    // Reserves the memory of all these channels, so that later allocations cannot use it up. Throws MemoryFull.
    void reserve_call_peers();
    // Returns true if the record's wait cannot end: its peer's program has ended, and all that the peer has sent is here.
    bool is_lost(const FailureRecord& record) const;
    // Waits until done() is true, or throws at the deadline. The text of the error says what `state` waited for.
    void wait_until(RequestState& state, const std::function<bool()>& done);

private:
    struct Retired
    {
        std::vector<Partner> partners;
        Parting parting;
        GiveBack give_back;
    };
    // A request of another rank whose counterpart here has not been made yet, with the letters that it has sent.
    struct Early
    {
        int from;
        Bytes introduction;
        std::optional<Parting> parting{};
    };
    Word number(const std::string& envelope) const;
    void read_letters();
    void hear(int from, const Letter& letter);
    void hear_of_unknown(int from, const Letter& letter);
    void say_parted(int to, const RequestAddress& here, const Parting& parting);
    void forget_oldest_parted();
    void settle(Retired&& retired);
    void settle_rest();
    [[noreturn]] void give_up(RequestState& state, bool has_expired);

    World& world_;
    int rank_;
    Post post_;
    SignalPool signals_;
    Allocations allocations_;
    std::unordered_map<std::string, Word> made_;                // number of requests made so far, by envelope
    std::unordered_map<std::string, RequestState*> living_;     // requests that exist, by the text of their address
    std::unordered_map<std::string, std::vector<Early>> early_; // letters to requests that do not exist yet, by address
    std::deque<std::string> parted_early_;                      // addresses in early_ of requests that have been freed already
    std::unordered_map<std::string, Retired> retired_;          // freed requests with partners that are not freed, by address
    std::vector<Retired> settling_;                             // freed requests without such partners; credits may be in flight
    bool is_leaving_ = false;
    std::atomic_flag turn_ = ATOMIC_FLAG_INIT;
    std::mutex mutex_; // guards listed_, and whether each request is active
    std::vector<RequestState*> listed_;
    struct ReservedForCalls
    {
        Window slots, staging;
    };
    std::map<int, CallPeer> call_peers_; // by rank; only the thread with the turn uses this and the next member
    std::map<int, ReservedForCalls> reserved_for_calls_;
};

} // namespace parhelion
