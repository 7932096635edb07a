// SPDX-License-Identifier: Apache-2.0
// The common part of the MPI plugin's transports: how MPI begins and ends, and which processes take part. The plugin is
// compiled once per binary interface, with the headers of an MPI library that has it, but is not linked with any (transport.h).
#pragma once

#include "comm/plugins/transport.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mpi.h>

namespace parhelion::mpi {

struct Processes
{
    MPI_Comm all = MPI_COMM_NULL; // a communicator that only the plugin uses
    int rank = 0, ranks = 0;
    bool has_begun_mpi = false;
};

// The buffer to which a plugin writes the reason why it cannot begin.
struct Why
{
    char* text;
    std::size_t size;
    std::nullptr_t operator()(const char* reason) const
    {
        std::snprintf(text, size, "%s", reason);
        return nullptr;
    }
};

// Returns the MPI library's name and version, in one line.
const char* library();
// Returns false if MPI does not allow what a plugin needs; the reason is then in `why`.
bool begin(Processes& processes, const Why& why);
void end(Processes& processes);

// Maps `bytes` bytes of zeroed memory, which are committed when first touched, and returns them. Returns null on failure.
unsigned char* map_memory(std::size_t bytes);
void unmap_memory(unsigned char* memory, std::size_t bytes);
constexpr const char* no_memory = "there is not so much address space (ulimit -v)";

// Sets the signal of a put, which is a slot of 128 bytes in the memory of a process.
inline void set_signal(unsigned char* signal, std::uint64_t bytes, std::uint64_t epoch)
{
    auto* const words = reinterpret_cast<std::uint64_t*>(signal);
    std::atomic_ref(words[1]).store(bytes, std::memory_order_relaxed);
    std::atomic_ref(words[0]).store(epoch, std::memory_order_release); // releases payload and size to the reader's acquire
}

// Returns the object behind the program's handle, in the plugin's own type.
template <class T>
T& as(parhelion_transport* transport)
{
    return *reinterpret_cast<T*>(transport);
}

// Returns the table of calls for a transport of type T, which must have the members `processes` and `memory`.
template <class T>
constexpr parhelion_calls_v1 calls_of(decltype(parhelion_calls_v1::open) open, decltype(parhelion_calls_v1::reach) reach,
                                      decltype(parhelion_calls_v1::put_signal) put_signal,
                                      decltype(parhelion_calls_v1::progress) progress, decltype(parhelion_calls_v1::close) close)
{
    return {
        .version = PARHELION_TRANSPORT_VERSION,
        .size = sizeof(parhelion_calls_v1),
        .library = library,
        .open = open,
        .rank = [](parhelion_transport* t) { return as<T>(t).processes.rank; },
        .ranks = [](parhelion_transport* t) { return as<T>(t).processes.ranks; },
        .memory = [](parhelion_transport* t) -> void* { return as<T>(t).memory; },
        .reach = reach,
        .put_signal = put_signal,
        .progress = progress,
        .close = close,
        .abort = [](parhelion_transport* t, int code) { MPI_Abort(as<T>(t).processes.all, code); },
    };
}

extern const parhelion_calls_v1 two_sided; // table of the transport "mpi"
extern const parhelion_calls_v1 one_sided; // table of the transport "mpi-rma"
extern const parhelion_calls_v1 put_alone; // table of the transport "mpi-put"

} // namespace parhelion::mpi
