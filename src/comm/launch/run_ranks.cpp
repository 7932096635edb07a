// SPDX-License-Identifier: Apache-2.0
#include "comm/launch/run_ranks.hpp"

#include "base/error.hpp"

#include <exception>
#include <fmt/format.h>
#include <system_error>
#include <thread>
#include <vector>

namespace parhelion {

void run_ranks(RankRange ranks, const std::function<void(int rank)>& body, const std::function<void(int rank)>& abort)
{
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks.count));
    const auto run_rank = [&](int place) {
        try
        {
            body(ranks.first + place);
        }
        catch (...)
        {
            errors[static_cast<std::size_t>(place)] = std::current_exception();
            abort(ranks.first + place);
        }
    };
    {
        std::vector<std::jthread> threads;
        int started = 1;
        try
        {
            for (; started < ranks.count; ++started) { threads.emplace_back(run_rank, started); }
            run_rank(0);
        }
        catch (const std::system_error& error)
        {
            errors[0] = std::make_exception_ptr(
                SystemError(fmt::format("Only {} of {} ranks could be given a thread: {}. Use fewer ranks.", started, ranks.count,
                                        error.code().message())));
            abort(ranks.first);
        }
    }
    std::exception_ptr bystander;
    for (const std::exception_ptr& error : errors)
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

void run_ranks(World& world, const std::function<void(Communicator&)>& body)
{
    std::vector<Communicator> communicators;
    const RankRange here = world.here();
    for (int place = 0; place < here.count; ++place) { communicators.push_back(world.communicator(here.first + place)); }
    const auto of = [&](int rank) -> Communicator& { return communicators[static_cast<std::size_t>(rank - here.first)]; };
    const auto be_rank = [&](int rank) {
        body(of(rank));
        world.leave(rank);
    };
    run_ranks(here, be_rank, [&](int rank) { of(rank).abort(); });
}

} // namespace parhelion
