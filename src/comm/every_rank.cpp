// SPDX-License-Identifier: Apache-2.0
#include "comm/every_rank.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <system_error>

namespace parhelion {

RankThreads::RankThreads(int ranks) : errors_(static_cast<std::size_t>(ranks))
{
    try
    {
        for (int rank = 1; rank < ranks; ++rank)
        {
            threads_.emplace_back([this, rank](const std::stop_token& end) { serve(rank, end); });
        }
    }
    catch (const std::system_error& error)
    {
        throw SystemError(fmt::format("Only {} of {} ranks could be given a thread: {}. Use fewer ranks.", threads_.size() + 1,
                                      ranks, error.code().message()));
    }
}

void RankThreads::serve(int rank, const std::stop_token& end)
{
    std::unique_lock lock(mutex_);
    for (std::uint64_t turn = 1; has_begun_.wait(lock, end, [&] { return turn_ == turn; }); ++turn)
    {
        lock.unlock();
        run_rank(rank);
        lock.lock();
        if (--busy_ == 0) { has_ended_.notify_one(); }
    }
}

void RankThreads::run_rank(int rank)
{
    try
    {
        (*body_)(rank);
    }
    catch (...)
    {
        errors_[static_cast<std::size_t>(rank)] = std::current_exception();
        (*abort_)(rank);
    }
}

void RankThreads::run(const std::function<void(int rank)>& body, const std::function<void(int rank)>& abort)
{
    errors_.assign(errors_.size(), nullptr);
    body_ = &body, abort_ = &abort;
    {
        const std::lock_guard lock(mutex_);
        busy_ = threads_.size();
        ++turn_;
    }
    has_begun_.notify_all();
    run_rank(0);
    {
        std::unique_lock lock(mutex_);
        has_ended_.wait(lock, [&] { return busy_ == 0; });
    }
    std::exception_ptr bystander;
    for (const std::exception_ptr& error : errors_)
    {
        if (!error) { continue; }
        try
        {
            std::rethrow_exception(error);
        }
        catch (const PeerAborted&)
        {
            bystander = error;
        }
    }
    if (bystander) { std::rethrow_exception(bystander); }
}

void on_every_rank(int ranks, const std::function<void(int rank)>& body, const std::function<void(int rank)>& abort)
{
    RankThreads(ranks).run(body, abort);
}

} // namespace parhelion
