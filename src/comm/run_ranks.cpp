// SPDX-License-Identifier: Apache-2.0
#include "comm/run_ranks.hpp"

#include "base/error.hpp"

#include <exception>
#include <fmt/format.h>
#include <system_error>
#include <thread>
#include <vector>

namespace parhelion {

void run_ranks(int ranks, const std::function<void(int rank)>& body, const std::function<void(int rank)>& abort)
{
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
    const auto run_rank = [&](int rank) {
        try
        {
            body(rank);
        }
        catch (...)
        {
            errors[static_cast<std::size_t>(rank)] = std::current_exception();
            abort(rank);
        }
    };
    {
        std::vector<std::jthread> threads;
        int started = 1;
        try
        {
            for (; started < ranks; ++started) { threads.emplace_back(run_rank, started); }
            run_rank(0);
        }
        catch (const std::system_error& error)
        {
            errors[0] = std::make_exception_ptr(SystemError(fmt::format(
                "Only {} of {} ranks could be given a thread: {}. Use fewer ranks.", started, ranks, error.code().message())));
            abort(0);
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
    for (int rank = 0; rank < world.ranks(); ++rank) { communicators.push_back(world.communicator(rank)); }
    const auto of = [&](int rank) -> Communicator& { return communicators[static_cast<std::size_t>(rank)]; };
    run_ranks(
        world.ranks(), [&](int rank) { body(of(rank)); }, [&](int rank) { of(rank).abort(); });
}

} // namespace parhelion
