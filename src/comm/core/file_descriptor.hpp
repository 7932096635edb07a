// SPDX-License-Identifier: Apache-2.0
// A file descriptor that is closed when its owner is destroyed.
#pragma once

#include <unistd.h>

namespace parhelion {

class FileDescriptor
{
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept
    {
        reset(other.release());
        return *this;
    }
    ~FileDescriptor() { reset(-1); }

    int get() const { return fd_; } // returns -1 if there is no descriptor
    void reset(int fd)
    {
        if (fd_ >= 0) { ::close(fd_); }
        fd_ = fd;
    }

private:
    int release()
    {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    int fd_ = -1;
};

} // namespace parhelion
