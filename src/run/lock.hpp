// SPDX-License-Identifier: Apache-2.0
// Two runs must not write into the same files: each holds a lock on PREFIX.log from before it reads what an earlier run left
// until its files are closed. The lock ends with the process, however that ends.
#pragma once

#include <string>

namespace parhelion {

class RunLock
{
public:
    // Creates PREFIX.log if there is none, and leaves what is in it. Throws InputError E193 if another run holds the lock, E196
    // if the log is a symbolic link, and SystemError. A file system that has no locks gives none.
    explicit RunLock(const std::string& prefix);
    ~RunLock();
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;

private:
    int descriptor_;
};

} // namespace parhelion
