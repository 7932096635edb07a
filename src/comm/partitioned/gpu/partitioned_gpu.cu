// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/gpu/partitioned.cuh"

#include "comm/partitioned/gpu/requests_gpu.hpp"
#include "device/gpu/launch.cuh"

namespace parhelion {

namespace {

constexpr int wait_threads = 128, mark_threads = 512;

// Purpose        begins the next epoch of a request
// Work           one thread does all
// Reads/Writes   reads and writes the prequest; at the destination it writes the source's credit
// Orders         at the destination a release at system scope, which covers the loads of earlier kernels
// Requires       that the last epoch has ended
// Cost           one launch, and one store across the link
template <class Prequest>
__global__ void start_kernel(Prequest* request)
{
    start(*request);
}

// Purpose        delays the work behind it until the destination has started the epoch
// Work           one thread waits
// Reads/Writes   reads the credit, writes nothing
// Orders         an acquire at system scope
// Requires       that the destination's start runs, or is queued where it need not wait for this kernel
// Cost           one launch and one signal latency
__global__ void prepare_kernel(const SendPrequest* request) { pbuf_prepare(*request); }

// Purpose        marks all partitions as complete and sends them
// Work           each partition has a block
// Reads/Writes   reads the source's buffer, writes the destination's buffer and the prequest
// Orders         as in partitioned.cuh; the end of a kernel makes its writes visible to later kernels
// Requires       that the epoch has started
// Cost           one launch, and the transfer of the bytes over the link
__global__ void __launch_bounds__(mark_threads) mark_all_kernel(SendPrequest* request)
{
    block_pready(*request, static_cast<int>(blockIdx.x));
}

// Purpose        ends an epoch
// Work           one block, in which each thread waits for a signal
// Reads/Writes   reads the signals or counters, writes the prequest
// Orders         an acquire at system scope, then the end of the kernel
// Requires       that all partitions are marked by kernels that run, or are queued where they need not wait for this one
// Cost           one launch, and the latency of the last signal
template <class Prequest>
__global__ void __launch_bounds__(wait_threads) wait_kernel(Prequest* request)
{
    block_wait(*request);
}

// Purpose        ends an epoch if one is active, and begins the next
// Work           as in wait_kernel
// Reads/Writes   reads the counters, writes the prequest
// Orders         as in wait_kernel
// Requires       as in wait_kernel
// Cost           one launch
__global__ void __launch_bounds__(wait_threads) restart_kernel(SendPrequest* request)
{
    const bool has_ended = block_wait(*request);
    __syncthreads(); // all threads have checked whether the request was active
    if (has_ended && threadIdx.x == 0) { start(*request); }
}

// Purpose        does an epoch of a destination from start to end
// Work           as in wait_kernel
// Reads/Writes   reads the signals, writes the prequest and the source's credit
// Orders         as in start_kernel, then as in wait_kernel
// Requires       as in both kernels; so the source's pready need not wait for this kernel in a queue
// Cost           one launch, and the latencies of a credit and of the last signal
__global__ void __launch_bounds__(wait_threads) receive_kernel(ReceivePrequest* request)
{
    if (threadIdx.x == 0) { start(*request); }
    __syncthreads();
    block_wait(*request);
}

} // namespace

void GpuSendRequest::start(GpuQueue& queue) { launch(queue, of_->phase, start_kernel<SendPrequest>, {1, 1}, of_->matched()); }
void GpuSendRequest::pbuf_prepare(GpuQueue& queue) { launch(queue, of_->phase, prepare_kernel, {1, 1}, of_->matched()); }
void GpuSendRequest::pready_all(GpuQueue& queue)
{
    launch(queue, of_->phase, mark_all_kernel, {of_->partitioning.partitions, mark_threads}, of_->matched());
}
void GpuSendRequest::wait(GpuQueue& queue)
{
    launch(queue, of_->phase, wait_kernel<SendPrequest>, {1, wait_threads}, of_->matched());
}
void GpuSendRequest::restart(GpuQueue& queue) { launch(queue, of_->phase, restart_kernel, {1, wait_threads}, of_->matched()); }
void GpuReceiveRequest::start(GpuQueue& queue)
{
    launch(queue, of_->phase, start_kernel<ReceivePrequest>, {1, 1}, of_->matched());
}
void GpuReceiveRequest::wait(GpuQueue& queue)
{
    launch(queue, of_->phase, wait_kernel<ReceivePrequest>, {1, wait_threads}, of_->matched());
}
void GpuReceiveRequest::receive(GpuQueue& queue) { launch(queue, of_->phase, receive_kernel, {1, wait_threads}, of_->matched()); }

} // namespace parhelion
