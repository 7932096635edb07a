// SPDX-License-Identifier: Apache-2.0
// Memory of the imaginary GPUs, which is the host's: allocations, copies, and pages that processes share.
#include "runtime.hpp"
#include <cuda.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

using namespace standin;

namespace {

// Under the runtime's lock, and until the process ends: objects with static storage may free memory late.
auto& pinned = *new std::map<const char*, std::size_t>; // begin, bytes
auto& device_memory = *new std::map<void*, std::size_t>;
std::size_t held = 0;

// CUDA refuses to allocate and to free, even nothing, in a thread that captures; and what it captures is lost.
bool is_refused_by_captures()
{
    for (CUgraph_st* const graph : captures) { graph->is_invalid = true; }
    return !captures.empty();
}

bool is_pinned(const void* memory)
{
    const auto at = static_cast<const char*>(memory);
    auto next = pinned.upper_bound(at);
    if (next == pinned.begin()) { return false; }
    --next;
    return at < next->first + next->second;
}

void* allocate(std::size_t bytes, std::size_t alignment = 256)
{
    void* memory = nullptr;
    if (posix_memalign(&memory, alignment, bytes) != 0)
    {
        return nullptr;
    }                                 // of the size asked for: sanitizers see what is beyond
    std::memset(memory, 0xff, bytes); // no more zeros than on a GPU
    return memory;
}

} // namespace

std::size_t standin::memory_bytes()
{
    static const char* const mebibytes = std::getenv("PARHELION_STANDIN_MEMORY");
    return mebibytes == nullptr ? std::size_t{1} << 34 : static_cast<std::size_t>(std::atoi(mebibytes)) << 20;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes)
{
    if (is_refused_by_captures()) { return failed(cudaErrorStreamCaptureUnsupported); }
    const std::lock_guard lock(runtime_mutex());
    if (bytes > memory_bytes() - held) { return failed(cudaErrorMemoryAllocation); }
    *memory = allocate(bytes);
    device_memory[*memory] = bytes;
    held += bytes;
    return cudaSuccess;
}
cudaError_t cudaFree(void* memory)
{
    if (is_refused_by_captures()) { return failed(cudaErrorStreamCaptureUnsupported); }
    if (memory == nullptr) { return cudaSuccess; }
    const std::lock_guard lock(runtime_mutex()); // whoever frees waits, and lets nobody else queue meanwhile
    machine().wait_for_all();
    const auto found = device_memory.find(memory);
    if (found == device_memory.end()) { return failed(cudaErrorInvalidValue); }
    held -= found->second;
    device_memory.erase(found);
    std::free(memory);
    return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes)
{
    *memory = allocate(bytes);
    const std::lock_guard lock(runtime_mutex());
    pinned[static_cast<const char*>(*memory)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
cudaError_t cudaFreeHost(void* memory)
{
    if (memory == nullptr) { return cudaSuccess; }
    const std::lock_guard lock(runtime_mutex());
    machine().wait_for_all();
    if (pinned.erase(static_cast<const char*>(memory)) == 0) { return failed(cudaErrorInvalidValue); }
    std::free(memory);
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total)
{
    const std::lock_guard lock(runtime_mutex());
    *total = memory_bytes(), *free = memory_bytes() - held;
    return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) { return cudaMemsetAsync(to, value, bytes, nullptr); }
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream)
{
    return append_work(stream, [=] {
        if (bytes > 0) { std::memset(to, value, bytes); }
    });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    const std::lock_guard lock(runtime_mutex());
    if (kind == cudaMemcpyHostToDevice && stream_of(stream).captured_by == nullptr && !is_pinned(from))
    {
        const auto begin = static_cast<const char*>(from);
        return append_work(stream, [to, copy = std::vector<char>(begin, begin + bytes)] {
            if (!copy.empty()) { std::memcpy(to, copy.data(), copy.size()); }
        });
    }
    return append_work(stream, [=] {
        if (bytes > 0) { std::memmove(to, from, bytes); }
    });
}

// --- pages: those that other processes may map are a file without a name; of others all there is to know comes with the address

namespace {

constexpr std::size_t page = 4096;
constexpr CUmemGenericAllocationHandle private_pages = 1;

CUmemGenericAllocationHandle handle_of(int descriptor) { return static_cast<CUmemGenericAllocationHandle>(descriptor) + 2; }
int descriptor_of(CUmemGenericAllocationHandle pages) { return static_cast<int>(pages) - 2; }

CUresult map_at(CUdeviceptr at, std::size_t bytes, int flags, int descriptor)
{
    void* const mapped = ::mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_FIXED | flags, descriptor, 0);
    return mapped == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

} // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags)
{
    *granularity = properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ? 256 : page;
    return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* pages, std::size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long)
{
    *pages = private_pages;
    if (properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE) { return CUDA_SUCCESS; }
    const int descriptor = ::memfd_create("standin", MFD_CLOEXEC);
    if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) { return CUDA_ERROR_OUT_OF_MEMORY; }
    *pages = handle_of(descriptor);
    return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle pages)
{
    if (pages != private_pages) { ::close(descriptor_of(pages)); }
    return CUDA_SUCCESS;
}
CUresult cuMemExportToShareableHandle(void* descriptor, CUmemGenericAllocationHandle pages, CUmemAllocationHandleType,
                                      unsigned long long)
{
    *static_cast<int*>(descriptor) = ::dup(descriptor_of(pages));
    return CUDA_SUCCESS;
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* pages, void* descriptor, CUmemAllocationHandleType)
{
    *pages = handle_of(::dup(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor))));
    return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* at, std::size_t bytes, std::size_t alignment, CUdeviceptr, unsigned long long)
{
    void* const memory = allocate(bytes, alignment);
    *at = reinterpret_cast<CUdeviceptr>(memory);
    return memory == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr at, std::size_t)
{
    machine().wait_for_all();
    std::free(reinterpret_cast<void*>(at));
    return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr at, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle pages, unsigned long long)
{
    return pages == private_pages ? CUDA_SUCCESS : map_at(at, bytes, MAP_SHARED, descriptor_of(pages));
}
CUresult cuMemUnmap(CUdeviceptr at, std::size_t bytes)
{
    machine().wait_for_all();
    // Whole pages may have been a file's: what takes their place is the process's own, and may be freed.
    return at % page == 0 && bytes % page == 0 ? map_at(at, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1) : CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) { return CUDA_SUCCESS; }
