// SPDX-License-Identifier: Apache-2.0
// A lock that keeps two runs from writing the same files. A run holds a lock on PREFIX.log from before it reads the
// files of an earlier run until it has closed its own files. The lock ends when the process ends, for any reason.
#pragma once

#include <string>

namespace parhelion {

class RunLock
{
public:
    // Creates PREFIX.log if it does not exist, keeps its contents and locks it. Throws InputError E193 if another run
    // holds the lock, E196 if the log is a symbolic link, and SystemError. A file system without locks gives no lock.
    explicit RunLock(const std::string& prefix);
    ~RunLock();
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;

private:
    int descriptor_;
};

} // namespace parhelion
