// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/arena.hpp"

#include "device/gpu/driver.cuh"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>
#include <unistd.h>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

CUdeviceptr address(const std::byte* data) { return reinterpret_cast<CUdeviceptr>(data); }

constexpr CUmemAllocationHandleType descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

CUmemAllocationProp pages_on(int device, GpuArena::Reach reach)
{
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    if (reach == GpuArena::Reach::Host) { properties.requestedHandleTypes = descriptor; }
    return properties;
}

// Returns the size of a page. All GPUs of a host have the same, so a process that maps another process's pages knows it.
std::size_t granule_of(const CUmemAllocationProp& properties)
{
    std::size_t granule = 0;
    driver_check(PARHELION_DRIVER(cuMemGetAllocationGranularity)(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                 "cuMemGetAllocationGranularity");
    return granule;
}

// Maps `pages` and returns their address. Releases the handle, because the mapping keeps the pages alive.
std::byte* map(CUmemGenericAllocationHandle pages, std::size_t bytes, std::size_t granule)
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
    return reinterpret_cast<std::byte*>(at);
}

void open_to(std::span<const CUmemAccessDesc> access, std::byte* data, std::size_t bytes)
{
    driver_check(PARHELION_DRIVER(cuMemSetAccess)(address(data), bytes, access.data(), access.size()), "cuMemSetAccess");
}

CUmemAccessDesc may_write(int device) { return {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}; }

void open_to(int device, std::byte* data, std::size_t bytes, std::span<const int> accessed_by)
{
    std::vector<int> devices(accessed_by.begin(), accessed_by.end());
    devices.push_back(device);
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    std::vector<CUmemAccessDesc> access;
    for (const int d : devices)
    {
        if (!gpu_link(d, device).has_access)
        {
            throw DeviceError("GPU " + std::to_string(d) + " cannot address the memory of GPU " + std::to_string(device) +
                              ". Use --gpus 1, or let CUDA_VISIBLE_DEVICES name GPUs that can.");
        }
        access.push_back(may_write(d));
    }
    open_to(access, data, bytes);
}

} // namespace

GpuLink gpu_link(int from, int to)
{
    if (from == to) { return {true, true}; }
    int access = 0, atomics = 0;
    cuda_check(cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, from, to), "cudaDeviceGetP2PAttribute");
    cuda_check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to), "cudaDeviceGetP2PAttribute");
    return {access != 0, atomics != 0};
}

bool makes_shared_memory(int device)
{
    int value = 0;
    driver_check(PARHELION_DRIVER(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device),
                 "cuDeviceGetAttribute");
    return value != 0;
}

void open_memory(std::span<const int> devices)
{
    static std::mutex mutex;
    static std::set<std::pair<int, int>> open; // pairs of GPUs enabled in this process; enabling a pair twice is an error
    const std::lock_guard lock(mutex);
    for (const int from : devices)
    {
        cuda_check(cudaSetDevice(from), "cudaSetDevice");
        for (const int to : devices)
        {
            if (from == to || open.contains({from, to})) { continue; }
            const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
            if (status == cudaErrorPeerAccessAlreadyEnabled) { cudaGetLastError(); } // another library has enabled it
            else { cuda_check(status, "cudaDeviceEnablePeerAccess"); }
            open.emplace(from, to);
        }
    }
}

GpuArena::GpuArena(int device, std::size_t bytes, std::span<const int> accessed_by, Reach reach)
    : is_mapped_(reach == Reach::Host ||
                 std::any_of(accessed_by.begin(), accessed_by.end(), [&](int other) { return other != device; })),
      bytes_(bytes)
{
    cuda_check(cudaSetDevice(device), "cudaSetDevice");
    try
    {
        if (is_mapped_)
        {
            const CUmemAllocationProp properties = pages_on(device, reach);
            const std::size_t granule = granule_of(properties);
            bytes_ = (bytes_ + granule - 1) / granule * granule;
            CUmemGenericAllocationHandle pages;
            driver_check(PARHELION_DRIVER(cuMemCreate)(&pages, bytes_, &properties, 0), "cuMemCreate");
            const CUresult exported = reach == Reach::Host
                                          ? PARHELION_DRIVER(cuMemExportToShareableHandle)(&pages_, pages, descriptor, 0)
                                          : CUDA_SUCCESS;
            data_ = map(pages, bytes_, granule);
            driver_check(exported, "cuMemExportToShareableHandle");
            gpu_memory::count(static_cast<std::ptrdiff_t>(bytes_));
            is_counted_ = true;
            open_to(device, data_, bytes_, accessed_by);
        }
        else { data_ = static_cast<std::byte*>(gpu_memory::allocate(bytes)); }
        cuda_check(cudaMemset(data_, 0, bytes_), "cudaMemset");
        cuda_check(cudaStreamSynchronize(nullptr), "cudaMemset");
    }
    catch (...)
    {
        give_back();
        throw;
    }
}

std::unique_ptr<GpuArena> GpuArena::of_process(int pages, std::size_t bytes, std::span<const int> accessed_by)
{
    cuda_check(cudaSetDevice(accessed_by.front()), "cudaSetDevice");
    const std::size_t granule = granule_of(pages_on(accessed_by.front(), Reach::Host));
    std::unique_ptr<GpuArena> arena(new GpuArena);
    arena->bytes_ = (bytes + granule - 1) / granule * granule;
    CUmemGenericAllocationHandle handle;
    driver_check(PARHELION_DRIVER(cuMemImportFromShareableHandle)(
                     &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(pages)), descriptor),
                 "cuMemImportFromShareableHandle");
    arena->data_ = map(handle, arena->bytes_, granule);
    std::vector<CUmemAccessDesc> access;
    for (const int device : accessed_by) { access.push_back(may_write(device)); }
    open_to(access, arena->data_, arena->bytes_);
    return arena;
}

void GpuArena::give_back() noexcept
{
    if (pages_ >= 0) { ::close(pages_); }
    if (data_ == nullptr) { return; }
    if (!is_mapped_) { gpu_memory::free(data_, bytes_); }
    else
    {
        if (is_counted_) { gpu_memory::count(-static_cast<std::ptrdiff_t>(bytes_)); }
        PARHELION_DRIVER(cuMemUnmap)(address(data_), bytes_);
        PARHELION_DRIVER(cuMemAddressFree)(address(data_), bytes_);
    }
}

GpuArena::~GpuArena() { give_back(); }

} // namespace parhelion
