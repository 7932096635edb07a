// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/heap.hpp"

#include "base/error.hpp"
#include "comm/plugins/heap.h"
#include "comm/shared_object.hpp"

#include <fmt/format.h>
#include <thread>

namespace parhelion {

namespace {

[[noreturn]] void refuse(const char* what, int status)
{
    throw SystemError(
        fmt::format("NVSHMEM cannot {}: error {}. What it has said is above; --transport peer does without it.", what, status));
}

const parhelion_heap_calls_v1* open_plugin()
{
    using Entry = const parhelion_heap_calls_v1* (*)();
    const auto entry =
        reinterpret_cast<Entry>(symbol_of_plugin(GpuHeap::plugin_file, {"libnvshmem_host.so.3"}, "parhelion_heap_v1"));
    const parhelion_heap_calls_v1* const calls = entry();
    if (calls->version == PARHELION_HEAP_VERSION && calls->size >= sizeof *calls) { return calls; }
    throw SystemError(
        fmt::format("{} is of another version of Parhelion. Take the one that belongs to this program.", GpuHeap::plugin_file));
}

Bytes id_of_first(Bootstrap& bootstrap, const parhelion_heap_calls_v1& calls, std::chrono::nanoseconds deadline)
{
    const std::string key = "id of the heap of GPUs";
    if (bootstrap.here().first == 0)
    {
        Bytes id(PARHELION_HEAP_ID_BYTES);
        if (const int status = calls.make_id(reinterpret_cast<unsigned char*>(id.data()))) { refuse("make an id", status); }
        bootstrap.put(key, id);
        return id;
    }
    const auto begin = std::chrono::steady_clock::now();
    for (;;)
    {
        const bool is_last_look = std::chrono::steady_clock::now() - begin > deadline;
        if (const std::optional<Bytes> id = bootstrap.get(key)) { return *id; }
        if (is_last_look) { throw CommError("Waited in vain for the " + key + "."); }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace

GpuHeap::GpuHeap(Bootstrap& bootstrap, std::size_t bytes, std::chrono::nanoseconds deadline)
{
    PARHELION_EXPECTS(bootstrap.here().count == 1);
    const parhelion_heap_calls_v1* const calls = open_plugin();
    const Bytes id = id_of_first(bootstrap, *calls, deadline);
    const int status =
        calls->open(reinterpret_cast<const unsigned char*>(id.data()), bootstrap.here().first, bootstrap.ranks(), bytes);
    if (status != 0) { refuse("begin", status); }
    calls_ = calls;
}

GpuHeap::~GpuHeap()
{
    if (calls_ != nullptr) { calls_->close(); }
}

std::string GpuHeap::library() { return open_plugin()->library(); }

std::byte* GpuHeap::allocate(std::size_t bytes)
{
    auto* const memory = static_cast<std::byte*>(calls_->allocate(bytes));
    if (memory == nullptr) { throw CommError(fmt::format("NVSHMEM has no {} bytes of memory on each GPU.", bytes)); }
    return memory;
}

std::byte* GpuHeap::of_rank(const std::byte* here, int rank) const
{
    auto* const there = static_cast<std::byte*>(calls_->of_rank(here, rank));
    if (there == nullptr)
    {
        throw CommError(
            fmt::format("Kernels do not reach the memory of rank {}'s GPU, which is not in the same domain of NVLink.", rank));
    }
    return there;
}

} // namespace parhelion
