// SPDX-License-Identifier: Apache-2.0
#include "run/lock.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace parhelion {

RunLock::RunLock(const std::string& prefix)
{
    const std::string path = prefix + ".log";
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0 && errno == ELOOP)
    {
        throw InputError(
            "E196", {path, 0},
            "is a symbolic link (a run begins its log anew, and would empty whatever the link leads to). Remove it, or "
            "put the file itself in its place.");
    }
    if (descriptor_ < 0) { throw SystemError(fmt::format("{}  open failed: {} (errno {})", path, std::strerror(errno), errno)); }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    {
        ::close(descriptor_);
        throw InputError(
            "E193", {path, 0},
            fmt::format("is being written by another run, whose files this one would destroy: wait for it to end, or "
                        "choose another prefix than {} with -o.",
                        prefix));
    }
}

RunLock::~RunLock() { ::close(descriptor_); }

} // namespace parhelion
