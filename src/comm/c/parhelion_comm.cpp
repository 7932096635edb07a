// SPDX-License-Identifier: Apache-2.0
// The calls of parhelion_comm.h. Each makes a call of the C++ interface and turns its exceptions into codes.
#include "comm/c/parhelion_comm.h"

#include "comm/c/exit.hpp"
#include "comm/c/guarded.hpp"
#include "comm/c/rank.hpp"
#include "comm/c/run_options.hpp"
#include "comm/launch/launch_processes.hpp"
#include "comm/launch/own_cores.hpp"
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"
#include "comm/partitioned/collectives.hpp"

#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

using namespace parhelion;
using namespace parhelion::c_interface;

namespace {

// The errors of the calls that a thread has made.
struct Told
{
    std::string last_error;
    int last_code = PH_SUCCESS;     // the code of last_error
    std::exception_ptr failed_wait; // the exception of the first failed wait, if any
};
thread_local Told told;

} // namespace

int parhelion::c_interface::remember(int code, const std::string& sentence)
{
    told.last_error = sentence;
    told.last_code = code;
    const bool is_failed_wait = code == PH_ERROR_TIMEOUT || code == PH_ERROR_STOPPED || code == PH_ERROR_PEER_LOST;
    if (is_failed_wait && !told.failed_wait) { told.failed_wait = std::current_exception(); }
    return code;
}

namespace {

template <class Make>
int make_request(ph_comm* comm, ph_request** request, Make&& make)
{
    return guarded([&] {
        Rank& rank = all_ranks.of(comm);
        expect_pointer(request, "A request takes a place to leave it.");
        *request = rank.add(make(rank));
    });
}

std::byte* as_bytes(void* memory) { return static_cast<std::byte*>(memory); }

// Applies `call` to the request, whether it is a send, a receive or a collective.
template <class Call>
int with_request(ph_request* request, Call&& call)
{
    return guarded([&] { std::visit(call, all_requests.of(request).request); });
}

int ranks_of(const ph_comm* comm, bool is_own) noexcept
{
    int result = -1;
    guarded([&] {
        const Rank& rank = all_ranks.of(comm);
        result = is_own ? rank.place() : rank.size();
    });
    return result;
}

// Runs a rank's program from begin to end, and reports its result or failure however it ends.
void be_rank(World& world, RanksHere& here, Communicator& communicator, ph_rank_program program, void* data)
{
    const Told outer = std::exchange(told, {}); // keeps the errors of an enclosing run on this thread
    int status = 0;
    {
        Rank rank(communicator);
        status = here.run([&] { return program(rank.handle(), data); }, [&] { world.leave(communicator.rank()); });
    }
    const Told now = std::exchange(told, outer);
    if (status == 0 && !now.failed_wait) { return; }
    // The rank that has stopped the run reports the reason.
    if (now.last_code == PH_ERROR_STOPPED && status != 0) { throw PeerAborted(now.last_error); }
    if (status == 0) { std::rethrow_exception(now.failed_wait); }
    const std::string why = now.last_error.empty() ? "." : "; the last error there: " + now.last_error;
    throw ProgramStopped("The program of rank " + std::to_string(communicator.rank()) + " returned " + std::to_string(status) +
                         why);
}

} // namespace

const char* ph_error_message(void) { return told.last_error.c_str(); }
int ph_version(void) { return PH_VERSION; }

int ph_run(int ranks, int processes, double deadline_seconds, ph_rank_program program, void* data)
{
    ph_options options{};
    options.size = sizeof options;
    options.deadline_seconds = deadline_seconds > 0 ? deadline_seconds : -1; // 0 is an error in ph_run(), not the default
    return ph_run_with(ranks, processes, &options, program, data);
}

int ph_run_with(int ranks, int processes, const ph_options* given, ph_rank_program program, void* data)
{
    return guarded([&] {
        expect_argument(ranks >= 1 && processes >= 0 && processes <= ranks,
                        "A run has a rank at least, and no more processes than ranks.");
        if (program == nullptr) { throw PartitionedError(Misuse::Null, "A run needs a program."); }
        const ph_options options = checked(given);
        const OwnCores cores(options.bind == PH_BIND_CORE ? ranks : 0);
        const auto be_ranks = [&](Network network, int (*interrupted)(void*)) {
            World world(std::move(network), world_options(options, ranks));
            RanksHere here(world.here().count);
            run_and_ask(world, interrupted, data, [&](Communicator& communicator) {
                const StayOnCores bound(cores.cores(communicator.rank()));
                be_rank(world, here, communicator, program, data);
            });
        };
        if (processes == 0) { return be_ranks(thread_network(ranks), options.interrupted); }
        ProcessOptions of_processes;
        of_processes.processes = processes;
        of_processes.ranks = ranks;
        of_processes.deadline = deadline_of(options.deadline_seconds);
        of_processes.may_exit = true;
        if (options.interrupted != nullptr)
        {
            of_processes.is_interrupted = [&] { return options.interrupted(data) != 0; };
        }
        run_in_processes(of_processes, [&](std::unique_ptr<Bootstrap> bootstrap) {
            be_ranks(shared_memory_network(std::move(bootstrap)), nullptr);
            return 0;
        });
    });
}

int ph_rank(const ph_comm* comm) { return ranks_of(comm, true); }
int ph_ranks(const ph_comm* comm) { return ranks_of(comm, false); }

int ph_abort(ph_comm* comm)
{
    return guarded([&] { all_ranks.of(comm).abort(); });
}

int ph_pause_deadlines(ph_comm* comm)
{
    return guarded([&] { all_ranks.of(comm).pauses().pause(); });
}

int ph_resume_deadlines(ph_comm* comm)
{
    return guarded([&] { all_ranks.of(comm).pauses().resume(); });
}

int ph_allocate(ph_comm* comm, size_t bytes, void** memory)
{
    return guarded([&] {
        Rank& rank = all_ranks.of(comm);
        expect_pointer(memory, "Memory takes a place to leave its address.");
        *memory = rank.partitioned().allocate(bytes).data();
    });
}

int ph_release(ph_comm* comm, void* memory, size_t bytes)
{
    return guarded([&] {
        Rank& rank = all_ranks.of(comm);
        expect_pointer(memory, "The memory to release is null.");
        rank.partitioned().release({as_bytes(memory), bytes});
    });
}

int ph_psend_init(ph_comm* comm, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                  ph_request** request)
{
    return make_request(comm, request, [&](Rank& rank) {
        return rank.partitioned().psend_init(static_cast<const std::byte*>(buffer), {partitions, bytes_of_partition},
                                             rank.envelope(peer, tag));
    });
}

int ph_precv_init(ph_comm* comm, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag, ph_request** request)
{
    return make_request(comm, request, [&](Rank& rank) {
        return rank.partitioned().precv_init(as_bytes(buffer), {partitions, bytes_of_partition}, rank.envelope(peer, tag));
    });
}

int ph_pallreduce_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_reduction reduction, ph_request** request)
{
    return make_request(comm, request, [&](Rank& rank) {
        return pallreduce_init(rank.partitioned(), input, result, elements_of(type, partitions, count), reduction_of(reduction),
                               rank.collective());
    });
}

int ph_preduce_scatter_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                            ph_reduction reduction, ph_request** request)
{
    return make_request(comm, request, [&](Rank& rank) {
        return preduce_scatter_init(rank.partitioned(), input, result, elements_of(type, partitions, count),
                                    reduction_of(reduction), rank.collective());
    });
}

int ph_pallgather_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_request** request)
{
    return make_request(comm, request, [&](Rank& rank) {
        return pallgather_init(rank.partitioned(), input, result, elements_of(type, partitions, count), rank.collective());
    });
}

int ph_pbroadcast_init(ph_comm* comm, void* buffer, int partitions, size_t count, ph_type type, int root, ph_request** request)
{
    return make_request(comm, request, [&](Rank& rank) {
        return pbroadcast_init(rank.partitioned(), buffer, elements_of(type, partitions, count), root, rank.collective());
    });
}

int ph_start(ph_request* request)
{
    return with_request(request, [](auto& r) { r.start(); });
}
int ph_pbuf_prepare(ph_request* request)
{
    return with_request(request, [](auto& r) { r.pbuf_prepare(); });
}

// Marks partitions of a request that has partitions to mark: a send or a collective.
template <class Mark>
static int mark(ph_request* request, const Mark& of)
{
    return with_request(request, [&]<class Kind>(Kind& r) {
        if constexpr (std::is_same_v<Kind, ReceiveRequest>)
        {
            expect_argument(false, "A receive request has nothing to mark ready.");
        }
        else { of(r); }
    });
}

int ph_pready(ph_request* request, int partition)
{
    return mark(request, [&](auto& r) { r.pready(partition); });
}
int ph_pready_range(ph_request* request, int first, int last)
{
    return mark(request, [&](auto& r) { r.pready_range(first, last); });
}

int ph_parrived(ph_request* request, int partition, int* has_arrived)
{
    return with_request(request, [&]<class Request>(Request& r) {
        if constexpr (std::is_same_v<Request, SendRequest>) { expect_argument(false, "Nothing arrives at a send request."); }
        else
        {
            expect_pointer(has_arrived, "An answer takes a place to leave it.");
            *has_arrived = r.parrived(partition) ? 1 : 0;
        }
    });
}

int ph_wait(ph_request* request)
{
    return with_request(request, [](auto& r) { r.wait(); });
}
int ph_test(ph_request* request, int* is_complete)
{
    return with_request(request, [&](auto& r) {
        expect_pointer(is_complete, "An answer takes a place to leave it.");
        *is_complete = r.test() ? 1 : 0;
    });
}

int ph_free(ph_request** request)
{
    return guarded([&] {
        expect_pointer(request, "A place to free is null.");
        OwnedRequest& freed = all_requests.of(*request);
        std::visit([](auto& r) { r.free(); }, freed.request);
        freed.rank->free(*request);
        *request = nullptr;
    });
}
