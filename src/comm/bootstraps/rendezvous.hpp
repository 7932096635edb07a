// SPDX-License-Identifier: Apache-2.0
// Processes anywhere, as one of them sees the others: they meet at an address where the process of rank 0 listens, and show that
// they know the secret of the run (comm/bootstraps/greeting.hpp). Each keeps its connection to that process, which passes on what
// they leave for each other, notices how connections end and who has fallen silent, and tells all. A thread in every process
// listens and says from time to time that it is there.
//
// Whoever starts the processes gives them their ranks and this address. It is a bootstrap for a world and may outlive it: what a
// process has to say before the ranks run, and how it ended, goes the same way.
#pragma once

#include "comm/bootstraps/greeting.hpp"
#include "comm/bootstraps/heard.hpp"
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
    Address address; // where the process of rank 0 listens
    // Nothing: not yet known. Asked again if it turns out to be the wrong one.
    std::function<std::optional<Secret>()> secret;
    Wire wire = Wire::Sealed;                                     // of all connections of the run
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // to meet, and of the silence of a process
    // Told, in the process of rank 0, of the first that connects and does not belong to the run.
    std::function<void(const std::string& sentence)> on_stranger = nullptr;
    // Ends this process, by what the run ends by, whose ranks have not come back (end_by()) seconds after that: they are in a
    // call of somebody's library that waits for who is lost. Called by the thread. Nothing: they always come back.
    std::function<void(const std::exception_ptr& error, bool is_told_by_first)> on_stuck = nullptr;
    // Asked by the thread from time to time: why the run has to end, as this process finds, or an empty text.
    std::function<std::string()> why_end = nullptr;
};

class Rendezvous : public Bootstrap
{
public:
    // Meets the others. Throws CommError if not all have come by the deadline, SystemError.
    explicit Rendezvous(const RendezvousOptions& options);
    // Takes leave: waits, bounded, until what has been left here is with the others.
    ~Rendezvous() override;
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    int ranks() const override { return options_.ranks; }
    RankRange here() const override { return options_.here; }
    void put(const std::string& key, Bytes value) override;
    std::optional<Bytes> get(const std::string& key) override { return heard_.get(key); }
    void post(int rank, Bytes letter) override;
    Inbox& inbox(int rank) override { return heard_.inbox(rank); }
    std::byte* pages(const std::string& what, int rank, std::size_t bytes) override;
    void tell(const Notice& notice) override;
    void listen(Listener listener) override { heard_.listen(std::move(listener)); }

    // The value under a key once it is there. Throws CommError at the deadline, PeerAborted if somebody has been lost.
    Bytes wait_for(const std::string& key) { return wait_for(key, options_.deadline); }
    // Who has been lost, in a sentence, or nothing.
    std::string loss() const { return heard_.loss(); }
    // All processes, by rank.
    const std::vector<ProcessCard>& processes() const { return processes_; }
    // This one among them.
    ProcessCard card() const { return make_card(options_.ranks, options_.here); }
    // Of this process, as others reach it.
    std::string host() const;
    const Secret& secret() const { return *secret_; }
    Wire wire() const { return options_.wire; }
    std::chrono::nanoseconds deadline() const { return options_.deadline; }

    // This process ends by this error. Throws what the run ends by: the first error of all that the process of rank 0 has heard
    // of, or this one if none comes within seconds.
    [[noreturn]] void end_by(const std::exception_ptr& error);
    // The run ends by this, which a part of it has found out here; all are told. Callable by any thread.
    void lose(const std::string& sentence);
    // Has it been told by the process of rank 0, which then says it to people?
    bool is_told_by_first();

private:
    struct Member
    {
        PacketStream stream;
        ProcessCard card;
        std::int64_t heard_at; // ns
        bool is_done = false;
    };
    void end_if_stuck();
    bool is_host() const { return options_.here.first == 0; }
    bool is_here(int rank) const;
    Bytes wait_for(const std::string& key, std::chrono::nanoseconds patience);
    void host_all();
    void join();
    void leave();
    std::string why_not(const ProcessCard& card) const;
    void expect_all_ranks() const;
    std::string who_has_not_come(int here) const;
    void run();
    void wait_for_news(int milliseconds);
    void take(Member& from, const ProcessPacket& packet);
    void look_after(Member& member, std::int64_t now);
    void end(const ProcessPacket& failure);
    void send(const ProcessPacket& packet, const Member* except = nullptr);
    bool is_over();

    const RendezvousOptions options_;
    std::optional<Secret> secret_;
    std::vector<ProcessCard> processes_;
    Heard heard_;
    std::map<std::string, std::unique_ptr<Pages>> pages_; // of the ranks here
    FileDescriptor wake_;                                 // readable when the thread has something to do
    std::mutex mutex_;                                    // of what follows
    std::condition_variable changed_;
    std::vector<Member> members_; // the others; only the process of rank 0 if this is not it
    std::optional<ProcessPacket> failure_;
    TimePoint failed_at_{};      // if there is one
    bool have_returned_ = false; // the ranks here
    bool is_told_by_first_ = false;
    bool is_leaving_ = false;
    TimePoint leaving_until_{};
    HelperThread thread_{"rendezvous", HelperNeeds::Turns}; // last: starts when all have met
};

} // namespace parhelion
