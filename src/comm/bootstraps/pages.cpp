// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/pages.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace parhelion {

Pages::Pages(std::size_t bytes) : Pages(bytes, -1, MAP_PRIVATE | MAP_ANONYMOUS) {}

Pages::Pages(std::size_t bytes, int descriptor) : Pages(bytes, descriptor, MAP_SHARED) {}

Pages::Pages(std::size_t bytes, int descriptor, int flags) : bytes_(bytes)
{
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, descriptor, 0);
    if (pages == MAP_FAILED)
    {
        throw SystemError(
            fmt::format("mmap of {} bytes of address space for messages between ranks failed: {}. Allow the process "
                        "so much more for each rank (ulimit -v), or use fewer ranks",
                        bytes, std::strerror(errno)));
    }
    data_ = static_cast<std::byte*>(pages);
}

Pages::~Pages() { munmap(data_, bytes_); }

} // namespace parhelion
