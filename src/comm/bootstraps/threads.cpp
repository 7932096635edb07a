// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/threads.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace parhelion {

class ThreadsBootstrap::Pages
{
public:
    explicit Pages(std::size_t bytes) : bytes_(bytes)
    {
        void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (pages == MAP_FAILED)
        {
            throw SystemError(
                fmt::format("mmap of {} bytes of address space for messages between ranks failed: {}. Allow the process "
                            "so much more for each rank (ulimit -v), or use fewer ranks",
                            bytes, std::strerror(errno)));
        }
        data_ = static_cast<std::byte*>(pages);
    }
    ~Pages() { munmap(data_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    std::byte* data_;
    std::size_t bytes_;
};

ThreadsBootstrap::ThreadsBootstrap(int ranks) : ranks_(ranks) { PARHELION_EXPECTS(ranks >= 1); }

ThreadsBootstrap::~ThreadsBootstrap() = default;

void ThreadsBootstrap::put(const std::string& key, Bytes value)
{
    const std::scoped_lock lock(mutex_);
    PARHELION_EXPECTS(values_.emplace(key, std::move(value)).second);
}

std::optional<Bytes> ThreadsBootstrap::get(const std::string& key)
{
    const std::scoped_lock lock(mutex_);
    const auto found = values_.find(key);
    return found != values_.end() ? std::optional(found->second) : std::nullopt;
}

std::byte* ThreadsBootstrap::pages(const std::string& key, std::size_t bytes)
{
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Pages>& pages = pages_[key];
    if (!pages) { pages = std::make_unique<Pages>(bytes); }
    PARHELION_EXPECTS(pages->bytes() == bytes);
    return pages->data();
}

} // namespace parhelion
