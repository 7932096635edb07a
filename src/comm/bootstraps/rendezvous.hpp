// SPDX-License-Identifier: Apache-2.0
// Processes on any hosts, as one of them sees the other processes. They meet at an address where the process of rank 0 listens,
// and prove that they know the secret of the run (comm/bootstraps/greeting.hpp). Each keeps its connection to the process of
// rank 0. That process forwards what processes store for each other, notices ended connections and missing heartbeats, and
// informs all. A thread in every process receives packets and sends heartbeats.
//
// The program that starts the processes gives them their ranks and this address. A rendezvous is a bootstrap for a world and
// may outlive it: messages of a process before its ranks run, and how the process ended, use the same connections.
#pragma once

#include "comm/bootstraps/greeting.hpp"
#include "comm/bootstraps/heard.hpp"
#include "comm/bootstraps/host_memory.hpp"
#include "comm/bootstraps/packet_stream.hpp"
#include "comm/bootstraps/pages.hpp"
#include "device/helper_threads.hpp"

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

namespace parhelion {

struct RendezvousOptions
{
    int ranks = 1;
    RankRange here{0, 1};
    Address address; // address at which the process of rank 0 listens
    // Returns the secret, or nothing if it is not known yet. Called again if the secret turns out to be wrong.
    std::function<std::optional<Secret>()> secret;
    Wire wire = Wire::Sealed;                                     // how all connections of the run are protected
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // limit of the meeting, and of the silence of a process
    // Called in the process of rank 0 for the first process that connects without belonging to the run.
    std::function<void(const std::string& sentence)> on_stranger = nullptr;
    // Must end this process with the error that ended the run. The thread calls it if the ranks of this process do not return
    // (end_by()) within seconds, because a library call of theirs waits for a lost rank. Nothing: the ranks always return.
    std::function<void(const std::exception_ptr& error, bool is_told_by_first)> on_stuck = nullptr;
    // Called by the thread from time to time. Returns the reason why this process wants the run to end, or an empty text.
    std::function<std::string()> why_end = nullptr;
    // Returns sockets that listen at the address; called in the process of rank 0.
    std::function<Listeners(const Address&)> listen = listen_at;
    // True: processes of one host and user share the memory of their ranks, if all of them set this.
    bool shares_memory = false;
};

class Rendezvous : public Bootstrap
{
public:
    // Meets the others. Throws CommError if not all have come by the deadline, LostRank if one has gone before; SystemError.
    explicit Rendezvous(const RendezvousOptions& options);
    // Leaves the run: waits, for a bounded time, until the other processes have received everything stored by this one.
    ~Rendezvous() override;
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    int ranks() const override { return options_.ranks; }
    RankRange here() const override { return options_.here; }
    void put(const std::string& key, Bytes value) override;
    std::optional<Bytes> get(const std::string& key) override { return heard_.get(key); }
    void post(int rank, Bytes letter) override;
    Inbox& inbox(int rank) override { return heard_.inbox(rank); }
    // Throws SystemError, and if memory is shared CommError and PeerAborted.
    std::byte* pages(const std::string& what, int rank, std::size_t bytes) override;
    void tell(const Notice& notice) override;
    void listen(Listener listener) override { heard_.listen(std::move(listener)); }

    // The value under a key once it is there. Throws CommError at the deadline, PeerAborted if somebody has failed or been lost.
    Bytes wait_for(const std::string& key) { return wait_for(key, options_.deadline); }
    // Throws PeerAborted if somebody has failed or been lost.
    void expect_whole();
    // Returns the cards of all processes, ordered by rank.
    const std::vector<ProcessCard>& processes() const { return processes_; }
    // Returns the card of this process.
    ProcessCard card() const { return make_card(options_.ranks, options_.here); }
    // Returns the host of this process as an address at which other processes reach it.
    std::string host() const;
    const Secret& secret() const { return *secret_; }
    Wire wire() const { return options_.wire; }
    std::chrono::nanoseconds deadline() const { return options_.deadline; }

    // Ends this process because of `error`. Throws the error that ends the run: the first error that the process of rank 0 has
    // received, or `error` if none comes within seconds.
    [[noreturn]] void end_by(const std::exception_ptr& error);
    // Ends the run for a reason that this process has found, and informs all processes. Any thread may call it.
    void lose(const std::string& sentence);
    // Returns whether the error came from the process of rank 0, which then also reports it to the user.
    bool is_told_by_first();

private:
    struct Member
    {
        PacketStream stream;
        ProcessCard card;
        std::int64_t heard_at; // time of the last packet from it, ns
        bool is_done = false;
    };
    void end_if_stuck();
    bool is_host() const { return options_.here.first == 0; }
    bool is_here(int rank) const;
    Bytes wait_for(const std::string& key, std::chrono::nanoseconds patience);
    void open_door();
    void host_all();
    void look_after_all();
    void join();
    void leave();
    std::string why_not(const ProcessCard& card) const;
    void throw_if_failed(const std::string& before) const;
    void expect_all_ranks() const;
    std::string who_has_not_come(int here) const;
    void run();
    void wait_for_news(int milliseconds);
    void take(Member& from, const ProcessPacket& packet);
    void look_after(Member& member, std::int64_t now);
    void lose_member(const Member& member, const std::string& how);
    void end(const ProcessPacket& failure);
    void send(const ProcessPacket& packet, const Member* except = nullptr);
    bool is_over();

    const RendezvousOptions options_;
    std::optional<Secret> secret_;
    std::vector<ProcessCard> processes_;
    Heard heard_;
    std::map<std::string, std::unique_ptr<Pages>> pages_; // pages of ranks, if memory is not shared
    std::unique_ptr<HostMemory> host_memory_;             // memory shared with processes of this host, or null
    FileDescriptor wake_;                                 // readable when the rendezvous' thread has work
    std::string own_host_; // this host's address as rank 0 sees it, if rank 0 is elsewhere; constant once all have met
    std::mutex mutex_;     // guards the members below
    std::condition_variable changed_;
    std::vector<Member> members_; // the other processes; if rank 0 is elsewhere, only the process of rank 0
    std::optional<ProcessPacket> failure_;
    TimePoint failed_at_{};      // valid if failure_ is set
    bool have_returned_ = false; // true: the ranks of this process have returned
    bool is_told_by_first_ = false;
    bool is_leaving_ = false;
    TimePoint leaving_until_{};
    HelperThread thread_{"rendezvous", HelperNeeds::Turns}; // declared last: starts when all processes have met
};

} // namespace parhelion
