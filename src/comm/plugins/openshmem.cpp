// SPDX-License-Identifier: Apache-2.0
// The plugin for an OpenSHMEM library of version 1.4 or later. The memory of a process is in the symmetric heap, so puts do not
// need the destination's program. A fence orders puts to one destination: all puts before the fence, earlier epochs included,
// arrive before the epoch. Version 1.4 sends payload, the message's size, fence, epoch. Version 1.5 has a put with signal,
// whose payload arrives before its signal. The plugin then sends the size, a fence, and payload and epoch in one call, so that
// the fence does not wait for the payload.
#include "comm/plugins/transport.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <shmem.h>
#include <string>

namespace {

struct Shmem
{
    int rank = 0, ranks = 0;
    unsigned char* memory = nullptr;
};

Shmem& of(parhelion_transport* transport) { return *reinterpret_cast<Shmem*>(transport); }

const char* library()
{
    static char text[SHMEM_MAX_NAME_LEN + 40];
    static char name[SHMEM_MAX_NAME_LEN];
    int major = 0, minor = 0;
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    std::snprintf(text, sizeof text, "OpenSHMEM %d.%d, %s", major, minor, name);
    return text;
}

parhelion_transport* open(std::size_t bytes, char* why, std::size_t why_size)
{
    constexpr std::size_t of_library = std::size_t{1} << 20; // bytes of the heap that the library itself uses
    // The heap does not grow. Without the last of these variables Open MPI calls code at its end that it has unloaded.
    setenv("SHMEM_SYMMETRIC_HEAP_SIZE", std::to_string(bytes + of_library).c_str(), 1);
    setenv("SHMEM_SYMMETRIC_SIZE", std::to_string(bytes + of_library).c_str(), 1);
    setenv("OMPI_MCA_opal_common_ucx_opal_mem_hooks", "0", 1);
    int level = SHMEM_THREAD_SINGLE;
    if (shmem_init_thread(SHMEM_THREAD_SERIALIZED, &level) != 0 || level < SHMEM_THREAD_SERIALIZED)
    {
        std::snprintf(why, why_size, "it does not allow calls from several threads in turn");
        return nullptr;
    }
    constexpr std::size_t page = 4096;
    void* const memory = shmem_align(page, bytes);
    if (memory == nullptr)
    {
        std::snprintf(why, why_size, "its symmetric heap has no %zu MB", bytes >> 20);
        return nullptr;
    }
    auto* const shmem = new Shmem{shmem_my_pe(), shmem_n_pes(), static_cast<unsigned char*>(memory)};
    shmem_barrier_all();
    return reinterpret_cast<parhelion_transport*>(shmem);
}

void put_signal(parhelion_transport* transport, const parhelion_put* put)
{
    unsigned char* const memory = of(transport).memory;
    auto* const words = reinterpret_cast<long*>(memory + put->signal);
    const std::size_t payload = put->data != nullptr ? put->bytes : 0;
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
    shmem_long_atomic_set(words + 1, static_cast<long>(put->bytes), put->destination);
    shmem_fence();
    shmem_putmem_signal(memory + put->offset, put->data, payload, reinterpret_cast<std::uint64_t*>(words), put->epoch,
                        SHMEM_SIGNAL_SET, put->destination);
#else
    if (payload > 0) { shmem_putmem(memory + put->offset, put->data, payload, put->destination); }
    shmem_long_atomic_set(words + 1, static_cast<long>(put->bytes), put->destination);
    shmem_fence();
    shmem_long_atomic_set(words, static_cast<long>(put->epoch), put->destination);
#endif
}

void close(parhelion_transport* transport)
{
    shmem_quiet();
    shmem_barrier_all();
    shmem_free(of(transport).memory);
    shmem_finalize();
    delete &of(transport);
}

static_assert(sizeof(long) == sizeof(std::uint64_t));
constexpr parhelion_calls_v1 calls = {
    .version = PARHELION_TRANSPORT_VERSION,
    .size = sizeof(parhelion_calls_v1),
    .library = library,
    .open = open,
    .rank = [](parhelion_transport* t) { return of(t).rank; },
    .ranks = [](parhelion_transport* t) { return of(t).ranks; },
    .memory = [](parhelion_transport* t) -> void* { return of(t).memory; },
    .reach = [](parhelion_transport*, int) -> void* { return nullptr; },
    .put_signal = put_signal,
    .progress = [](parhelion_transport*) { shmem_quiet(); },
    .close = close,
    .abort = [](parhelion_transport*, int code) { shmem_global_exit(code); },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const parhelion_calls_v1* parhelion_transport_v1(const char* name)
{
    return std::strcmp(name, "openshmem") == 0 ? &calls : nullptr;
}
