// SPDX-License-Identifier: Apache-2.0
// The plugin for an MPI library. One source, compiled once for each ABI by the headers of one library that has it; it links none
// (plugin.h). Transport "mpi": a put is one message, header first, that the destination copies into its memory inside its calls.
// MPI keeps the order of messages between two ranks. Cost: a copy at either end.
#include "comm/plugin.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mpi.h>
#include <sys/mman.h>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;

struct Header
{
    std::uint64_t offset, bytes, signal, epoch;
    std::uint64_t has_payload;
};

struct Outgoing
{
    Bytes message;
    MPI_Request request = MPI_REQUEST_NULL;
};

struct Mpi
{
    MPI_Comm communicator = MPI_COMM_NULL;
    int rank = 0, ranks = 0;
    unsigned char* memory = nullptr;
    std::size_t bytes = 0;
    std::deque<Outgoing> outgoing; // oldest first
    std::vector<Bytes> spare;      // of messages that have gone
    Bytes incoming;
    bool has_begun_mpi = false;
};

Mpi& of(parhelion_transport* transport) { return *reinterpret_cast<Mpi*>(transport); }

void set(unsigned char* signal, std::uint64_t bytes, std::uint64_t epoch)
{
    auto* const words = reinterpret_cast<std::uint64_t*>(signal);
    std::atomic_ref(words[1]).store(bytes, std::memory_order_relaxed);
    std::atomic_ref(words[0]).store(epoch, std::memory_order_release); // payload and size -> the reader's acquire
}

// Takes back the messages that have gone, in their order.
void forget_sent(Mpi& mpi)
{
    while (!mpi.outgoing.empty())
    {
        int is_sent = 0;
        MPI_Test(&mpi.outgoing.front().request, &is_sent, MPI_STATUS_IGNORE);
        if (is_sent == 0) { return; }
        mpi.spare.push_back(std::move(mpi.outgoing.front().message));
        mpi.outgoing.pop_front();
    }
}

// Is there a message? Then it is delivered.
bool receive(Mpi& mpi)
{
    int has_come = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, 0, mpi.communicator, &has_come, &message, &status);
    if (has_come == 0) { return false; }
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    if (mpi.incoming.size() < static_cast<std::size_t>(size)) { mpi.incoming.resize(static_cast<std::size_t>(size)); }
    MPI_Mrecv(mpi.incoming.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    Header header;
    std::memcpy(&header, mpi.incoming.data(), sizeof header);
    if (header.has_payload != 0) { std::memcpy(mpi.memory + header.offset, mpi.incoming.data() + sizeof header, header.bytes); }
    set(mpi.memory + header.signal, header.bytes, header.epoch);
    return true;
}

const char* library()
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    text[std::strcspn(text, "\n")] = '\0';
    std::replace(text, text + std::strlen(text), '\t', ' ');
    return text;
}

parhelion_transport* open(std::size_t bytes, char* why, std::size_t why_size)
{
    const auto refuse = [&](const char* reason) {
        std::snprintf(why, why_size, "%s", reason);
        return nullptr;
    };
    int is_initialized = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&is_initialized);
    if (is_initialized == 0) { MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level); }
    else { MPI_Query_thread(&level); }
    if (level < MPI_THREAD_SERIALIZED) { return refuse("it does not allow calls from several threads in turn"); }
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) { return refuse("there is not so much address space (ulimit -v)"); }
    auto* const mpi = new Mpi;
    mpi->has_begun_mpi = is_initialized == 0;
    mpi->memory = static_cast<unsigned char*>(memory);
    mpi->bytes = bytes;
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi->communicator);
    MPI_Comm_rank(mpi->communicator, &mpi->rank);
    MPI_Comm_size(mpi->communicator, &mpi->ranks);
    return reinterpret_cast<parhelion_transport*>(mpi);
}

void progress(parhelion_transport* transport)
{
    Mpi& mpi = of(transport);
    while (receive(mpi)) {}
    forget_sent(mpi);
}

void put_signal(parhelion_transport* transport, const parhelion_put* put)
{
    Mpi& mpi = of(transport);
    const Header header{put->offset, put->bytes, put->signal, put->epoch, put->data != nullptr ? 1U : 0U};
    const std::size_t payload = put->data != nullptr ? put->bytes : 0;
    forget_sent(mpi);
    Outgoing& outgoing = mpi.outgoing.emplace_back();
    if (!mpi.spare.empty())
    {
        outgoing.message = std::move(mpi.spare.back());
        mpi.spare.pop_back();
    }
    outgoing.message.resize(sizeof header + payload);
    std::memcpy(outgoing.message.data(), &header, sizeof header);
    if (payload > 0) { std::memcpy(outgoing.message.data() + sizeof header, put->data, payload); }
    MPI_Isend(outgoing.message.data(), static_cast<int>(outgoing.message.size()), MPI_BYTE, put->destination, 0, mpi.communicator,
              &outgoing.request);
}

void close(parhelion_transport* transport)
{
    Mpi& mpi = of(transport);
    for (Outgoing& outgoing : mpi.outgoing) { MPI_Wait(&outgoing.request, MPI_STATUS_IGNORE); }
    MPI_Comm_free(&mpi.communicator);
    if (mpi.has_begun_mpi) { MPI_Finalize(); }
    munmap(mpi.memory, mpi.bytes);
    delete &mpi;
}

constexpr parhelion_calls_v1 two_sided = {
    .version = PARHELION_TRANSPORT_VERSION,
    .size = sizeof(parhelion_calls_v1),
    .library = library,
    .open = open,
    .rank = [](parhelion_transport* t) { return of(t).rank; },
    .ranks = [](parhelion_transport* t) { return of(t).ranks; },
    .memory = [](parhelion_transport* t) -> void* { return of(t).memory; },
    .put_signal = put_signal,
    .progress = progress,
    .close = close,
    .abort = [](parhelion_transport* t, int code) { MPI_Abort(of(t).communicator, code); },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const parhelion_calls_v1* parhelion_transport_v1(const char* name)
{
    return std::strcmp(name, "mpi") == 0 ? &two_sided : nullptr;
}
