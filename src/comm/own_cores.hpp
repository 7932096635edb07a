// SPDX-License-Identifier: Apache-2.0
// A core for each rank of a run, which no other run of this host takes meanwhile.
//
// The idea: a rank that waits polls. Two ranks on one core take turns of some milliseconds, and the kernel does not always part
// them, as each looks busy. So each rank stays on a core of its own. Runs that know nothing of each other must not all take core
// 0: a run claims a core by binding a socket to a name that is made of the core's number, in the abstract namespace of Unix
// sockets. A name has one owner, and is free again when the last process that holds the socket has ended, whatever ended it.
// Containers with a network of their own do not see each other's claims. For the setup of a run.
#pragma once

#include "comm/file_descriptor.hpp"

#include <functional>
#include <string>
#include <vector>

namespace parhelion {

// In which order cores are given out. `siblings` of a core are the hyper-threads that share it, itself among them: a second one
// of a core comes after the first of all others.
std::vector<int> order_of_cores(std::vector<int> allowed, const std::function<std::vector<int>(int core)>& siblings);

// "0,64" or "0-3,8" of /sys/devices/system/cpu; nothing where it is none.
std::vector<int> cores_of_list(const std::string& list);

// Claims cores among those that the calling thread may be on, all that are wanted or none: none where these are too few, where a
// control group allows less processor time, or where other runs have claimed them. Processes that are forked while this is there
// hold the claims, too.
class OwnCores
{
public:
    explicit OwnCores(int wanted);
    // Where the nth that wants a core may be: first its own, then its part of the others, which no other of these has. Empty:
    // there are too few.
    std::vector<int> cores(int n) const;

private:
    struct Claim
    {
        int core;
        FileDescriptor socket;
    };
    std::vector<Claim> claims_;
    std::vector<int> others_; // that nobody had claimed
};

// Keeps the calling thread on these cores while this lives; with none it does nothing. Threads that it starts meanwhile are
// there, too.
class StayOnCores
{
public:
    explicit StayOnCores(const std::vector<int>& cores);
    ~StayOnCores();
    StayOnCores(const StayOnCores&) = delete;
    StayOnCores& operator=(const StayOnCores&) = delete;

private:
    std::vector<int> before_; // empty: nothing was changed
};

} // namespace parhelion
