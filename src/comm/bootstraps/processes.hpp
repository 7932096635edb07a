// SPDX-License-Identifier: Apache-2.0
// The ranks of one host in several processes, as one of these sees them: it knows the others through the launcher that has
// started them all (comm/launch_processes.hpp). Bytes go to the launcher, which passes them on to every process, so that a look
// for them stays here. Pages are shared memory without a name, which ends with the last process that has mapped it.
#pragma once

#include "comm/bootstraps/heard.hpp"
#include "comm/bootstraps/pages.hpp"
#include "comm/bootstraps/process_messages.hpp"
#include "device/helper_threads.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

namespace parhelion {

class ProcessesBootstrap : public Bootstrap
{
public:
    // `socket`: to the launcher, which outlives this. `patience`: with the launcher. Throws SystemError.
    ProcessesBootstrap(int socket, int ranks, RankRange here, std::chrono::nanoseconds patience);
    ~ProcessesBootstrap() override;

    int ranks() const override { return ranks_; }
    RankRange here() const override { return here_; }
    void put(const std::string& key, Bytes value) override;
    std::optional<Bytes> get(const std::string& key) override { return heard_.get(key); }
    void post(int rank, Bytes letter) override;
    Inbox& inbox(int rank) override { return heard_.inbox(rank); }
    // Throws also CommError.
    std::byte* pages(const std::string& what, int rank, std::size_t bytes) override;
    void pass(const std::string& key, int descriptor) override;
    FileDescriptor passed(const std::string& key) override;
    void listen(Listener listener) override { heard_.listen(std::move(listener)); }

private:
    void run();
    void take(ReceivedPacket&& received);

    const int socket_, ranks_;
    const RankRange here_;
    const std::chrono::nanoseconds patience_;
    Heard heard_;
    FileDescriptor end_; // readable once this ends
    std::mutex asking_;  // of a request for pages: a process makes one for each key
    std::mutex mutex_;   // of what follows
    std::condition_variable changed_;
    std::map<std::string, ReceivedPacket> answers_; // to requests for pages, until taken
    std::map<std::string, std::unique_ptr<Pages>> pages_;
    std::map<std::string, FileDescriptor> passed_;                    // until taken
    HelperThread thread_{"the launcher's words", HelperNeeds::Turns}; // last: starts when all else is there
};

} // namespace parhelion
