// SPDX-License-Identifier: Apache-2.0
// NVSHMEM as a symmetric heap (heap.h). Within a domain of NVLink it only tells the addresses of other ranks' memory, which
// kernels then use. Between domains NVSHMEM puts, on a stream, by kernels of its own, which drive network cards. Kernels of
// this program never call NVSHMEM, so no relocatable device code is linked.
#include "comm/plugins/heap.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nvshmem_host.h>
#include <string>

namespace {

const char* library()
{
    static char text[64];
    std::snprintf(text, sizeof text, "NVSHMEM %d.%d.%d", NVSHMEM_VENDOR_MAJOR_VERSION, NVSHMEM_VENDOR_MINOR_VERSION,
                  NVSHMEM_VENDOR_PATCH_VERSION);
    return text;
}

static_assert(sizeof(nvshmemx_uniqueid_t) <= PARHELION_HEAP_ID_BYTES);

int make_id(unsigned char* id)
{
    nvshmemx_uniqueid_t unique = NVSHMEMX_UNIQUEID_INITIALIZER;
    const int status = nvshmemx_get_uniqueid(&unique);
    std::memcpy(id, &unique, sizeof unique);
    return status;
}

// Sets the environment variables that the user has not set. On one host NVSHMEM gets no proxy, since no message leaves the
// host. NVLink's multicast is disabled, as nothing here uses it.
void set_environment(std::size_t bytes, bool are_on_one_host)
{
    const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 0); };
    const bool is_transport_chosen = std::getenv("NVSHMEM_REMOTE_TRANSPORT") != nullptr;
    set("NVSHMEM_SYMMETRIC_SIZE", std::to_string(bytes));
    set("NVSHMEM_DISABLE_NVLS", "1");
    if (!are_on_one_host || is_transport_chosen) { return; }
    set("NVSHMEM_REMOTE_TRANSPORT", "none");
    set("NVSHMEM_DISABLE_LOCAL_ONLY_PROXY", "1");
}

int open(const unsigned char* id, int rank, int ranks, std::size_t bytes, int are_on_one_host)
{
    set_environment(bytes, are_on_one_host != 0);
    nvshmemx_uniqueid_t unique;
    std::memcpy(&unique, id, sizeof unique);
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    if (const int status = nvshmemx_set_attr_uniqueid_args(rank, ranks, &unique, &attributes)) { return status; }
    return nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
}

void* of_rank(const void* here, int rank) { return nvshmem_ptr(here, rank); }

// Queues a put. The usual one has a payload and one word, in one call. Otherwise each word waits until all before it has arrived.
void put(int rank, void* to, const void* from, std::size_t bytes, const parhelion_heap_word* words, int count, void* on)
{
    auto* const stream = static_cast<CUstream_st*>(on);
    if (count == 1 && bytes > 0)
    {
        return nvshmemx_putmem_signal_on_stream(to, from, bytes, words->where, words->value, NVSHMEM_SIGNAL_SET, rank, stream);
    }
    if (bytes > 0) { nvshmemx_putmem_on_stream(to, from, bytes, rank, stream); }
    for (int k = 0; k < count; ++k)
    {
        if (bytes > 0 || k > 0) { nvshmemx_quiet_on_stream(stream); }
        nvshmemx_signal_op_on_stream(words[k].where, words[k].value, NVSHMEM_SIGNAL_SET, rank, stream);
    }
}

} // namespace

extern "C" __attribute__((visibility("default"))) const parhelion_heap_calls_v3* parhelion_heap_v3()
{
    static const parhelion_heap_calls_v3 calls{
        PARHELION_HEAP_VERSION, sizeof(parhelion_heap_calls_v3), library, make_id, open, nvshmem_malloc, of_rank, put};
    return &calls;
}
