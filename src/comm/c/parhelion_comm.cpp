// SPDX-License-Identifier: Apache-2.0
// The calls of parhelion_comm.h: each a call of the C++ interface, with its exceptions as codes.
#include "comm/c/parhelion_comm.h"

#include "comm/c/guarded.hpp"
#include "comm/c/run_options.hpp"
#include "comm/launch_processes.hpp"
#include "comm/own_cores.hpp"
#include "comm/partitioned/collectives.hpp"
#include "comm/run_ranks.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

using namespace parhelion;
using namespace parhelion::c_interface;

struct ph_request
{
    std::variant<SendRequest, ReceiveRequest, CollectiveRequest> request;
    ph_comm* comm;
};

struct ph_comm
{
    explicit ph_comm(Communicator& communicator) : ranks(communicator), partitioned(communicator), pauses(communicator) {}

    Communicator& ranks;
    Partitioned partitioned;
    std::vector<std::unique_ptr<ph_request>> requests; // after `partitioned`, which outlives them
    DeadlinePauses pauses;
};

namespace {

thread_local std::string last_error;
thread_local int last_code = PH_SUCCESS; // of last_error

} // namespace

int parhelion::c_interface::remember(int code, const std::string& sentence)
{
    last_error = sentence;
    last_code = code;
    return code;
}

namespace {

ph_request& of(ph_request* request)
{
    if (request == nullptr) { throw PartitionedError(Misuse::Null, "The request is null."); }
    return *request;
}

template <class Make>
int make_request(ph_comm* comm, ph_request** request, Make&& make)
{
    return guarded([&] {
        expect_argument(comm != nullptr && request != nullptr, "A request takes a rank, and a place to leave it.");
        comm->requests.push_back(std::make_unique<ph_request>(ph_request{make(), comm}));
        *request = comm->requests.back().get();
    });
}

std::byte* as_bytes(void* memory) { return static_cast<std::byte*>(memory); }

// Of all kinds of requests.
template <class Call>
int with_request(ph_request* request, Call&& call)
{
    return guarded([&] { std::visit(call, of(request).request); });
}

// What a rank does of a run.
void be_rank(Communicator& communicator, ph_rank_program program, void* data)
{
    last_error.clear(); // of this thread's earlier runs
    last_code = PH_SUCCESS;
    ph_comm comm(communicator);
    const int status = program(&comm, data);
    if (status == 0) { return; }
    if (last_code == PH_ERROR_STOPPED) { throw PeerAborted(last_error); } // another rank tells why
    const std::string why = last_error.empty() ? "." : "; the last error there: " + last_error;
    throw ProgramStopped("The program of rank " + std::to_string(communicator.rank()) + " returned " + std::to_string(status) +
                         why);
}

} // namespace

const char* ph_error_message(void) { return last_error.c_str(); }
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
        expect_argument(program != nullptr, "A run needs a program.");
        const ph_options options = checked(given);
        const OwnCores cores(options.bind == PH_BIND_CORE ? ranks : 0);
        const auto be_ranks = [&](Network network, int (*interrupted)(void*)) {
            World world(std::move(network), world_options(options));
            run_and_ask(world, interrupted, data, [&](Communicator& communicator) {
                const StayOnCores bound(cores.cores(communicator.rank()));
                be_rank(communicator, program, data);
            });
        };
        if (processes == 0) { return be_ranks(thread_network(ranks), options.interrupted); }
        ProcessOptions of_processes;
        of_processes.processes = processes;
        of_processes.ranks = ranks;
        of_processes.deadline = world_options(options).deadline;
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

int ph_rank(const ph_comm* comm) { return comm->ranks.rank(); }
int ph_ranks(const ph_comm* comm) { return comm->ranks.ranks(); }

int ph_barrier(ph_comm* comm)
{
    return guarded([&] { comm->ranks.barrier(); });
}

int ph_pause_deadlines(ph_comm* comm)
{
    return guarded([&] {
        expect_argument(comm != nullptr, "Deadlines are paused by a rank.");
        comm->pauses.pause();
    });
}

int ph_resume_deadlines(ph_comm* comm)
{
    return guarded([&] {
        expect_argument(comm != nullptr, "Deadlines are resumed by a rank.");
        comm->pauses.resume();
    });
}

int ph_allocate(ph_comm* comm, size_t bytes, void** memory)
{
    return guarded([&] { *memory = comm->partitioned.allocate(bytes).data(); });
}

int ph_release(ph_comm* comm, void* memory, size_t bytes)
{
    return guarded([&] { comm->partitioned.release({as_bytes(memory), bytes}); });
}

int ph_psend_init(ph_comm* comm, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                  ph_request** request)
{
    return make_request(comm, request, [&] {
        return comm->partitioned.psend_init(static_cast<const std::byte*>(buffer), {partitions, bytes_of_partition},
                                            {peer, tag, {}});
    });
}

int ph_precv_init(ph_comm* comm, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag, ph_request** request)
{
    return make_request(comm, request, [&] {
        return comm->partitioned.precv_init(as_bytes(buffer), {partitions, bytes_of_partition}, {peer, tag, {}});
    });
}

int ph_pallreduce_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_reduction reduction, ph_request** request)
{
    return make_request(comm, request, [&] {
        return pallreduce_init(comm->partitioned, input, result, elements_of(type, partitions, count), reduction_of(reduction));
    });
}

int ph_preduce_scatter_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                            ph_reduction reduction, ph_request** request)
{
    return make_request(comm, request, [&] {
        return preduce_scatter_init(comm->partitioned, input, result, elements_of(type, partitions, count),
                                    reduction_of(reduction));
    });
}

int ph_pallgather_init(ph_comm* comm, const void* input, void* result, int partitions, size_t count, ph_type type,
                       ph_request** request)
{
    return make_request(comm, request,
                        [&] { return pallgather_init(comm->partitioned, input, result, elements_of(type, partitions, count)); });
}

int ph_pbroadcast_init(ph_comm* comm, void* buffer, int partitions, size_t count, ph_type type, int root, ph_request** request)
{
    return make_request(comm, request,
                        [&] { return pbroadcast_init(comm->partitioned, buffer, elements_of(type, partitions, count), root); });
}

int ph_start(ph_request* request)
{
    return with_request(request, [](auto& r) { r.start(); });
}
int ph_pbuf_prepare(ph_request* request)
{
    return with_request(request, [](auto& r) { r.pbuf_prepare(); });
}

int ph_pready(ph_request* request, int partition) { return ph_pready_range(request, partition, partition); }
int ph_pready_range(ph_request* request, int first, int last)
{
    return with_request(request, [&]<class Request>(Request& r) {
        if constexpr (std::is_same_v<Request, ReceiveRequest>)
        {
            expect_argument(false, "A receive request has nothing to mark ready.");
        }
        else { r.pready_range(first, last); }
    });
}

int ph_parrived(ph_request* request, int partition, int* has_arrived)
{
    return with_request(request, [&]<class Request>(Request& r) {
        if constexpr (std::is_same_v<Request, SendRequest>) { expect_argument(false, "Nothing arrives at a send request."); }
        else { *has_arrived = r.parrived(partition) ? 1 : 0; }
    });
}

int ph_wait(ph_request* request)
{
    return with_request(request, [](auto& r) { r.wait(); });
}
int ph_test(ph_request* request, int* is_complete)
{
    return with_request(request, [&](auto& r) { *is_complete = r.test() ? 1 : 0; });
}

int ph_free(ph_request** request)
{
    return guarded([&] {
        ph_request& freed = of(request == nullptr ? nullptr : *request);
        std::visit([](auto& r) { r.free(); }, freed.request);
        std::erase_if(freed.comm->requests, [&](const auto& owned) { return owned.get() == &freed; });
        *request = nullptr;
    });
}
