/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of NVSHMEM's host interface that its plugin uses (src/comm/plugins/nvshmem.cpp), by the names and with the meaning
 * that NVIDIA documents, for the stand-in: "GPU memory" is memory that processes of this host share. See nvshmem.cpp.
 */
#ifndef PARHELION_STANDIN_NVSHMEM_HOST_H
#define PARHELION_STANDIN_NVSHMEM_HOST_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#define NVSHMEM_VENDOR_MAJOR_VERSION 0
#define NVSHMEM_VENDOR_MINOR_VERSION 0
#define NVSHMEM_VENDOR_PATCH_VERSION 0
#define NVSHMEM_SIGNAL_SET 0
#define NVSHMEMX_INIT_WITH_UNIQUEID 1
#define NVSHMEMX_UNIQUEID_INITIALIZER                                                                                            \
    {                                                                                                                            \
        {                                                                                                                        \
        }                                                                                                                        \
    }
#define NVSHMEMX_INIT_ATTR_INITIALIZER                                                                                           \
    {                                                                                                                            \
    }

extern "C" {
struct nvshmemx_uniqueid_t
{
    char text[128];
};
struct nvshmemx_init_attr_t
{
    int rank, ranks;
    nvshmemx_uniqueid_t id;
};

int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* id);
int nvshmemx_set_attr_uniqueid_args(int rank, int ranks, const nvshmemx_uniqueid_t* id, nvshmemx_init_attr_t* attributes);
int nvshmemx_hostlib_init_attr(unsigned flags, nvshmemx_init_attr_t* attributes);
void* nvshmem_malloc(size_t bytes);
void* nvshmem_ptr(const void* here, int rank);
void nvshmemx_putmem_on_stream(void* to, const void* from, size_t bytes, int rank, cudaStream_t stream);
void nvshmemx_putmem_signal_on_stream(void* to, const void* from, size_t bytes, uint64_t* signal, uint64_t value, int operation,
                                      int rank, cudaStream_t stream);
void nvshmemx_signal_op_on_stream(uint64_t* signal, uint64_t value, int operation, int rank, cudaStream_t stream);
void nvshmemx_quiet_on_stream(cudaStream_t stream);
}

#endif
