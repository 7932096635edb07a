// SPDX-License-Identifier: Apache-2.0
// NCCL as a baseline: the few calls that are timed, of a library that is looked for when the program runs. Multicast is off, as
// partitioned collectives have none.
#pragma once

#include "device/gpu/queue_gpu.hpp"

#include <memory>
#include <span>
#include <vector>

namespace parhelion::partitioned_bench {

struct Transfer
{
    int source, destination;
    const void* from;
    void* to;
    std::size_t bytes;
};

class Nccl
{
public:
    // A rank for each queue's GPU; null where there is no libnccl.so.2. Throws DeviceError.
    static std::unique_ptr<Nccl> load(std::vector<GpuQueue*> queues);
    ~Nccl();
    Nccl(const Nccl&) = delete;
    Nccl& operator=(const Nccl&) = delete;

    // Queued, on the queues of all ranks, as one group.
    void exchange(std::span<const Transfer> transfers);
    void sum(std::span<float* const> from, std::span<float* const> to, std::size_t n); // a buffer a rank

private:
    struct Calls;
    Nccl(std::unique_ptr<Calls> calls, std::vector<GpuQueue*> queues);
    void expect(int status, const char* what) const;

    std::unique_ptr<Calls> calls_;
    std::vector<GpuQueue*> queues_;
    std::vector<void*> ranks_; // communicators
};

} // namespace parhelion::partitioned_bench
