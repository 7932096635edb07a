// SPDX-License-Identifier: Apache-2.0
// The ranks of one host in several processes, as one of the processes sees them. It knows the others through the launcher that
// has started them (comm/launch/launch_processes.hpp). Stored bytes go to the launcher, which sends them to every process, so
// that get() is local. Pages are shared memory without a name, freed when the last process that maps it has ended.
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
    // `socket`: leads to the launcher and outlives this. `patience`: longest wait for the launcher. Throws SystemError.
    ProcessesBootstrap(int socket, int ranks, RankRange here, std::chrono::nanoseconds patience);
    ~ProcessesBootstrap() override;

    int ranks() const override { return ranks_; }
    RankRange here() const override { return here_; }
    void put(const std::string& key, Bytes value) override;
    std::optional<Bytes> get(const std::string& key) override { return heard_.get(key); }
    void post(int rank, Bytes letter) override;
    Inbox& inbox(int rank) override { return heard_.inbox(rank); }
    // Throws SystemError, and CommError if the launcher does not answer.
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
    FileDescriptor end_; // becomes readable in the destructor
    std::mutex asking_;  // held during a request for pages; a process makes one request per key
    std::mutex mutex_;   // guards the members below
    std::condition_variable changed_;
    std::map<std::string, ReceivedPacket> answers_; // answers to requests for pages, by key, until they are read
    std::map<std::string, std::unique_ptr<Pages>> pages_;
    std::map<std::string, FileDescriptor> passed_;                    // passed descriptors by key, until they are read
    HelperThread thread_{"the launcher's words", HelperNeeds::Turns}; // declared last: starts when all members exist
};

} // namespace parhelion
