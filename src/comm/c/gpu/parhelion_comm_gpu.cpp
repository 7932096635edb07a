// SPDX-License-Identifier: Apache-2.0
// The calls of parhelion_comm_gpu.h: each a call of the C++ interface, with its exceptions as codes.
#include "comm/c/gpu/parhelion_comm_gpu.h"

#include "comm/c/guarded.hpp"
#include "comm/partitioned/gpu/collectives_gpu.hpp"

#include <algorithm>
#include <memory>
#include <variant>

using namespace parhelion;
using namespace parhelion::c_interface;

namespace {

// All members of a collective, for when the last is freed.
struct Members
{
    std::vector<GpuCollectiveRequest> requests;
    std::size_t freed = 0;
};

GpuWorldOptions options_of(double deadline_seconds, size_t bytes)
{
    GpuWorldOptions options;
    options.deadline = std::chrono::nanoseconds(static_cast<std::int64_t>(deadline_seconds * 1e9));
    options.payload_bytes = round_up_window(bytes) + (std::size_t{1} << 20); // beside what the world itself needs
    return options;
}

} // namespace

struct ph_gpu_request
{
    std::variant<GpuSendRequest, GpuReceiveRequest, GpuCollectiveRequest> request;
    ph_gpu* all;
    int rank;
    std::shared_ptr<Members> members{}; // of a collective
};

struct ph_gpu
{
    ph_gpu(std::vector<int> gpus, const GpuWorldOptions& options) : world(std::move(gpus), options), partitioned(world) {}

    GpuWorld world;
    GpuPartitioned partitioned;
    std::vector<std::unique_ptr<ph_gpu_request>> requests;
    Mechanism mechanism = Mechanism::KernelCopy; // of sends to come

    void expect_rank(int rank) const { expect_argument(rank >= 0 && rank < world.ranks(), "There is no such rank."); }
};

namespace {

ph_gpu& of(ph_gpu* all)
{
    if (all == nullptr) { throw PartitionedError(Misuse::Null, "There are no ranks: ph_gpu_open makes them."); }
    return *all;
}
ph_gpu_request& of(ph_gpu_request* request)
{
    if (request == nullptr) { throw PartitionedError(Misuse::Null, "The request is null."); }
    return *request;
}
GpuQueue& queue_of(const ph_gpu_request& request) { return request.all->world.setup_queue(request.rank); }

ph_gpu_request* keep(ph_gpu& all, ph_gpu_request request)
{
    all.requests.push_back(std::make_unique<ph_gpu_request>(std::move(request)));
    return all.requests.back().get();
}

// make: the requests of all ranks, from their buffers.
template <class Make>
int make_members(ph_gpu* all, const void* const* inputs, void* const* results, ph_gpu_request** requests, const Make& make)
{
    return guarded([&] {
        expect_argument(inputs != nullptr && results != nullptr && requests != nullptr,
                        "A collective takes buffers and requests.");
        std::vector<GpuCollectiveBuffers> buffers;
        for (int r = 0; r < of(all).world.ranks(); ++r) { buffers.push_back({inputs[r], results[r]}); }
        const auto members = std::make_shared<Members>();
        members->requests = make(buffers);
        for (int r = 0; r < all->world.ranks(); ++r)
        {
            requests[r] = keep(*all, {members->requests[static_cast<std::size_t>(r)], all, r, members});
        }
    });
}

template <class Kind>
Kind& as(ph_gpu_request* request, const char* sentence)
{
    Kind* const kind = std::get_if<Kind>(&of(request).request);
    expect_argument(kind != nullptr, sentence);
    return *kind;
}

} // namespace

int ph_gpu_open(const int* gpus, int ranks, double deadline_seconds, size_t bytes, ph_gpu** all)
{
    return guarded([&] {
        expect_argument(gpus != nullptr && all != nullptr && ranks >= 1 && ranks <= GpuWorld::most_ranks && deadline_seconds > 0,
                        "Ranks on GPUs are 1 to 64, with a deadline, and leave a handle.");
        const int here = gpu_count();
        expect_argument(std::all_of(gpus, gpus + ranks, [&](int gpu) { return gpu >= 0 && gpu < here; }),
                        "There is no such GPU.");
        *all = new ph_gpu({gpus, gpus + ranks}, options_of(deadline_seconds, bytes));
    });
}

int ph_gpu_close(ph_gpu** all)
{
    return guarded([&] {
        expect_argument(all != nullptr, "A place to close is null.");
        for (int r = 0; *all != nullptr && r < (*all)->world.ranks(); ++r) { (*all)->world.setup_queue(r).synchronize(); }
        delete std::exchange(*all, nullptr);
    });
}

void* ph_gpu_stream(ph_gpu* all, int rank)
{
    const bool is_rank = all != nullptr && rank >= 0 && rank < all->world.ranks();
    return is_rank ? all->world.setup_queue(rank).stream() : nullptr;
}

int ph_gpu_allocate(ph_gpu* all, int rank, size_t bytes, void** memory)
{
    return guarded([&] {
        of(all).expect_rank(rank);
        expect_argument(memory != nullptr && bytes > 0, "Memory is some bytes, and a place to leave their address.");
        *memory = all->world.data(rank, all->world.allocate({&rank, 1}, bytes));
    });
}

int ph_gpu_release(ph_gpu* all, int rank, void* memory, size_t bytes)
{
    return guarded([&] {
        of(all).expect_rank(rank);
        const auto* const begin = static_cast<const std::byte*>(memory);
        expect_argument(memory != nullptr && all->world.memory().holds(rank, begin, bytes), "This memory is not the rank's.");
        const auto offset = static_cast<std::size_t>(begin - all->world.data(rank, {}));
        all->world.release({&rank, 1}, {offset, round_up_window(bytes)});
    });
}

int ph_gpu_psend_init(ph_gpu* all, int rank, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                      ph_gpu_request** request)
{
    return guarded([&] {
        expect_argument(request != nullptr, "A request takes a place to leave it.");
        *request = keep(of(all), {all->partitioned.psend_init(rank, static_cast<const std::byte*>(buffer),
                                                              {partitions, bytes_of_partition}, {peer, tag}, {}, all->mechanism),
                                  all, rank});
    });
}

int ph_gpu_precv_init(ph_gpu* all, int rank, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                      ph_gpu_request** request)
{
    return guarded([&] {
        of(all).expect_rank(rank);
        expect_argument(request != nullptr && partitions >= 1, "A receive has a partition at least, and leaves a request.");
        const auto* const begin = static_cast<const std::byte*>(buffer);
        const std::size_t bytes = static_cast<std::size_t>(partitions) * bytes_of_partition;
        if (begin == nullptr || !all->world.memory().holds(rank, begin, bytes))
        {
            throw PartitionedError(Misuse::NotSymmetric, "A receive buffer on a GPU is from ph_gpu_allocate.");
        }
        const Window window{static_cast<std::size_t>(begin - all->world.data(rank, {})), bytes};
        *request =
            keep(*all, {all->partitioned.precv_init(rank, window, {partitions, bytes_of_partition}, {peer, tag}), all, rank});
    });
}

int ph_gpu_pallreduce_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                           ph_type type, ph_reduction reduction, ph_gpu_request** requests)
{
    return make_members(all, inputs, results, requests, [&](std::span<const GpuCollectiveBuffers> buffers) {
        return make_collective(all->world, Collective::AllReduce, elements_of(type, partitions, count), reduction_of(reduction),
                               buffers);
    });
}

int ph_gpu_preduce_scatter_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                                ph_type type, ph_reduction reduction, ph_gpu_request** requests)
{
    return make_members(all, inputs, results, requests, [&](std::span<const GpuCollectiveBuffers> buffers) {
        return make_collective(all->world, Collective::ReduceScatter, elements_of(type, partitions, count),
                               reduction_of(reduction), buffers);
    });
}

int ph_gpu_pallgather_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                           ph_type type, ph_gpu_request** requests)
{
    return make_members(all, inputs, results, requests, [&](std::span<const GpuCollectiveBuffers> buffers) {
        return make_collective(all->world, Collective::AllGather, elements_of(type, partitions, count), {}, buffers);
    });
}

int ph_gpu_pbroadcast_init(ph_gpu* all, void* const* buffers, int partitions, size_t count, ph_type type, int root,
                           ph_gpu_request** requests)
{
    return make_members(all, buffers, buffers, requests, [&](std::span<const GpuCollectiveBuffers> both) {
        return make_collective(all->world, Collective::Broadcast, elements_of(type, partitions, count), {}, both, root);
    });
}

int ph_gpu_set_mechanism(ph_gpu* all, ph_gpu_mechanism mechanism)
{
    return guarded([&] {
        expect_argument(mechanism == PH_GPU_KERNEL_COPY || mechanism == PH_GPU_PROGRESSION_ENGINE, "There is no such mechanism.");
        of(all).mechanism = mechanism == PH_GPU_KERNEL_COPY ? Mechanism::KernelCopy : Mechanism::ProgressionEngine;
    });
}

int ph_gpu_proxy_core(ph_gpu* all, int rank, int* core, int* is_alone)
{
    return guarded([&] {
        of(all).expect_rank(rank);
        expect_argument(core != nullptr && is_alone != nullptr, "A core takes places to leave it.");
        const std::string& name = all->world.proxy(rank).name();
        const std::span<const HelperPlace> places = all->world.proxies();
        const auto at = std::find_if(places.begin(), places.end(), [&](const HelperPlace& place) { return place.name == name; });
        *core = at == places.end() ? -1 : at->core;
        *is_alone = at != places.end() && at->is_alone ? 1 : 0;
    });
}

int ph_gpu_start(ph_gpu_request* request)
{
    return guarded([&] { std::visit([&](auto& r) { r.start(queue_of(*request)); }, of(request).request); });
}

int ph_gpu_pbuf_prepare(ph_gpu_request* request)
{
    return guarded([&] { as<GpuSendRequest>(request, "ph_gpu_pbuf_prepare is for sends.").pbuf_prepare(queue_of(*request)); });
}

int ph_gpu_pready_all(ph_gpu_request* request)
{
    return guarded([&] {
        if (auto* const collective = std::get_if<GpuCollectiveRequest>(&of(request).request))
        {
            collective->pready_all(queue_of(*request));
            return;
        }
        as<GpuSendRequest>(request, "ph_gpu_pready_all is for sends and collectives.").pready_all(queue_of(*request));
    });
}

int ph_gpu_run(ph_gpu_request* request)
{
    return guarded([&] { as<GpuCollectiveRequest>(request, "ph_gpu_run is for collectives.").run(queue_of(*request)); });
}

int ph_gpu_wait(ph_gpu_request* request)
{
    return guarded([&] { std::visit([&](auto& r) { r.wait(queue_of(*request)); }, of(request).request); });
}

int ph_gpu_execute(ph_gpu_request* request)
{
    return guarded([&] { as<GpuCollectiveRequest>(request, "ph_gpu_execute is for collectives.").execute(queue_of(*request)); });
}

int ph_gpu_prequest(ph_gpu_request* request, void** prequest)
{
    return guarded([&] {
        expect_argument(prequest != nullptr, "A prequest takes a place to leave it.");
        *prequest = std::visit([](const auto& r) -> void* { return r.prequest(); }, of(request).request);
    });
}

int ph_gpu_check(ph_gpu* all)
{
    return guarded([&] {
        for (int r = 0; r < of(all).world.ranks(); ++r) { all->world.setup_queue(r).synchronize(); }
        all->world.check();
        for (const auto& request : all->requests)
        {
            std::visit([&](const auto& r) { r.check(queue_of(*request)); }, request->request);
        }
    });
}

int ph_gpu_free(ph_gpu_request** request)
{
    return guarded([&] {
        expect_argument(request != nullptr, "A place to free is null.");
        ph_gpu_request& freed = of(*request);
        ph_gpu& all = *freed.all;
        if (const auto* const send = std::get_if<GpuSendRequest>(&freed.request)) { all.partitioned.free(*send); }
        else if (const auto* const receive = std::get_if<GpuReceiveRequest>(&freed.request)) { all.partitioned.free(*receive); }
        else if (freed.members->freed + 1 == freed.members->requests.size())
        {
            free_collective(all.world, freed.members->requests);
        }
        if (freed.members) { ++freed.members->freed; }
        std::erase_if(all.requests, [&](const auto& r) { return r.get() == &freed; });
        *request = nullptr;
    });
}
