// SPDX-License-Identifier: Apache-2.0
// Functions of the CUDA driver that the CUDA runtime has no equivalent for: memory that several GPUs address by one pointer,
// and stores that a queue makes without a kernel. All functions throw DeviceError.
#pragma once

#include "device/gpu/queue_gpu.hpp"
#include "device/gpu/runtime.cuh"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace parhelion::gpu_api {

// Returns a function of the driver by its name. The driver is not linked, so the program starts on machines without it.
template <class Function>
Function* driver_function(const char* name)
{
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    gpu_check(cudaGetDriverEntryPointByVersion(name, &function, CUDART_VERSION, cudaEnableDefault, &found), name);
    if (found != cudaDriverEntryPointSuccess) { throw DeviceError(std::string(name) + ": the driver does not have it"); }
    return reinterpret_cast<Function*>(function);
}
#define PARHELION_DRIVER(name) driver_function<decltype(::name)>(#name)

inline void driver_check(CUresult status, const char* what)
{
    if (status == CUDA_SUCCESS) { return; }
    const char* text = "unknown error";
    PARHELION_DRIVER(cuGetErrorString)(status, &text);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) { throw DeviceMemoryError(std::string(what) + ": " + text); }
    throw DeviceError(std::string(what) + ": " + text);
}

inline bool makes_shared_memory(int device)
{
    int value = 0;
    driver_check(PARHELION_DRIVER(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device),
                 "cuDeviceGetAttribute");
    return value != 0;
}

// Pages of one GPU. They are mapped as long as this process needs them.
class SharedPages
{
public:
    SharedPages() = default;
    SharedPages(const SharedPages&) = delete;
    SharedPages& operator=(const SharedPages&) = delete;

    // Makes at least `bytes`. If is_exported, `descriptor` becomes a file descriptor by which another process maps them.
    void make(int device, std::size_t bytes, bool is_exported, int& descriptor)
    {
        const CUmemAllocationProp properties = pages_on(device, is_exported);
        const std::size_t granule = granule_of(properties);
        const std::size_t whole = (bytes + granule - 1) / granule * granule;
        CUmemGenericAllocationHandle pages;
        driver_check(PARHELION_DRIVER(cuMemCreate)(&pages, whole, &properties, 0), "cuMemCreate");
        const CUresult exported =
            is_exported ? PARHELION_DRIVER(cuMemExportToShareableHandle)(&descriptor, pages, descriptors, 0) : CUDA_SUCCESS;
        map(pages, whole, granule);
        driver_check(exported, "cuMemExportToShareableHandle");
    }
    // Maps pages that another process has made. All GPUs of a host have the same size of pages, so this process knows it.
    void map_descriptor(int device, std::size_t bytes, int descriptor)
    {
        const std::size_t granule = granule_of(pages_on(device, true));
        CUmemGenericAllocationHandle pages;
        driver_check(PARHELION_DRIVER(cuMemImportFromShareableHandle)(
                         &pages, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), descriptors),
                     "cuMemImportFromShareableHandle");
        map(pages, (bytes + granule - 1) / granule * granule, granule);
    }
    // Lets these GPUs load from the pages and store to them.
    void open_to(std::span<const int> devices)
    {
        std::vector<CUmemAccessDesc> access;
        for (const int device : devices)
        {
            access.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
        }
        driver_check(PARHELION_DRIVER(cuMemSetAccess)(at_, bytes_, access.data(), access.size()), "cuMemSetAccess");
    }
    ~SharedPages()
    {
        if (at_ == 0) { return; }
        PARHELION_DRIVER(cuMemUnmap)(at_, bytes_);
        PARHELION_DRIVER(cuMemAddressFree)(at_, bytes_);
    }

    std::byte* data() const { return reinterpret_cast<std::byte*>(at_); }
    std::size_t bytes() const { return bytes_; }

private:
    static constexpr CUmemAllocationHandleType descriptors = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

    static CUmemAllocationProp pages_on(int device, bool is_exported)
    {
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
        if (is_exported) { properties.requestedHandleTypes = descriptors; }
        return properties;
    }
    static std::size_t granule_of(const CUmemAllocationProp& properties)
    {
        std::size_t granule = 0;
        driver_check(PARHELION_DRIVER(cuMemGetAllocationGranularity)(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                     "cuMemGetAllocationGranularity");
        return granule;
    }
    // Maps the pages. Releases their handle, because the mapping keeps them alive.
    void map(CUmemGenericAllocationHandle pages, std::size_t bytes, std::size_t granule)
    {
        CUdeviceptr at = 0;
        CUresult status = PARHELION_DRIVER(cuMemAddressReserve)(&at, bytes, granule, 0, 0);
        if (status == CUDA_SUCCESS)
        {
            status = PARHELION_DRIVER(cuMemMap)(at, bytes, 0, pages, 0);
            if (status != CUDA_SUCCESS) { PARHELION_DRIVER(cuMemAddressFree)(at, bytes); }
        }
        PARHELION_DRIVER(cuMemRelease)(pages);
        driver_check(status, "mapping memory of the GPU");
        at_ = at, bytes_ = bytes;
    }

    CUdeviceptr at_ = 0;
    std::size_t bytes_ = 0;
};

// Queues stores to at most 16 words, in order, each after all work that is queued now.
inline void queue_stores(Stream stream, std::span<const gpu_memory::WordAt> words)
{
    static const auto batch = PARHELION_DRIVER(cuStreamBatchMemOp);
    constexpr std::size_t most = 16;
    PARHELION_EXPECTS(words.size() <= most);
    CUstreamBatchMemOpParams stores[most] = {};
    for (std::size_t i = 0; i < words.size(); ++i)
    {
        auto& store = stores[i].writeValue;
        store.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
        store.address = reinterpret_cast<CUdeviceptr>(words[i].word);
        store.value64 = words[i].value;
        store.flags = CU_STREAM_WRITE_VALUE_DEFAULT; // includes a system-scope fence before the store
    }
    driver_check(batch(stream, static_cast<unsigned>(words.size()), stores, 0), "cuStreamBatchMemOp");
}

} // namespace parhelion::gpu_api
