// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of one host share, although no process has started the others. Each process has a door: a socket
// with an abstract name, which is in no folder. A process of the same user that knows the name asks at the door for pages of a
// rank, and gets their file descriptor. A rendezvous tells the names. Processes of another host, user or network namespace find
// no door, so their memory is out of reach. So of two processes either both reach each other, or neither does.
//
// Pages have no name. They cannot shrink, so that no process is killed for reading pages that another process has removed. They
// are freed when the last process that maps them has ended.
#pragma once

#include "comm/bootstraps/pages.hpp"
#include "comm/core/file_descriptor.hpp"
#include "device/helper_threads.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace parhelion {

class HostMemory
{
public:
    // Opens the door. A thread answers requests at the door. Throws SystemError.
    HostMemory();
    ~HostMemory();
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    const std::string& door() const { return door_; } // returns the door's name, for other processes
    // Returns pages of a rank of this process, zero at first. The first request makes them, whether it comes from here or through
    // the door. All requests must be for the same size. Throws SystemError.
    std::byte* own(const std::string& key, std::size_t bytes);
    // Returns pages of a rank of another process, whose door is `door`; null if that process is out of reach. Throws
    // SystemError, also if that process does not answer for `patience`.
    std::byte* theirs(const std::string& door, const std::string& key, std::size_t bytes, std::chrono::nanoseconds patience);

private:
    struct Shared
    {
        FileDescriptor descriptor; // no descriptor if another process made the pages
        std::unique_ptr<Pages> pages;
    };
    const Shared& make(const std::string& key, std::size_t bytes); // returns the pages of a key; mutex_ must be locked
    void answer();
    void serve(int visitor);

    std::string door_;
    FileDescriptor listener_, end_;                                   // end_ becomes readable in the destructor
    std::mutex mutex_;                                                // guards the members below
    std::map<std::string, Shared> shared_;                            // pages that this process has mapped, by key
    HelperThread thread_{"memory for this host", HelperNeeds::Turns}; // declared last: starts when all members exist
};

} // namespace parhelion
