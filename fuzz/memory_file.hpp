// SPDX-License-Identifier: Apache-2.0
// A file that exists in memory only, for readers that take a path. One per process is enough: every input overwrites it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace parhelion {

class MemoryFile
{
public:
    MemoryFile() : descriptor_(::memfd_create("fuzz", 0))
    {
        if (descriptor_ < 0) { std::abort(); }
    }
    ~MemoryFile() { ::close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    void put(const std::uint8_t* data, std::size_t size)
    {
        if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size))
        {
            std::abort();
        }
    }
    std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

} // namespace parhelion
