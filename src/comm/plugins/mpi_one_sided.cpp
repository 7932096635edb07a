// SPDX-License-Identifier: Apache-2.0
// The transports "mpi-rma" and "mpi-put": the source writes into the destination's memory. The destination need not call MPI.
//
// mpi-rma   Processes of one host share a window: they load and store there, and a signal is a store with release. Between
//           hosts it uses MPI_Put,
//           within one passive epoch that lasts as long as the transport.
// mpi-put   MPI_Put to all, as if each process had its own host: for processes that get no memory to share,
//           and for measurements.
//
// A put sends payload and size, flushes, sends the epoch, and flushes. The first flush ensures that payload and size are in the
// destination's memory before the epoch, which an accumulate sets in one piece. A process sees puts by loads only in the unified
// memory model; other memory models are refused. Cost: a put between hosts takes two round trips, for which the flushes wait.
#include "comm/plugins/mpi.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sys/mman.h>
#include <vector>

namespace parhelion::mpi {

namespace {

constexpr std::size_t page = 4096;

struct OneSided
{
    Processes processes;
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Win shared = MPI_WIN_NULL; // window that the processes of this host share
    MPI_Win world = MPI_WIN_NULL;  // window for puts; null if all memory is within reach
    unsigned char* memory = nullptr;
    std::size_t mapped = 0;              // bytes that this plugin has mapped, not MPI
    std::vector<unsigned char*> reached; // memory of other processes, by rank; null: puts are needed
};

unsigned char* round_up(void* address)
{
    return reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(address) + page - 1) / page * page);
}

// Returns whether `yes` is true in all processes.
bool all_say(const Processes& processes, bool yes)
{
    int word = yes ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_MIN, processes.all);
    return word != 0;
}

// Makes memory that the processes of this host share, with pages for each. Makes it zero, without touching pages if possible.
bool share(OneSided& mpi, std::size_t bytes)
{
    MPI_Comm_split_type(mpi.processes.all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &mpi.host);
    MPI_Comm_set_errhandler(mpi.host, MPI_ERRORS_RETURN);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    void* base = nullptr;
    const int error =
        MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + page), 1, info, mpi.host, static_cast<void*>(&base), &mpi.shared);
    MPI_Info_free(&info);
    if (!all_say(mpi.processes, error == MPI_SUCCESS)) { return false; }
    MPI_Group of_all = MPI_GROUP_NULL, of_host = MPI_GROUP_NULL;
    MPI_Comm_group(mpi.processes.all, &of_all);
    MPI_Comm_group(mpi.host, &of_host);
    for (int r = 0; r < mpi.processes.ranks; ++r)
    {
        int there = MPI_UNDEFINED, unit = 0;
        MPI_Aint size = 0;
        void* begin = nullptr;
        MPI_Group_translate_ranks(of_all, 1, &r, of_host, &there);
        if (there == MPI_UNDEFINED) { continue; }
        MPI_Win_shared_query(mpi.shared, there, &size, &unit, static_cast<void*>(&begin));
        mpi.reached[static_cast<std::size_t>(r)] = round_up(begin); // whole pages: at the same place in all processes
    }
    MPI_Group_free(&of_all);
    MPI_Group_free(&of_host);
    mpi.memory = mpi.reached[static_cast<std::size_t>(mpi.processes.rank)];
    if (madvise(mpi.memory, bytes / page * page, MADV_REMOVE) != 0) { std::memset(mpi.memory, 0, bytes); }
    return true;
}

bool map(OneSided& mpi, std::size_t bytes)
{
    mpi.memory = map_memory(bytes);
    if (!all_say(mpi.processes, mpi.memory != nullptr)) { return false; }
    mpi.mapped = bytes;
    mpi.reached[static_cast<std::size_t>(mpi.processes.rank)] = mpi.memory; // a process that is alone needs no window
    return true;
}

// Makes the window of the memory of all processes, for puts.
bool expose(OneSided& mpi, std::size_t bytes)
{
    const int error = MPI_Win_create(mpi.memory, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, mpi.processes.all, &mpi.world);
    return all_say(mpi.processes, error == MPI_SUCCESS);
}

bool is_unified(MPI_Win window)
{
    int* model = nullptr;
    int is_there = 0;
    MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&model), &is_there);
    return is_there != 0 && *model == MPI_WIN_UNIFIED;
}

void progress(parhelion_transport* transport)
{
    OneSided& mpi = as<OneSided>(transport);
    if (mpi.world == MPI_WIN_NULL) { return; }
    int has_come = 0; // stays 0; the probe helps libraries that carry puts only inside calls
    MPI_Iprobe(MPI_ANY_SOURCE, 0, mpi.processes.all, &has_come, MPI_STATUS_IGNORE);
    MPI_Win_sync(mpi.world);
}

void put_signal(parhelion_transport* transport, const parhelion_put* put)
{
    OneSided& mpi = as<OneSided>(transport);
    const int to = put->destination;
    if (unsigned char* const there = mpi.reached[static_cast<std::size_t>(to)])
    {
        if (put->data != nullptr) { std::memcpy(there + put->offset, put->data, put->bytes); }
        return set_signal(there + put->signal, put->bytes, put->epoch);
    }
    const std::uint64_t bytes = put->bytes;
    const auto signal = static_cast<MPI_Aint>(put->signal), size = signal + static_cast<MPI_Aint>(sizeof bytes);
    if (put->data != nullptr)
    {
        const int count = static_cast<int>(bytes);
        MPI_Put(put->data, count, MPI_BYTE, to, static_cast<MPI_Aint>(put->offset), count, MPI_BYTE, mpi.world);
    }
    MPI_Put(&bytes, 1, MPI_UINT64_T, to, size, 1, MPI_UINT64_T, mpi.world);
    MPI_Win_flush(to, mpi.world); // payload and size arrive before the epoch is sent
    MPI_Accumulate(&put->epoch, 1, MPI_UINT64_T, to, signal, 1, MPI_UINT64_T, MPI_REPLACE, mpi.world);
    MPI_Win_flush(to, mpi.world); // the epoch arrives before later puts
}

// Returns whether a put reaches the next process. It polls, since a flush could wait for ever if puts are not carried.
bool puts_arrive(OneSided& mpi, std::chrono::seconds patience)
{
    const Processes& processes = mpi.processes;
    const int to = (processes.rank + 1) % processes.ranks;
    const std::uint64_t token = 1;
    std::atomic_ref arrived(*reinterpret_cast<std::uint64_t*>(mpi.memory));
    const auto end = std::chrono::steady_clock::now() + patience;
    MPI_Request request = MPI_REQUEST_NULL;
    bool has_put = MPI_Rput(&token, 1, MPI_UINT64_T, to, 0, 1, MPI_UINT64_T, mpi.world, &request) == MPI_SUCCESS;
    for (int is_gone = 0; has_put && (is_gone == 0 || arrived.load(std::memory_order_acquire) != token);)
    {
        has_put = MPI_Test(&request, &is_gone, MPI_STATUS_IGNORE) == MPI_SUCCESS && std::chrono::steady_clock::now() < end;
        progress(reinterpret_cast<parhelion_transport*>(&mpi));
    }
    const bool do_all = all_say(processes, has_put);
    arrived.store(0, std::memory_order_relaxed);
    MPI_Barrier(processes.all);
    return do_all;
}

void* reach(parhelion_transport* transport, int rank) { return as<OneSided>(transport).reached[static_cast<std::size_t>(rank)]; }

template <bool shares>
parhelion_transport* open(std::size_t bytes, char* why, std::size_t why_size)
{
    const Why refuse{why, why_size};
    auto* const mpi = new OneSided;
    if (!begin(mpi->processes, refuse)) { return nullptr; }
    MPI_Comm_set_errhandler(mpi->processes.all, MPI_ERRORS_RETURN);
    mpi->reached.resize(static_cast<std::size_t>(mpi->processes.ranks));
    if (shares && !share(*mpi, bytes))
    {
        return refuse("processes of a host get no memory to share (is /dev/shm large enough?); use --transport mpi");
    }
    if (!shares && !map(*mpi, bytes)) { return refuse(no_memory); }
    const bool reaches_all = std::count(mpi->reached.begin(), mpi->reached.end(), nullptr) == 0;
    if (!all_say(mpi->processes, reaches_all))
    {
        if (!expose(*mpi, bytes)) { return refuse("it has no MPI_Put between these processes; use --transport mpi"); }
        if (!is_unified(mpi->world)) { return refuse("its memory model is not the unified one; use --transport mpi"); }
        MPI_Win_set_errhandler(mpi->world, MPI_ERRORS_RETURN);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, mpi->world);
    }
    MPI_Barrier(mpi->processes.all); // puts come only after the memory is zero
    if (mpi->world != MPI_WIN_NULL)
    {
        constexpr std::chrono::seconds patience{20};
        if (!puts_arrive(*mpi, patience))
        {
            return refuse("MPI_Put does not arrive between these processes; use --transport mpi");
        }
        MPI_Win_set_errhandler(mpi->world, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Comm_set_errhandler(mpi->processes.all, MPI_ERRORS_ARE_FATAL);
    return reinterpret_cast<parhelion_transport*>(mpi);
}

void close(parhelion_transport* transport)
{
    OneSided& mpi = as<OneSided>(transport);
    if (mpi.world != MPI_WIN_NULL)
    {
        MPI_Win_unlock_all(mpi.world);
        MPI_Win_free(&mpi.world);
    }
    if (mpi.shared != MPI_WIN_NULL)
    {
        MPI_Win_free(&mpi.shared);
        MPI_Comm_free(&mpi.host);
    }
    end(mpi.processes);
    if (mpi.mapped > 0) { unmap_memory(mpi.memory, mpi.mapped); }
    delete &mpi;
}

} // namespace

const parhelion_calls_v1 one_sided = calls_of<OneSided>(open<true>, reach, put_signal, progress, close);
const parhelion_calls_v1 put_alone = calls_of<OneSided>(open<false>, reach, put_signal, progress, close);

} // namespace parhelion::mpi
