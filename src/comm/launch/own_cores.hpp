// SPDX-License-Identifier: Apache-2.0
// Binds each rank of a run to a core of its own, which no other run of this host takes in the meantime.
//
// The idea: a waiting rank polls. Two ranks on one core take turns of some milliseconds, and the kernel does not always
// separate them, as both look busy. So each rank stays on its own core. Independent runs must not all take core 0: a run claims
// a core by binding a Unix socket to an abstract name that contains the core's number. A name has one owner. It is free again
// when the last process that holds the socket has ended, however that happened. Containers with their own network do not see
// each other's claims. Claims are for the setup of a run.
#pragma once

#include "comm/core/file_descriptor.hpp"

#include <functional>
#include <string>
#include <vector>

namespace parhelion {

// Returns the cores in the order in which they are assigned. `siblings` returns the hyper-threads of a core, itself included.
// The second hyper-thread of a core comes after the first hyper-threads of all cores.
std::vector<int> order_of_cores(std::vector<int> allowed, const std::function<std::vector<int>(int core)>& siblings);

// Returns the cores of a list like "0,64" or "0-3,8" of /sys/devices/system/cpu, or no cores if the text is no such list.
std::vector<int> cores_of_list(const std::string& list);

// Claims `wanted` of the cores that the calling thread may use, or none of them. It claims none if there are too few cores, if
// a control group allows less processor time, or if other runs have claimed the cores. Processes forked during its lifetime
// hold the claims, too.
class OwnCores
{
public:
    explicit OwnCores(int wanted);
    // Returns the cores for the nth rank: first its own core, then its part of the unclaimed cores, which no other rank has.
    // Returns no cores if there were too few.
    std::vector<int> cores(int n) const;

private:
    struct Claim
    {
        int core;
        FileDescriptor socket;
    };
    std::vector<Claim> claims_;
    std::vector<int> others_; // cores that no run had claimed
};

// Binds the calling thread to these cores during its lifetime; does nothing if there are no cores. Threads that the calling
// thread starts meanwhile are bound, too.
class StayOnCores
{
public:
    explicit StayOnCores(const std::vector<int>& cores);
    ~StayOnCores();
    StayOnCores(const StayOnCores&) = delete;
    StayOnCores& operator=(const StayOnCores&) = delete;

private:
    std::vector<int> before_; // cores of the thread before; empty if nothing was changed
};

} // namespace parhelion
