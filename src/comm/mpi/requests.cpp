// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi/requests.hpp"

#include "comm/mpi/errors.hpp"
#include "comm/mpi/job.hpp"

#include <algorithm>
#include <string>

namespace parhelion::mpi {

namespace {

MPI_Request handle_of(std::size_t place) { return reinterpret_cast<MPI_Request>(&all().table[place]); }

} // namespace

Served* ours(MPI_Request handle)
{
    const auto at = reinterpret_cast<std::uintptr_t>(handle);
    const auto begin = reinterpret_cast<std::uintptr_t>(all().table.data());
    if (at < begin || at >= begin + sizeof all().table) { return nullptr; }
    std::optional<Served>& entry = all().table[(at - begin) / sizeof(std::optional<Served>)];
    return entry ? &*entry : nullptr;
}

std::optional<int> make(bool is_send, void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
                        MPI_Comm comm, MPI_Request* handle)
{
    const std::optional<std::uintptr_t> name = number_of(comm);
    if (!name) { return std::nullopt; }
    return guarded(comm, [&]() -> int {
        MPI_Count size = 0;
        int ranks = 0;
        PMPI_Comm_size(comm, &ranks);
        if (peer != MPI_PROC_NULL && (peer < 0 || peer >= ranks)) { throw Refusal{MPI_ERR_RANK, nullptr}; }
        if (tag < 0) { throw Refusal{MPI_ERR_TAG, nullptr}; }
        if (partitions < 1 || count < 0) { throw Refusal{MPI_ERR_ARG, nullptr}; }
        const std::scoped_lock lock(all().mutex);
        std::size_t place = all().first_free;
        while (place < most_requests && all().table[place]) { ++place; }
        if (place == most_requests) { throw Refusal{MPI_ERR_OTHER, "there are no more than 65536 requests."}; }
        Served& made = all().table[place].emplace();
        try
        {
            made.is_send = is_send;
            made.partitions = partitions, made.peer = peer, made.tag = tag;
            made.elements = elements_of(count, type, size);
            expect_success(PMPI_Comm_get_errhandler(comm, &made.handler));
            made.bytes = static_cast<std::size_t>(count * size);
            made.buffer = static_cast<std::byte*>(buffer);
            made.seen = std::vector<std::atomic<std::uint64_t>>(static_cast<std::size_t>(partitions));
            if (made.elements.are_packed) { made.packed.resize(static_cast<std::size_t>(partitions) * made.bytes); }
            std::byte* const bytes = made.elements.are_packed ? made.packed.data() : made.buffer;
            const Partitioning partitioning{partitions, made.bytes};
            Partitioned& partitioned = *all().job->partitioned;
            if (peer != MPI_PROC_NULL)
            {
                const Envelope envelope{rank_in_world(comm, peer), tag, "MPI " + std::to_string(*name)};
                if (is_send) { made.request = partitioned.psend_init(bytes, partitioning, envelope); }
                else { made.request = partitioned.precv_init(bytes, partitioning, envelope); }
            }
        }
        catch (...)
        {
            all().table[place].reset();
            throw;
        }
        all().first_free = place + 1;
        ++all().made;
        *handle = handle_of(place);
        return MPI_SUCCESS;
    });
}

int start(Served& served)
{
    const std::scoped_lock lock(all().mutex);
    if (served.is_active) { throw Refusal{MPI_ERR_REQUEST, "MPI_Start of an active request."}; }
    if (auto* const send = std::get_if<SendRequest>(&served.request)) { send->start(); }
    if (auto* const receive = std::get_if<ReceiveRequest>(&served.request)) { receive->start(); }
    ++served.epoch;
    served.is_active = true;
    return MPI_SUCCESS;
}

int pready(Served& served, int partition)
{
    return guarded(served, [&]() -> int {
        if (!served.is_send || !served.is_active || partition < 0 || partition >= served.partitions)
        {
            throw Refusal{MPI_ERR_ARG, "MPI_Pready of no partition of an active send."};
        }
        auto* const send = std::get_if<SendRequest>(&served.request);
        if (send == nullptr)
        {
            served.seen[static_cast<std::size_t>(partition)] = served.epoch;
            return MPI_SUCCESS;
        }
        served.pack(partition);
        send->pready(partition);
        return MPI_SUCCESS;
    });
}

bool is_complete(Served& served)
{
    if (auto* const send = std::get_if<SendRequest>(&served.request)) { return send->test(); }
    if (auto* const receive = std::get_if<ReceiveRequest>(&served.request)) { return receive->test(); }
    return !served.is_send ||
           std::all_of(served.seen.begin(), served.seen.end(), [&](const auto& epoch) { return epoch == served.epoch; });
}

bool complete(Served& served, MPI_Status* status)
{
    const std::scoped_lock lock(all().mutex);
    if (!served.is_active)
    {
        describe(served, false, status);
        return true;
    }
    try
    {
        if (!is_complete(served)) { return false; }
    }
    catch (...)
    {
        served.is_active = false; // not active, so that it can be freed
        throw;
    }
    if (std::holds_alternative<ReceiveRequest>(served.request))
    {
        for (int p = 0; p < served.partitions; ++p) { served.unpack(p); }
    }
    served.is_active = false;
    describe(served, true, status);
    return true;
}

} // namespace parhelion::mpi
