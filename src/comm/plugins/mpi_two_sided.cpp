// SPDX-License-Identifier: Apache-2.0
// The transport "mpi": a put is one message, header first, which the destination copies into its memory inside its calls. MPI
// keeps the order of messages between two ranks. It works with every MPI library and between hosts. Cost: a copy at either side.
#include "comm/plugins/mpi.hpp"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace parhelion::mpi {

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
    Processes processes;
    unsigned char* memory = nullptr;
    std::size_t bytes = 0;
    std::deque<Outgoing> outgoing; // messages that are being sent, oldest first
    std::vector<Bytes> spare;      // memory of messages that have been sent, to be used again
    Bytes incoming;
    std::vector<std::uint64_t> sent, received; // numbers of messages to and from each other rank
};

// Takes back the memory of messages that have been sent, oldest first.
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

// Receives a message and copies it to its place. Returns false if there is no message.
bool receive(Mpi& mpi)
{
    int has_come = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, 0, mpi.processes.all, &has_come, &message, &status);
    if (has_come == 0) { return false; }
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    if (mpi.incoming.size() < static_cast<std::size_t>(size)) { mpi.incoming.resize(static_cast<std::size_t>(size)); }
    MPI_Mrecv(mpi.incoming.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    Header header;
    std::memcpy(&header, mpi.incoming.data(), sizeof header);
    if (header.has_payload != 0) { std::memcpy(mpi.memory + header.offset, mpi.incoming.data() + sizeof header, header.bytes); }
    set_signal(mpi.memory + header.signal, header.bytes, header.epoch);
    ++mpi.received[static_cast<std::size_t>(status.MPI_SOURCE)];
    return true;
}

parhelion_transport* open(std::size_t bytes, char* why, std::size_t why_size)
{
    const Why refuse{why, why_size};
    auto* const mpi = new Mpi;
    if (!begin(mpi->processes, refuse)) { return nullptr; }
    mpi->memory = map_memory(bytes);
    if (mpi->memory == nullptr) { return refuse(no_memory); }
    mpi->bytes = bytes;
    mpi->sent.resize(static_cast<std::size_t>(mpi->processes.ranks));
    mpi->received = mpi->sent;
    return reinterpret_cast<parhelion_transport*>(mpi);
}

void* reach(parhelion_transport*, int) { return nullptr; } // no memory of other processes is within reach

void progress(parhelion_transport* transport)
{
    Mpi& mpi = as<Mpi>(transport);
    while (receive(mpi)) {}
    forget_sent(mpi);
}

void put_signal(parhelion_transport* transport, const parhelion_put* put)
{
    Mpi& mpi = as<Mpi>(transport);
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
    MPI_Isend(outgoing.message.data(), static_cast<int>(outgoing.message.size()), MPI_BYTE, put->destination, 0,
              mpi.processes.all, &outgoing.request);
    ++mpi.sent[static_cast<std::size_t>(put->destination)];
}

void close(parhelion_transport* transport)
{
    Mpi& mpi = as<Mpi>(transport);
    // Receives the last messages of the other processes: a communicator with unreceived messages cannot be freed.
    std::vector<std::uint64_t> to_come(mpi.sent.size());
    MPI_Alltoall(mpi.sent.data(), 1, MPI_UINT64_T, to_come.data(), 1, MPI_UINT64_T, mpi.processes.all);
    while (mpi.received != to_come) { receive(mpi); }
    for (Outgoing& outgoing : mpi.outgoing) { MPI_Wait(&outgoing.request, MPI_STATUS_IGNORE); }
    end(mpi.processes);
    unmap_memory(mpi.memory, mpi.bytes);
    delete &mpi;
}

} // namespace

const parhelion_calls_v1 two_sided = calls_of<Mpi>(open, reach, put_signal, progress, close);

} // namespace parhelion::mpi
