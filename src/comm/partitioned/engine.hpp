// SPDX-License-Identifier: Apache-2.0
// All partitioned requests of a rank: has them hear from those of other ranks, moves them on, waits, and gives back what freed
// ones had. Letters, slots and memory are the business of the rank's own thread alone.
#pragma once

#include "comm/partitioned/requests.hpp"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
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
    bool is_owner() const { return std::this_thread::get_id() == owner_; }

    // The name of the next message with this envelope, and of the next collective of these members; it is that of the one that is
    // introduced.
    RequestName name_of_message(const Envelope& envelope, bool is_send) const;
    RequestName name_of_collective(const std::string& members) const;
    // Tells its partners of a request that has been made, and it of what they have said.
    void introduce(RequestState& state);
    // An answer to a partner.
    void answer(const RequestState& state, int partner, Letter::Kind kind, Bytes body);
    // A request is freed: tells its partners. give_back: what it holds, once all of them have parted; false: not yet. It is not
    // called if something is under way that nobody waits for.
    using GiveBack = std::function<bool(const std::vector<Partner>& partners)>;
    void part(const RequestState& state, const Parting& parting, GiveBack give_back);
    // It goes in the middle of an epoch, and all that it holds stays taken.
    void abandon(const RequestState& state) { living_.erase(state.name().here.text()); }

    // The rank's program has ended: requests that go from now on tell nobody.
    void leave() { is_leaving_ = true; }

    // In this rank's arena. Throws MemoryFull.
    Window allocate(std::size_t bytes);

    void list(RequestState& state);
    void list_locked(RequestState& state);
    void forget(RequestState& state);
    // Moves all listed requests on: as far as they go by the rank's own thread, which alone reads letters; sends what is marked
    // by any other.
    void advance();
    // Held while a request is listed or unlisted, moved on, hears a letter, or begins or ends an epoch.
    std::mutex& mutex() { return mutex_; }
    // Until done() is true, at the longest for the deadline; `state` tells what it lacked.
    void wait_until(RequestState& state, const std::function<bool()>& done);

private:
    struct Retired
    {
        std::vector<Partner> partners;
        Parting parting;
        GiveBack give_back;
    };
    // What another rank has said to a request that has not been made here yet.
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
    void say_parted(int to, const Address& here, const Parting& parting);
    void forget_oldest_parted();
    void settle(Retired&& retired);
    void settle_rest();
    bool has_lost_peer(RequestState& state) const;
    [[noreturn]] void give_up(RequestState& state, bool has_expired);

    World& world_;
    int rank_;
    Post post_;
    SignalPool signals_;
    Allocations allocations_;
    std::unordered_map<std::string, Word> made_;                // requests, by envelope
    std::unordered_map<std::string, RequestState*> living_;     // by address
    std::unordered_map<std::string, std::vector<Early>> early_; // by address
    std::deque<std::string> parted_early_;                      // addresses of those that have been freed already
    std::unordered_map<std::string, Retired> retired_;          // by address: some partners have not parted
    std::vector<Retired> settling_;                             // all have; the last credits may be under way
    bool is_leaving_ = false;
    const std::thread::id owner_;
    std::mutex mutex_; // of listed_, and of who is active
    std::vector<RequestState*> listed_;
};

} // namespace parhelion
