// SPDX-License-Identifier: Apache-2.0
// What the transports of the MPI plugin have in common: how MPI begins and ends, and who takes part. The plugin is compiled once
// for each binary interface, by the headers of one library that has it; it links none (plugin.h).
#pragma once

#include "comm/plugin.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mpi.h>

namespace parhelion::mpi {

struct Processes
{
    MPI_Comm all = MPI_COMM_NULL; // a communicator of the plugin's own
    int rank = 0, ranks = 0;
    bool has_begun_mpi = false;
};

// Where a plugin says why it cannot begin.
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

// The library's name and version, in one line.
const char* library();
// False: MPI cannot be used as a plugin must, as `why` then says.
bool begin(Processes& processes, const Why& why);
void end(Processes& processes);

// So much memory of this process alone, zeros, address space until touched; null: there is none.
unsigned char* map_memory(std::size_t bytes);
void unmap_memory(unsigned char* memory, std::size_t bytes);
constexpr const char* no_memory = "there is not so much address space (ulimit -v)";

// The signal of a put, at 128 bytes of a process's memory.
inline void set_signal(unsigned char* signal, std::uint64_t bytes, std::uint64_t epoch)
{
    auto* const words = reinterpret_cast<std::uint64_t*>(signal);
    std::atomic_ref(words[1]).store(bytes, std::memory_order_relaxed);
    std::atomic_ref(words[0]).store(epoch, std::memory_order_release); // payload and size -> the reader's acquire
}

// What the program holds is a transport of the plugin's own type.
template <class T>
T& as(parhelion_transport* transport)
{
    return *reinterpret_cast<T*>(transport);
}

// The table of a transport T, which has `processes` and `memory`.
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

extern const parhelion_calls_v1 two_sided; // "mpi"
extern const parhelion_calls_v1 one_sided; // "mpi-rma"
extern const parhelion_calls_v1 put_alone; // "mpi-put"

} // namespace parhelion::mpi
