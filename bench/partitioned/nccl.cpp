// SPDX-License-Identifier: Apache-2.0
#include "bench/partitioned/nccl.hpp"

#include "base/error.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <utility>

namespace parhelion::partitioned_bench {

// As NCCL 2 documents them; a result is an int, 0 is success.
struct Nccl::Calls
{
    int (*init_all)(void** ranks, int n, const int* devices);
    int (*destroy)(void* rank);
    int (*group_start)();
    int (*group_end)();
    int (*send)(const void*, std::size_t, int type, int peer, void* rank, CUstream_st*);
    int (*receive)(void*, std::size_t, int type, int peer, void* rank, CUstream_st*);
    int (*all_reduce)(const void*, void*, std::size_t, int type, int operation, void* rank, CUstream_st*);
    const char* (*error_text)(int);
};

namespace {

constexpr int type_byte = 0, type_float = 7, operation_sum = 0;

template <class Call>
void find(void* library, const char* name, Call& call)
{
    call = reinterpret_cast<Call>(dlsym(library, name));
    if (call == nullptr) { throw DeviceError(std::string("libnccl.so.2 has no ") + name); }
}

} // namespace

std::unique_ptr<Nccl> Nccl::load(std::vector<GpuQueue*> queues)
{
    setenv("NCCL_NVLS_ENABLE", "0", 1); // read when ranks are made
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) { return nullptr; }
    auto calls = std::make_unique<Calls>();
    find(library, "ncclCommInitAll", calls->init_all);
    find(library, "ncclCommDestroy", calls->destroy);
    find(library, "ncclGroupStart", calls->group_start);
    find(library, "ncclGroupEnd", calls->group_end);
    find(library, "ncclSend", calls->send);
    find(library, "ncclRecv", calls->receive);
    find(library, "ncclAllReduce", calls->all_reduce);
    find(library, "ncclGetErrorString", calls->error_text);
    return std::unique_ptr<Nccl>(new Nccl(std::move(calls), std::move(queues)));
}

Nccl::Nccl(std::unique_ptr<Calls> calls, std::vector<GpuQueue*> queues)
    : calls_(std::move(calls)), queues_(std::move(queues)), ranks_(queues_.size())
{
    std::vector<int> devices;
    for (const GpuQueue* queue : queues_) { devices.push_back(queue->device()); }
    expect(calls_->init_all(ranks_.data(), static_cast<int>(ranks_.size()), devices.data()), "ncclCommInitAll");
}

Nccl::~Nccl()
{
    for (void* rank : ranks_) { calls_->destroy(rank); }
}

void Nccl::exchange(std::span<const Transfer> transfers)
{
    expect(calls_->group_start(), "ncclGroupStart");
    for (const Transfer& t : transfers)
    {
        const auto source = static_cast<std::size_t>(t.source), destination = static_cast<std::size_t>(t.destination);
        expect(calls_->send(t.from, t.bytes, type_byte, t.destination, ranks_[source], queues_[source]->stream()), "ncclSend");
        expect(calls_->receive(t.to, t.bytes, type_byte, t.source, ranks_[destination], queues_[destination]->stream()),
               "ncclRecv");
    }
    expect(calls_->group_end(), "ncclGroupEnd");
}

void Nccl::sum(std::span<float* const> from, std::span<float* const> to, std::size_t n)
{
    expect(calls_->group_start(), "ncclGroupStart");
    for (std::size_t r = 0; r < ranks_.size(); ++r)
    {
        expect(calls_->all_reduce(from[r], to[r], n, type_float, operation_sum, ranks_[r], queues_[r]->stream()),
               "ncclAllReduce");
    }
    expect(calls_->group_end(), "ncclGroupEnd");
}

void Nccl::expect(int status, const char* what) const
{
    if (status != 0) { throw DeviceError(std::string(what) + ": " + calls_->error_text(status)); }
}

} // namespace parhelion::partitioned_bench
