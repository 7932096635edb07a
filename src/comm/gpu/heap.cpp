// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/heap.hpp"

#include "base/error.hpp"
#include "base/shared_object.hpp"
#include "comm/plugins/heap.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace parhelion {

namespace {

[[noreturn]] void refuse(const char* what, int status)
{
    throw SystemError(
        fmt::format("NVSHMEM cannot {}: error {}. What it has said is above; --transport peer does without it.", what, status));
}

const parhelion_heap_calls_v3* open_plugin()
{
    using Entry = const parhelion_heap_calls_v3* (*)();
    const auto entry =
        reinterpret_cast<Entry>(symbol_of_plugin(GpuHeap::plugin_file, {"libnvshmem_host.so.3"}, "parhelion_heap_v3"));
    const parhelion_heap_calls_v3* const calls = entry();
    if (calls->version == PARHELION_HEAP_VERSION && calls->size >= sizeof *calls) { return calls; }
    throw SystemError(
        fmt::format("{} is of another version of Parhelion. Take the one that belongs to this program.", GpuHeap::plugin_file));
}

Bytes id_of_first(Bootstrap& bootstrap, const parhelion_heap_calls_v3& calls, std::chrono::nanoseconds deadline)
{
    const std::string key = "id of the heap of GPUs";
    if (bootstrap.here().first != 0) { return wait_for(bootstrap, key, deadline); }
    Bytes id(PARHELION_HEAP_ID_BYTES);
    if (const int status = calls.make_id(reinterpret_cast<unsigned char*>(id.data()))) { refuse("make an id", status); }
    bootstrap.put(key, id);
    return id;
}

} // namespace

GpuHeap::GpuHeap(Bootstrap& bootstrap, const GpuHeapOptions& options)
    : options_(options), rank_(bootstrap.here().first), calls_(open_plugin())
{
    PARHELION_EXPECTS(bootstrap.here().count == 1);
    const Bytes id = id_of_first(bootstrap, *calls_, options.deadline);
    const int status = calls_->open(reinterpret_cast<const unsigned char*>(id.data()), rank_, bootstrap.ranks(), options.bytes,
                                    options.are_on_one_host ? 1 : 0);
    if (status != 0) { refuse("begin", status); }
    find_domains(bootstrap);
}

// Finds the domain of each rank. A rank reaches all ranks of a domain or none, so its first reached rank names the domain.
void GpuHeap::find_domains(Bootstrap& bootstrap)
{
    const std::byte* const probe = allocate(sizeof(std::uint64_t));
    int first = 0;
    while (of_rank(probe, first) == nullptr) { ++first; } // ends at this rank at the latest, since a rank reaches itself
    const auto key = [](int rank) { return fmt::format("domain of NVLink of rank {}", rank); };
    Bytes told(sizeof first);
    std::memcpy(told.data(), &first, sizeof first);
    bootstrap.put(key(rank_), told);
    for (int rank = 0; rank < bootstrap.ranks(); ++rank)
    {
        const Bytes heard = wait_for(bootstrap, key(rank), options_.deadline);
        std::memcpy(&domains_.emplace_back(), heard.data(), sizeof(int));
    }
}

std::string GpuHeap::library() { return open_plugin()->library(); }

bool GpuHeap::has_several_domains() const
{
    return std::any_of(domains_.begin(), domains_.end(), [](int first) { return first != 0; });
}

std::byte* GpuHeap::allocate(std::size_t bytes)
{
    auto* const memory = static_cast<std::byte*>(calls_->allocate(bytes));
    if (memory == nullptr) { throw CommError(fmt::format("NVSHMEM has no {} bytes of memory on each GPU.", bytes)); }
    return memory;
}

std::byte* GpuHeap::of_rank(const std::byte* here, int rank) const
{
    const int neighbours = options_.ranks_of_domain;
    if (neighbours > 0 && rank / neighbours != rank_ / neighbours) { return nullptr; }
    return static_cast<std::byte*>(calls_->of_rank(here, rank));
}

void GpuHeap::put(GpuQueue& queue, int rank, std::byte* to, const std::byte* from, std::size_t bytes,
                  std::span<const gpu_memory::WordAt> words) const
{
    std::array<parhelion_heap_word, 2> named{};
    PARHELION_EXPECTS(words.size() <= named.size());
    for (std::size_t k = 0; k < words.size(); ++k) { named[k] = {words[k].word, words[k].value}; }
    calls_->put(rank, to, from, bytes, named.data(), static_cast<int>(words.size()), queue.stream());
}

} // namespace parhelion
