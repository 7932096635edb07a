// SPDX-License-Identifier: Apache-2.0
// The stand-in for CUDA's header of this name: of the driver's functions those that map memory, which is the host's, and stores that
// are queued.
#pragma once

#include <cstddef>

enum CUresult
{
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_LAUNCH_FAILED = 719
};
using CUdeviceptr = unsigned long long;
using CUdevice = int;
using CUmemGenericAllocationHandle = unsigned long long;

enum CUmemAllocationType
{
    CU_MEM_ALLOCATION_TYPE_PINNED = 1
};
enum CUmemLocationType
{
    CU_MEM_LOCATION_TYPE_DEVICE = 1
};
enum CUmemAccess_flags
{
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
};
enum CUmemAllocationGranularity_flags
{
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
};
enum CUdevice_attribute
{
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102
};
enum CUmemAllocationHandleType
{
    CU_MEM_HANDLE_TYPE_NONE = 0,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1
};
struct CUmemLocation
{
    CUmemLocationType type;
    int id;
};
struct CUmemAllocationProp
{
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
};
struct CUmemAccessDesc
{
    CUmemLocation location;
    CUmemAccess_flags flags;
};
enum CUstreamBatchMemOpType
{
    CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5
};
inline constexpr unsigned CU_STREAM_WRITE_VALUE_DEFAULT = 0;
struct CUstreamBatchMemOpParams
{
    struct
    {
        CUstreamBatchMemOpType operation;
        CUdeviceptr address;
        unsigned long value64;
        unsigned flags;
    } writeValue;
};

CUresult cuStreamBatchMemOp(struct CUstream_st* stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags);
CUresult cuGetErrorString(CUresult error, const char** text);
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device);
CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags which);
CUresult cuMemCreate(CUmemGenericAllocationHandle* pages, std::size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle pages);
CUresult cuMemExportToShareableHandle(void* descriptor, CUmemGenericAllocationHandle pages, CUmemAllocationHandleType type,
                                      unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* pages, void* descriptor, CUmemAllocationHandleType type);
CUresult cuMemAddressReserve(CUdeviceptr* at, std::size_t bytes, std::size_t alignment, CUdeviceptr hint,
                             unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr at, std::size_t bytes);
CUresult cuMemMap(CUdeviceptr at, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle pages,
                  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr at, std::size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr at, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count);
