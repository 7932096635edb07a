// SPDX-License-Identifier: Apache-2.0
// NVSHMEM as a symmetric heap (heap.h). Within a domain of NVLink it says where kernels reach each other's memory; everything
// else they do themselves. No kernel calls NVSHMEM, so no relocatable device code is linked.
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

// What the user has not said. No proxy: nothing leaves the domain of NVLink. NVLink's multicast is not used by anything here.
void set_environment(std::size_t bytes)
{
    const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 0); };
    set("NVSHMEM_SYMMETRIC_SIZE", std::to_string(bytes));
    set("NVSHMEM_REMOTE_TRANSPORT", "none");
    set("NVSHMEM_DISABLE_LOCAL_ONLY_PROXY", "1");
    set("NVSHMEM_DISABLE_NVLS", "1");
}

int open(const unsigned char* id, int rank, int ranks, std::size_t bytes)
{
    set_environment(bytes);
    nvshmemx_uniqueid_t unique;
    std::memcpy(&unique, id, sizeof unique);
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    if (const int status = nvshmemx_set_attr_uniqueid_args(rank, ranks, &unique, &attributes)) { return status; }
    return nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
}

void* of_rank(const void* here, int rank) { return nvshmem_ptr(here, rank); }

} // namespace

extern "C" __attribute__((visibility("default"))) const parhelion_heap_calls_v1* parhelion_heap_v1()
{
    static const parhelion_heap_calls_v1 calls{
        PARHELION_HEAP_VERSION,   sizeof(parhelion_heap_calls_v1), library, make_id, open, nvshmem_malloc, of_rank,
        nvshmemx_hostlib_finalize};
    return &calls;
}
