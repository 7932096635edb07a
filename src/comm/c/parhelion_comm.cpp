// SPDX-License-Identifier: Apache-2.0
// The calls of parhelion_comm.h: each a call of the C++ interface, with its exceptions as codes.
#include "comm/c/parhelion_comm.h"

#include "comm/c/exit.hpp"
#include "comm/c/guarded.hpp"
#include "comm/c/handles.hpp"
#include "comm/c/run_options.hpp"
#include "comm/launch_processes.hpp"
#include "comm/own_cores.hpp"
#include "comm/partitioned/collectives.hpp"
#include "comm/run_ranks.hpp"

#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

using namespace parhelion;
using namespace parhelion::c_interface;

namespace {

using Request = std::variant<SendRequest, ReceiveRequest, CollectiveRequest>;

struct Rank;

struct OwnedRequest
{
    Request request;
    Rank* rank;
};

HandleTable<ph_comm, Rank, HandleKind::Rank> all_ranks;
HandleTable<ph_request, OwnedRequest, HandleKind::Request> all_requests;

struct Rank
{
    explicit Rank(Communicator& communicator)
        : ranks(communicator), partitioned(communicator), pauses(communicator), handle(all_ranks.add(*this))
    {
    }
    ~Rank()
    {
        partitioned.leave();
        for (const auto& [request, owned] : requests) { all_requests.remove(request); }
        all_ranks.remove(handle);
    }
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    Communicator& ranks;
    Partitioned partitioned;
    std::unordered_map<ph_request*, std::unique_ptr<OwnedRequest>> requests; // after `partitioned`, which outlives them
    DeadlinePauses pauses;
    ph_comm* const handle;
};

// What a thread's calls have told.
struct Told
{
    std::string last_error;
    int last_code = PH_SUCCESS;     // of last_error
    std::exception_ptr failed_wait; // the first, if any
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
        auto owned = std::make_unique<OwnedRequest>(OwnedRequest{make(rank.partitioned), &rank});
        ph_request* const handle = all_requests.add(*owned);
        rank.requests.emplace(handle, std::move(owned));
        *request = handle;
    });
}

std::byte* as_bytes(void* memory) { return static_cast<std::byte*>(memory); }

// Of all kinds of requests.
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
        result = is_own ? rank.ranks.rank() : rank.ranks.ranks();
    });
    return result;
}

// What a rank does in a run, from its program's begin to its end, by whatever ends it.
void be_rank(World& world, RanksHere& here, Communicator& communicator, ph_rank_program program, void* data)
{
    const Told outer = std::exchange(told, {}); // of a run that this one is in
    int status = 0;
    {
        Rank rank(communicator);
        status = here.run([&] { return program(rank.handle, data); }, [&] { world.leave(communicator.rank()); });
    }
    const Told now = std::exchange(told, outer);
    if (status == 0 && !now.failed_wait) { return; }
    // Another rank tells why.
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
    options.deadline_seconds = deadline_seconds > 0 ? deadline_seconds : -1; // 0 is no default here
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
            World world(std::move(network), world_options(options));
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
        of_processes.deadline = world_options(options).deadline;
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

int ph_barrier(ph_comm* comm)
{
    return guarded([&] {
        Communicator& ranks = all_ranks.of(comm).ranks;
        ranks.expect_whole(); // after a failure the run is over, also for who would not have to wait
        ranks.barrier();
    });
}

int ph_pause_deadlines(ph_comm* comm)
{
    return guarded([&] { all_ranks.of(comm).pauses.pause(); });
}

int ph_resume_deadlines(ph_comm* comm)
{
    return guarded([&] { all_ranks.of(comm).pauses.resume(); });
}

int ph_allocate(ph_comm* comm, size_t bytes, void** memory)
{
    return guarded([&] {
        Rank& rank = all_ranks.of(comm);
        expect_pointer(memory, "Memory takes a place to leave its address.");
        *memory = rank.partitioned.allocate(bytes).data();
    });
}

int ph_release(ph_comm* comm, void* memory, size_t bytes)
{
    return guarded([&] {
        Rank& rank = all_ranks.of(comm);
        expect_pointer(memory, "The memory to release is null.");
        rank.partitioned.release({as_bytes(memory), bytes});
    });
}

int ph_psend_init(ph_comm* comm, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                  ph_request** request)
{
    return make_request(comm, request, [&](Partitioned& partitioned) {
        return partitioned.psend_init(static_cast<const std::byte*>(buffer), {partitions, bytes_of_partition}, {peer, tag, {}});
    });
}

int ph_precv_init(ph_comm* comm, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag, ph_request** request)
{
    return make_request(comm, request, [&](Partitioned& partitioned) {
        return partitioned.precv_init(as_bytes(buffer), {partitions, bytes_of_partition}, {peer, tag, {}});
    });
}

int ph_pallreduce_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_reduction reduction, ph_request** request)
{
    return make_request(comm, request, [&](Partitioned& partitioned) {
        return pallreduce_init(partitioned, input, result, elements_of(type, partitions, count), reduction_of(reduction));
    });
}

int ph_preduce_scatter_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                            ph_reduction reduction, ph_request** request)
{
    return make_request(comm, request, [&](Partitioned& partitioned) {
        return preduce_scatter_init(partitioned, input, result, elements_of(type, partitions, count), reduction_of(reduction));
    });
}

int ph_pallgather_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_request** request)
{
    return make_request(comm, request, [&](Partitioned& partitioned) {
        return pallgather_init(partitioned, input, result, elements_of(type, partitions, count));
    });
}

int ph_pbroadcast_init(ph_comm* comm, void* buffer, int partitions, size_t count, ph_type type, int root, ph_request** request)
{
    return make_request(comm, request, [&](Partitioned& partitioned) {
        return pbroadcast_init(partitioned, buffer, elements_of(type, partitions, count), root);
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

// Of all that have partitions to mark.
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
        all_requests.remove(*request);
        freed.rank->requests.erase(*request);
        *request = nullptr;
    });
}
