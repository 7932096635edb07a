// SPDX-License-Identifier: Apache-2.0
// The calls of parhelion_comm_gpu.h. Each makes a call of the C++ interface and turns its exceptions into codes.
#include "comm/c/gpu/parhelion_comm_gpu.h"

#include "comm/c/guarded.hpp"
#include "comm/c/handles.hpp"
#include "comm/partitioned/allocations.hpp"
#include "comm/partitioned/gpu/collectives_gpu.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <variant>

using namespace parhelion;
using namespace parhelion::c_interface;

namespace {

// The requests of all members of a collective. Their memory is freed together with the last member's request.
struct Members
{
    std::vector<GpuCollectiveRequest> requests;
    std::size_t freed = 0;
};

GpuWorldOptions options_of(std::chrono::nanoseconds deadline, size_t bytes)
{
    GpuWorldOptions options;
    options.deadline = deadline;
    options.payload_bytes = round_up_window(bytes) + (std::size_t{1} << 20); // the world itself needs 1 MiB, too
    return options;
}

struct Gpus;

struct Request
{
    std::variant<GpuSendRequest, GpuReceiveRequest, GpuCollectiveRequest> request;
    Gpus* all;
    int rank;
    std::vector<Allocations::Use> uses{};
    std::shared_ptr<Members> members{}; // all members of the collective; null if the request is one of a message
};

HandleTable<ph_gpu, Gpus, HandleKind::Gpus> all_gpus;
HandleTable<ph_gpu_request, Request, HandleKind::GpuRequest> all_requests;

// The state behind an open handle: all ranks, their memory and their requests.
struct Gpus
{
    Gpus(std::vector<int> gpus, const GpuWorldOptions& options)
        : world(std::move(gpus), options), partitioned(world), allocations(static_cast<std::size_t>(world.ranks())),
          handle(all_gpus.add(*this))
    {
    }
    ~Gpus()
    {
        for (const auto& [request, owned] : requests) { all_requests.remove(request); }
        all_gpus.remove(handle);
    }
    Gpus(const Gpus&) = delete;
    Gpus& operator=(const Gpus&) = delete;

    GpuWorld world;
    GpuPartitioned partitioned;
    std::vector<Allocations> allocations; // allocations by rank
    std::unordered_map<ph_gpu_request*, std::unique_ptr<Request>> requests;
    Mechanism mechanism = Mechanism::KernelCopy; // mechanism of the sends that are made next
    ph_gpu* const handle;

    void expect_rank(int rank) const { expect_argument(rank >= 0 && rank < world.ranks(), "There is no such rank."); }
    Allocations& of(int rank) { return allocations[static_cast<std::size_t>(rank)]; }
    ph_gpu_request* keep(Request request)
    {
        auto owned = std::make_unique<Request>(std::move(request));
        ph_gpu_request* const made = all_requests.add(*owned);
        requests.emplace(made, std::move(owned));
        return made;
    }
};

const std::byte* as_bytes(const void* memory) { return static_cast<const std::byte*>(memory); }
GpuQueue& queue_of(const Request& request) { return request.all->world.setup_queue(request.rank); }

// Returns the number of bytes of a message. Throws PartitionedError.
std::size_t size_of_message(int partitions, size_t bytes_of_partition)
{
    expect_argument(partitions >= 1 && partitions <= most_partitions, "A message has 1 to 1048576 partitions.");
    const std::optional<std::size_t> bytes = product_of(partitions, bytes_of_partition, 1);
    expect_argument(bytes.has_value(), "A message has no more bytes than there can be.");
    return *bytes;
}

struct Asked
{
    Collective collective;
    int partitions;
    size_t count;
    ph_type type;
    ph_reduction reduction;
    int root = 0;
};

// Makes the requests of all ranks for one collective.
int make_members(ph_gpu* all, const void* const* inputs, void* const* results, const Asked& asked, ph_gpu_request** requests)
{
    return guarded([&] {
        Gpus& gpus = all_gpus.of(all);
        expect_pointer(inputs, "A collective takes inputs.");
        expect_pointer(results, "A collective takes results.");
        expect_pointer(requests, "A collective takes places to leave its requests.");
        const Elements elements = elements_of(asked.type, asked.partitions, asked.count);
        const auto ranks = static_cast<std::size_t>(gpus.world.ranks());
        expect_argument(asked.partitions >= 1 && asked.partitions <= most_partitions &&
                            product_of(asked.partitions, asked.count, bytes_of(elements.type), ranks).has_value(),
                        "A collective has 1 to 1048576 partitions, and no more bytes than there can be.");
        const std::size_t block = *product_of(asked.partitions, asked.count, bytes_of(elements.type));
        std::vector<GpuCollectiveBuffers> buffers;
        for (std::size_t r = 0; r < ranks && block > 0; ++r)
        {
            expect_pointer(inputs[r], "An input is null.");
            expect_pointer(results[r], "A result is null.");
        }
        for (std::size_t r = 0; r < ranks; ++r) { buffers.push_back({inputs[r], results[r]}); }
        const auto members = std::make_shared<Members>();
        members->requests =
            make_collective(gpus.world, asked.collective, elements, reduction_of(asked.reduction), buffers, asked.root);
        const std::size_t in = asked.collective == Collective::ReduceScatter ? block * ranks : block;
        const std::size_t out = asked.collective == Collective::AllGather ? block * ranks : block;
        for (std::size_t r = 0; r < ranks; ++r)
        {
            const Allocations& here = gpus.allocations[r];
            requests[r] = gpus.keep({members->requests[r],
                                     &gpus,
                                     static_cast<int>(r),
                                     {here.use(as_bytes(inputs[r]), in), here.use(as_bytes(results[r]), out)},
                                     members});
        }
    });
}

template <class Kind>
Kind& as(Request& request, const char* sentence)
{
    Kind* const kind = std::get_if<Kind>(&request.request);
    expect_argument(kind != nullptr, sentence);
    return *kind;
}

} // namespace

int ph_gpu_open(const int* gpus, int ranks, double deadline_seconds, size_t bytes, ph_gpu** all)
{
    return guarded([&] {
        expect_pointer(gpus, "Ranks on GPUs take the number of a GPU each.");
        expect_pointer(all, "Ranks take a place to leave their handle.");
        expect_argument(ranks >= 1 && ranks <= GpuWorld::most_ranks && bytes <= most_bytes,
                        "Ranks on GPUs are 1 to 64, with no more bytes than there can be.");
        const std::chrono::nanoseconds deadline = deadline_of(deadline_seconds);
        const int here = gpu_count();
        expect_argument(std::all_of(gpus, gpus + ranks, [&](int gpu) { return gpu >= 0 && gpu < here; }),
                        "There is no such GPU.");
        *all = (new Gpus({gpus, gpus + ranks}, options_of(deadline, bytes)))->handle;
    });
}

int ph_gpu_close(ph_gpu** all)
{
    return guarded([&] {
        expect_pointer(all, "A place to close is null.");
        if (*all == nullptr) { return; }
        Gpus& gpus = all_gpus.of(*all);
        for (int r = 0; r < gpus.world.ranks(); ++r) { gpus.world.setup_queue(r).synchronize(); }
        delete &gpus;
        *all = nullptr;
    });
}

void* ph_gpu_stream(ph_gpu* all, int rank)
{
    void* stream = nullptr;
    guarded([&] {
        Gpus& gpus = all_gpus.of(all);
        gpus.expect_rank(rank);
        stream = gpus.world.setup_queue(rank).stream();
    });
    return stream;
}

int ph_gpu_allocate(ph_gpu* all, int rank, size_t bytes, void** memory)
{
    return guarded([&] {
        Gpus& gpus = all_gpus.of(all);
        gpus.expect_rank(rank);
        expect_pointer(memory, "Memory takes a place to leave its address.");
        expect_argument(bytes > 0 && bytes <= most_bytes, "Memory is some bytes, and no more than there can be.");
        std::byte* const begin = gpus.world.data(rank, gpus.world.allocate({&rank, 1}, bytes));
        gpus.of(rank).add(begin, bytes);
        *memory = begin;
    });
}

int ph_gpu_release(ph_gpu* all, int rank, void* memory, size_t bytes)
{
    return guarded([&] {
        Gpus& gpus = all_gpus.of(all);
        gpus.expect_rank(rank);
        expect_pointer(memory, "The memory to release is null.");
        gpus.of(rank).remove(as_bytes(memory), bytes);
        const auto offset = static_cast<std::size_t>(as_bytes(memory) - gpus.world.data(rank, {}));
        gpus.world.release({&rank, 1}, {offset, round_up_window(bytes)});
    });
}

int ph_gpu_psend_init(ph_gpu* all, int rank, const void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                      ph_gpu_request** request)
{
    return guarded([&] {
        Gpus& gpus = all_gpus.of(all);
        gpus.expect_rank(rank);
        expect_pointer(request, "A request takes a place to leave it.");
        const std::size_t bytes = size_of_message(partitions, bytes_of_partition);
        const auto* const begin = as_bytes(buffer);
        *request = gpus.keep(
            {gpus.partitioned.psend_init(rank, begin, {partitions, bytes_of_partition}, {peer, tag}, {}, gpus.mechanism),
             &gpus,
             rank,
             {gpus.of(rank).use(begin, bytes)}});
    });
}

int ph_gpu_precv_init(ph_gpu* all, int rank, void* buffer, int partitions, size_t bytes_of_partition, int peer, int tag,
                      ph_gpu_request** request)
{
    return guarded([&] {
        Gpus& gpus = all_gpus.of(all);
        gpus.expect_rank(rank);
        expect_pointer(request, "A request takes a place to leave it.");
        const std::size_t bytes = size_of_message(partitions, bytes_of_partition);
        expect_pointer(buffer, "The buffer is null.");
        const auto* const begin = as_bytes(buffer);
        if (!gpus.of(rank).holds(begin, bytes))
        {
            throw PartitionedError(Misuse::NotSymmetric, "A receive buffer on a GPU is from ph_gpu_allocate.");
        }
        const Window window{static_cast<std::size_t>(begin - gpus.world.data(rank, {})), bytes};
        *request = gpus.keep({gpus.partitioned.precv_init(rank, window, {partitions, bytes_of_partition}, {peer, tag}),
                              &gpus,
                              rank,
                              {gpus.of(rank).use(begin, bytes)}});
    });
}

int ph_gpu_pallreduce_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                           ph_type type, ph_reduction reduction, ph_gpu_request** requests)
{
    return make_members(all, inputs, results, {Collective::AllReduce, partitions, count, type, reduction}, requests);
}

int ph_gpu_preduce_scatter_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                                ph_type type, ph_reduction reduction, ph_gpu_request** requests)
{
    return make_members(all, inputs, results, {Collective::ReduceScatter, partitions, count, type, reduction}, requests);
}

int ph_gpu_pallgather_init(ph_gpu* all, const void* const* inputs, void* const* results, int partitions, size_t count,
                           ph_type type, ph_gpu_request** requests)
{
    return make_members(all, inputs, results, {Collective::AllGather, partitions, count, type, PH_SUM}, requests);
}

int ph_gpu_pbroadcast_init(ph_gpu* all, void* const* buffers, int partitions, size_t count, ph_type type, int root,
                           ph_gpu_request** requests)
{
    return make_members(all, buffers, buffers, {Collective::Broadcast, partitions, count, type, PH_SUM, root}, requests);
}

int ph_gpu_set_mechanism(ph_gpu* all, ph_gpu_mechanism mechanism)
{
    return guarded([&] {
        expect_argument(mechanism == PH_GPU_KERNEL_COPY || mechanism == PH_GPU_PROGRESSION_ENGINE, "There is no such mechanism.");
        all_gpus.of(all).mechanism = mechanism == PH_GPU_KERNEL_COPY ? Mechanism::KernelCopy : Mechanism::ProgressionEngine;
    });
}

int ph_gpu_proxy_core(ph_gpu* all, int rank, int* core, int* is_alone)
{
    return guarded([&] {
        Gpus& gpus = all_gpus.of(all);
        gpus.expect_rank(rank);
        expect_pointer(core, "A core takes a place to leave it.");
        expect_pointer(is_alone, "Whether a proxy is alone takes a place to leave it.");
        const std::string& name = gpus.world.proxy(rank).name();
        const std::span<const HelperPlace> places = gpus.world.proxies();
        const auto at = std::find_if(places.begin(), places.end(), [&](const HelperPlace& place) { return place.name == name; });
        *core = at == places.end() ? -1 : at->core;
        *is_alone = at != places.end() && at->is_alone ? 1 : 0;
    });
}

int ph_gpu_start(ph_gpu_request* request)
{
    return guarded([&] {
        Request& of = all_requests.of(request);
        std::visit([&](auto& r) { r.start(queue_of(of)); }, of.request);
    });
}

int ph_gpu_pbuf_prepare(ph_gpu_request* request)
{
    return guarded([&] {
        Request& of = all_requests.of(request);
        as<GpuSendRequest>(of, "ph_gpu_pbuf_prepare is for sends.").pbuf_prepare(queue_of(of));
    });
}

int ph_gpu_pready_all(ph_gpu_request* request)
{
    return guarded([&] {
        Request& of = all_requests.of(request);
        if (auto* const collective = std::get_if<GpuCollectiveRequest>(&of.request))
        {
            collective->pready_all(queue_of(of));
            return;
        }
        as<GpuSendRequest>(of, "ph_gpu_pready_all is for sends and collectives.").pready_all(queue_of(of));
    });
}

int ph_gpu_run(ph_gpu_request* request)
{
    return guarded([&] {
        Request& of = all_requests.of(request);
        as<GpuCollectiveRequest>(of, "ph_gpu_run is for collectives.").run(queue_of(of));
    });
}

int ph_gpu_wait(ph_gpu_request* request)
{
    return guarded([&] {
        Request& of = all_requests.of(request);
        std::visit([&](auto& r) { r.wait(queue_of(of)); }, of.request);
    });
}

int ph_gpu_execute(ph_gpu_request* request)
{
    return guarded([&] {
        Request& of = all_requests.of(request);
        as<GpuCollectiveRequest>(of, "ph_gpu_execute is for collectives.").execute(queue_of(of));
    });
}

int ph_gpu_prequest(ph_gpu_request* request, void** prequest)
{
    return guarded([&] {
        const Request& of = all_requests.of(request);
        expect_pointer(prequest, "A prequest takes a place to leave it.");
        *prequest = std::visit([](const auto& r) -> void* { return r.prequest(); }, of.request);
    });
}

int ph_gpu_check(ph_gpu* all)
{
    return guarded([&] {
        Gpus& gpus = all_gpus.of(all);
        for (int r = 0; r < gpus.world.ranks(); ++r) { gpus.world.setup_queue(r).synchronize(); }
        gpus.world.check();
        for (const auto& [handle, request] : gpus.requests)
        {
            std::visit([&](const auto& r) { r.check(queue_of(*request)); }, request->request);
        }
    });
}

int ph_gpu_free(ph_gpu_request** request)
{
    return guarded([&] {
        expect_pointer(request, "A place to free is null.");
        Request& freed = all_requests.of(*request);
        Gpus& all = *freed.all;
        if (const auto* const send = std::get_if<GpuSendRequest>(&freed.request)) { all.partitioned.free(*send); }
        else if (const auto* const receive = std::get_if<GpuReceiveRequest>(&freed.request)) { all.partitioned.free(*receive); }
        else if (freed.members->freed + 1 == freed.members->requests.size())
        {
            free_collective(all.world, freed.members->requests);
        }
        if (freed.members) { ++freed.members->freed; }
        all_requests.remove(*request);
        all.requests.erase(*request);
        *request = nullptr;
    });
}
