// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/threads.hpp"

#include "base/error.hpp"

namespace parhelion {

ThreadsBootstrap::ThreadsBootstrap(int ranks) : ranks_(ranks) { PARHELION_EXPECTS(ranks >= 1); }

std::byte* ThreadsBootstrap::pages(const std::string& what, int rank, std::size_t bytes)
{
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Pages>& pages = pages_[{what, rank}];
    if (!pages) { pages = std::make_unique<Pages>(bytes); }
    PARHELION_EXPECTS(pages->bytes() == bytes);
    return pages->data();
}

} // namespace parhelion
