// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/gpu/partitioned.cuh"

#include "comm/partitioned/gpu/requests_gpu.hpp"
#include "device/gpu/launch.cuh"

namespace parhelion {

namespace {

constexpr int wait_threads = 128, mark_threads = 512;

// Purpose        the next epoch of a request
// Work           one thread
// Reads/Writes   prequest / prequest; at the destination the source's credit
// Orders         at the destination, release at system scope: what was read by earlier kernels
// Requires       the last epoch ended
// Cost           a launch, one store across the link
template <class Prequest>
__global__ void start_kernel(Prequest* request)
{
    start(*request);
}

// Purpose        nothing behind it begins before the destination has started the epoch
// Work           one thread
// Reads/Writes   credit / nothing
// Orders         acquire at system scope
// Requires       the destination's start, running or queued where it need not wait for this
// Cost           a launch, the way of a signal
__global__ void prepare_kernel(const SendPrequest* request) { pbuf_prepare(*request); }

// Purpose        all partitions are complete, and on their way
// Work           a block a partition
// Reads/Writes   the source's buffer / the destination's, prequest
// Orders         what earlier kernels have written, by the end of those; then as in partitioned.cuh
// Requires       the epoch started
// Cost           a launch, the bytes over the link
__global__ void __launch_bounds__(mark_threads) mark_all_kernel(SendPrequest* request)
{
    block_pready(*request, static_cast<int>(blockIdx.x));
}

// Purpose        the end of an epoch
// Work           one block; a thread per signal
// Reads/Writes   signals or counters / prequest
// Orders         acquire at system scope, then the end of the kernel
// Requires       all partitions marked ready, by kernels running or queued where they need not wait for this
// Cost           a launch, the way of the last signal
template <class Prequest>
__global__ void __launch_bounds__(wait_threads) wait_kernel(Prequest* request)
{
    block_wait(*request);
}

// Purpose        the end of an epoch, if one is active, and the beginning of the next
// Work           as wait_kernel
// Reads/Writes   counters / prequest
// Orders         as wait_kernel
// Requires       as wait_kernel
// Cost           a launch
__global__ void __launch_bounds__(wait_threads) restart_kernel(SendPrequest* request)
{
    const bool has_ended = block_wait(*request);
    __syncthreads(); // all have seen whether it was active
    if (has_ended && threadIdx.x == 0) { start(*request); }
}

// Purpose        an epoch of a destination from its start to its end
// Work           as wait_kernel
// Reads/Writes   signals / prequest, the source's credit
// Orders         as start_kernel, then as wait_kernel
// Requires       as both; so the source's pready need not wait for this in a queue
// Cost           a launch, a credit one way, the way of the last signal the other
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
