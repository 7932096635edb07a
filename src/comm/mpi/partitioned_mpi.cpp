// SPDX-License-Identifier: Apache-2.0
// MPI's partitioned point-to-point calls, for existing programs: a shared object that defines the functions of the MPI-5 ABI
// for partitioned requests. LD_PRELOAD or the order of linking puts them before those of the MPI library. Calls about other
// requests are passed on to the MPI library by the PMPI_ name that every MPI has.
//
// The idea: MPI_Init joins all ranks of MPI_COMM_WORLD (comm/launch/join.hpp); MPI_Psend_init and MPI_Precv_init make requests
// of comm/partitioned. A handle is the address of an entry in one table, so it differs from the MPI library's handles. Requests
// match within a communicator, whose members share a number: calls that make communicators are collective and agree on it. If
// there is no number (communicators made in another way), or ranks could not join, the MPI library serves both sides. Any thread
// may make MPI calls: one lock guards all but pready and parrived. A thread advances requests while the program is elsewhere.
//
// Buffers are the caller's. The MPI library packs elements of derived types into a copy, and unpacks them from a copy.
#include "comm/mpi/errors.hpp"
#include "comm/mpi/job.hpp"
#include "comm/mpi/requests.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

using namespace parhelion;
using namespace parhelion::mpi;

namespace {

// Called after each vain test of a wait. Other ranks may wait for messages of the MPI library, which move only inside its calls.
void let_mpi_go_on(unsigned times)
{
    if (times % 16 != 15) { return; }
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    std::this_thread::yield();
}

MPI_Status* nth(MPI_Status* statuses, int n) { return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + n; }

bool are_any_ours(int n, const MPI_Request* handles)
{
    return std::any_of(handles, handles + n, [](MPI_Request handle) { return ours(handle) != nullptr; });
}

// Indices in a list of requests: `theirs` of requests of the MPI library, `active` of active requests of this library.
struct Parted
{
    std::vector<int> theirs, active;
};
Parted part(int n, const MPI_Request* handles)
{
    Parted parted;
    for (int i = 0; i < n; ++i)
    {
        const Served* const served = ours(handles[i]);
        if (served == nullptr) { parted.theirs.push_back(i); }
        else if (served->is_active) { parted.active.push_back(i); }
    }
    return parted;
}

// Calls the MPI library once for all requests that it serves. It gets them without gaps, and may set them to null.
template <class Call>
int of_theirs(MPI_Request* handles, const std::vector<int>& places, Call&& call)
{
    std::vector<MPI_Request> some;
    for (const int place : places) { some.push_back(handles[place]); }
    const int code = call(some.data());
    for (std::size_t i = 0; i < places.size(); ++i) { handles[places[i]] = some[i]; }
    return code;
}

void make_empty(MPI_Status* status)
{
    if (status == MPI_STATUS_IGNORE) { return; }
    *status = {};
    status->MPI_SOURCE = MPI_ANY_SOURCE, status->MPI_TAG = MPI_ANY_TAG, status->MPI_ERROR = MPI_SUCCESS;
    PMPI_Status_set_elements_c(status, MPI_BYTE, 0);
}

} // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv)
{
    const int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) { begin_job(); }
    return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) { begin_job(); }
    return code;
}

int MPI_Finalize(void)
{
    if (std::getenv("PARHELION_MPI_REPORT") != nullptr && all().job)
    {
        std::fprintf(stderr, "partitioned communication: rank %d has made %zu requests\n", all().job->ranks.rank(), all().made);
    }
    all().job.reset();
    return PMPI_Finalize();
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) { return number(PMPI_Comm_dup(comm, made), made); }
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made)
{
    return number(PMPI_Comm_dup_with_info(comm, info, made), made);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made)
{
    return number(PMPI_Comm_split(comm, color, key, made), made);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made)
{
    return number(PMPI_Comm_split_type(comm, type, key, info, made), made);
}
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) { return number(PMPI_Comm_create(comm, group, made), made); }
int MPI_Cart_create(MPI_Comm comm, int n, const int* sizes, const int* periods, int reorder, MPI_Comm* made)
{
    return number(PMPI_Cart_create(comm, n, sizes, periods, reorder, made), made);
}

int MPI_Psend_init(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* handle)
{
    const std::optional<int> code = make(true, const_cast<void*>(buffer), partitions, count, type, peer, tag, comm, handle);
    return code ? *code : PMPI_Psend_init(buffer, partitions, count, type, peer, tag, comm, info, handle);
}

int MPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* handle)
{
    const std::optional<int> code = make(false, buffer, partitions, count, type, peer, tag, comm, handle);
    return code ? *code : PMPI_Precv_init(buffer, partitions, count, type, peer, tag, comm, info, handle);
}

int MPI_Start(MPI_Request* handle)
{
    Served* const served = ours(*handle);
    return served == nullptr ? PMPI_Start(handle) : guarded(*served, [&]() -> int { return start(*served); });
}

int MPI_Startall(int n, MPI_Request* handles)
{
    for (int i = 0; i < n; ++i)
    {
        if (const int code = MPI_Start(handles + i); code != MPI_SUCCESS) { return code; }
    }
    return MPI_SUCCESS;
}

int MPI_Pready(int partition, MPI_Request handle)
{
    Served* const served = ours(handle);
    return served == nullptr ? PMPI_Pready(partition, handle) : pready(*served, partition);
}

int MPI_Pready_range(int first, int last, MPI_Request handle)
{
    Served* const served = ours(handle);
    if (served == nullptr) { return PMPI_Pready_range(first, last, handle); }
    if (first > last) { return told(*served, MPI_ERR_ARG, "MPI_Pready_range of a range that ends before it begins."); }
    for (int p = first; p <= last; ++p)
    {
        if (const int code = pready(*served, p); code != MPI_SUCCESS) { return code; }
    }
    return MPI_SUCCESS;
}

int MPI_Pready_list(int n, const int* partitions, MPI_Request handle)
{
    Served* const served = ours(handle);
    if (served == nullptr) { return PMPI_Pready_list(n, partitions, handle); }
    for (int i = 0; i < n; ++i)
    {
        if (const int code = pready(*served, partitions[i]); code != MPI_SUCCESS) { return code; }
    }
    return MPI_SUCCESS;
}

int MPI_Parrived(MPI_Request handle, int partition, int* flag)
{
    Served* const served = ours(handle);
    if (handle == MPI_REQUEST_NULL)
    {
        *flag = 1;
        return MPI_SUCCESS;
    }
    if (served == nullptr) { return PMPI_Parrived(handle, partition, flag); }
    return guarded(*served, [&]() -> int {
        if (served->is_send || partition < 0 || partition >= served->partitions)
        {
            throw Refusal{MPI_ERR_ARG, "MPI_Parrived of no partition of a receive."};
        }
        const auto* const receive = std::get_if<ReceiveRequest>(&served->request);
        *flag = receive == nullptr || !served->is_active || receive->parrived(partition) ? 1 : 0;
        if (*flag != 0 && receive != nullptr && served->is_active) { served->unpack(partition); }
        return MPI_SUCCESS;
    });
}

int MPI_Test(MPI_Request* handle, int* flag, MPI_Status* status)
{
    Served* const served = ours(*handle);
    if (served == nullptr) { return PMPI_Test(handle, flag, status); }
    return guarded(*served, [&]() -> int {
        *flag = complete(*served, status) ? 1 : 0;
        return MPI_SUCCESS;
    });
}

int MPI_Wait(MPI_Request* handle, MPI_Status* status)
{
    Served* const served = ours(*handle);
    if (served == nullptr) { return PMPI_Wait(handle, status); }
    return guarded(*served, [&]() -> int {
        for (unsigned times = 0; !complete(*served, status); ++times) { let_mpi_go_on(times); }
        return MPI_SUCCESS;
    });
}

int MPI_Testall(int n, MPI_Request* handles, int* flag, MPI_Status* statuses)
{
    if (!are_any_ours(n, handles)) { return PMPI_Testall(n, handles, flag, statuses); }
    // MPI leaves all requests unchanged unless all are complete. A request that is complete stays complete until the second test.
    *flag = 1;
    for (int i = 0; i < n && *flag != 0; ++i)
    {
        if (Served* const served = ours(handles[i]))
        {
            const int code = guarded(*served, [&]() -> int {
                const std::scoped_lock lock(all().mutex);
                *flag = !served->is_active || is_complete(*served) ? 1 : 0;
                return MPI_SUCCESS;
            });
            if (code != MPI_SUCCESS) { return code; }
        }
        else if (const int code = PMPI_Request_get_status(handles[i], flag, nth(statuses, i)); code != MPI_SUCCESS)
        {
            return code;
        }
    }
    for (int i = 0; i < n && *flag != 0; ++i)
    {
        int is_there = 0; // statuses from the MPI library are known already; a second test may return empty ones
        MPI_Status* const status = ours(handles[i]) != nullptr ? nth(statuses, i) : MPI_STATUS_IGNORE;
        if (const int code = MPI_Test(handles + i, &is_there, status); code != MPI_SUCCESS) { return code; }
    }
    return MPI_SUCCESS;
}

int MPI_Waitall(int n, MPI_Request* handles, MPI_Status* statuses)
{
    if (!are_any_ours(n, handles)) { return PMPI_Waitall(n, handles, statuses); }
    int are_all_there = 0;
    for (unsigned times = 0; are_all_there == 0; ++times)
    {
        if (const int code = MPI_Testall(n, handles, &are_all_there, statuses); code != MPI_SUCCESS) { return code; }
        if (are_all_there == 0) { let_mpi_go_on(times); }
    }
    return MPI_SUCCESS;
}

int MPI_Testany(int n, MPI_Request* handles, int* index, int* flag, MPI_Status* status)
{
    if (!are_any_ours(n, handles)) { return PMPI_Testany(n, handles, index, flag, status); }
    const Parted parted = part(n, handles);
    for (const int i : parted.active)
    {
        *index = i;
        if (const int code = MPI_Test(handles + i, flag, status); code != MPI_SUCCESS || *flag != 0) { return code; }
    }
    const int code = of_theirs(handles, parted.theirs, [&](MPI_Request* some) {
        return PMPI_Testany(static_cast<int>(parted.theirs.size()), some, index, flag, status);
    });
    if (code != MPI_SUCCESS || *flag == 0) { return code; }
    if (*index != MPI_UNDEFINED) { *index = parted.theirs[static_cast<std::size_t>(*index)]; }
    else if (!parted.active.empty()) { *flag = 0; } // requests that this library serves are not complete yet
    else { make_empty(status); }
    return MPI_SUCCESS;
}

int MPI_Waitany(int n, MPI_Request* handles, int* index, MPI_Status* status)
{
    if (!are_any_ours(n, handles)) { return PMPI_Waitany(n, handles, index, status); }
    int flag = 0;
    for (unsigned times = 0;; ++times)
    {
        if (const int code = MPI_Testany(n, handles, index, &flag, status); code != MPI_SUCCESS || flag != 0) { return code; }
        let_mpi_go_on(times);
    }
}

int MPI_Testsome(int n, MPI_Request* handles, int* count, int* indices, MPI_Status* statuses)
{
    if (!are_any_ours(n, handles)) { return PMPI_Testsome(n, handles, count, indices, statuses); }
    const Parted parted = part(n, handles);
    const int code = of_theirs(handles, parted.theirs, [&](MPI_Request* some) {
        return PMPI_Testsome(static_cast<int>(parted.theirs.size()), some, count, indices, statuses);
    });
    if (code != MPI_SUCCESS) { return code; }
    for (int i = 0; i < *count; ++i) { indices[i] = parted.theirs[static_cast<std::size_t>(indices[i])]; }
    if (*count == MPI_UNDEFINED && !parted.active.empty()) { *count = 0; }
    for (const int i : parted.active)
    {
        int flag = 0;
        if (const int failed = MPI_Test(handles + i, &flag, nth(statuses, *count)); failed != MPI_SUCCESS) { return failed; }
        if (flag != 0) { indices[(*count)++] = i; }
    }
    return MPI_SUCCESS;
}

int MPI_Waitsome(int n, MPI_Request* handles, int* count, int* indices, MPI_Status* statuses)
{
    if (!are_any_ours(n, handles)) { return PMPI_Waitsome(n, handles, count, indices, statuses); }
    for (unsigned times = 0;; ++times)
    {
        if (const int code = MPI_Testsome(n, handles, count, indices, statuses); code != MPI_SUCCESS || *count != 0)
        {
            return code;
        }
        let_mpi_go_on(times);
    }
}

int MPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status)
{
    Served* const served = ours(handle);
    if (served == nullptr) { return PMPI_Request_get_status(handle, flag, status); }
    return guarded(*served, [&]() -> int {
        const std::scoped_lock lock(all().mutex);
        *flag = !served->is_active || is_complete(*served) ? 1 : 0;
        if (*flag != 0) { describe(*served, served->is_active, status); }
        return MPI_SUCCESS;
    });
}

int MPI_Request_free(MPI_Request* handle)
{
    Served* const served = ours(*handle);
    if (served == nullptr) { return PMPI_Request_free(handle); }
    return guarded(*served, [&]() -> int {
        const std::scoped_lock lock(all().mutex);
        if (served->is_active) { throw Refusal{MPI_ERR_REQUEST, "MPI_Request_free of an active request."}; }
        const auto place = static_cast<std::size_t>(reinterpret_cast<std::optional<Served>*>(*handle) - all().table.data());
        all().table[place].reset();
        all().first_free = std::min(all().first_free, place);
        *handle = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    });
}

int MPI_Cancel(MPI_Request* handle)
{
    Served* const served = ours(*handle);
    return served == nullptr ? PMPI_Cancel(handle) : told(*served, MPI_ERR_REQUEST, "a partitioned request cannot be cancelled.");
}

} // extern "C"
