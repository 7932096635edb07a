// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/threads.hpp"

#include "base/error.hpp"

namespace parhelion {

ThreadsBootstrap::ThreadsBootstrap(int ranks) : ranks_(ranks) { PARHELION_EXPECTS(ranks >= 1); }

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
