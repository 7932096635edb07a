// SPDX-License-Identifier: Apache-2.0
#include "comm/c/run_options.hpp"

#include "comm/c/guarded.hpp"
#include "comm/partitioned/collective_calls.hpp"

#include <chrono>
#include <cstring>
#include <future>
#include <utility>

namespace parhelion::c_interface {

ph_options checked(const ph_options* given)
{
    ph_options options{};
    if (given != nullptr)
    {
        expect_argument(given->size >= sizeof(std::size_t) && given->size <= sizeof options,
                        "The size of the options is not theirs: begin with {.size = sizeof(ph_options)}, and use a library that "
                        "is as new as the header.");
        std::memcpy(&options, given, given->size);
    }
    if (options.deadline_seconds == 0) { options.deadline_seconds = 30; }
    if (options.memory_bytes == 0) { options.memory_bytes = WorldOptions().payload_bytes; }
    deadline_of(options.deadline_seconds); // called because it throws if the deadline is not valid
    expect_argument(options.memory_bytes <= std::size_t{1} << 62, "No machine has so much memory for a rank.");
    expect_argument(options.bind == PH_BIND_CORE || options.bind == PH_BIND_NONE, "There is no such way to bind ranks.");
    return options;
}

WorldOptions world_options(const ph_options& options, int ranks)
{
    WorldOptions of_world;
    of_world.deadline = deadline_of(options.deadline_seconds);
    // Bytes for the sums that set up a world, and for collectives of one call.
    const std::size_t of_library = (std::size_t{1} << 20) + CollectiveCalls::memory_of(ranks);
    of_world.payload_bytes = round_up_window(options.memory_bytes) + of_library;
    return of_world;
}

void run_and_ask(World& world, int (*interrupted)(void*), void* data, const std::function<void(Communicator&)>& body)
{
    if (interrupted == nullptr) { return run_ranks(world, body); }
    std::future<void> ranks = std::async(std::launch::async, [&] { run_ranks(world, body); });
    bool is_stopped = false;
    while (ranks.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
    {
        const bool is_asked_to = interrupted(data) != 0; // called even after a stop, since it may notify a program again
        if (is_asked_to && !std::exchange(is_stopped, true)) { world.stop(world.here().first); }
    }
    if (is_stopped) { throw ProgramStopped("The run was interrupted."); }
    ranks.get();
}

DeadlinePauses::~DeadlinePauses()
{
    if (open_ > 0) { communicator_.resume_deadlines(); }
}

void DeadlinePauses::pause()
{
    if (open_++ == 0) { communicator_.pause_deadlines(); }
}

void DeadlinePauses::resume()
{
    expect_argument(open_ > 0, "Deadlines are resumed by the rank that has paused them.");
    if (--open_ == 0) { communicator_.resume_deadlines(); }
}

} // namespace parhelion::c_interface
