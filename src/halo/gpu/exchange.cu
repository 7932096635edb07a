// SPDX-License-Identifier: Apache-2.0
// The part of GpuHaloMessages that launches the kernels of a step. Each of these kernels treats its messages independently.
#include "device/gpu/launch_begun.cuh"
#include "halo/gpu/messages.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

// Purpose        sends positions to the ranks that hold copies
// Work           some blocks per message (y); a thread per slot
// Reads/Writes   positions / the destination's slots or inbox, or this rank's outbox if messages are copied
// Orders         if carried by kernels, the last block of a message signals with release
// Requires       forces of the previous step have been received; messages of which this message forwards atoms have been unpacked
// Cost           36 bytes a slot
template <class N, Carrier carrier>
__global__ void __launch_bounds__(halo_threads) send_x_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    for_share(m.send_count, [&](std::int32_t i) {
        const std::int32_t slot = m.send_slots[i];
        if (slot >= 0) { m.x_out[i] = a.state.xq[slot]; }
    });
    if constexpr (carrier == Carrier::Kernels) { signal_when_last(m.x_sent, m.x_send); }
}

// Purpose        puts received positions of halo atoms into their slots
// Work           some blocks per message (y); a thread per slot
// Reads/Writes   the inbox, global numbers / positions
// Orders         if carried by kernels, waits for the message with acquire
// Requires       all ranks that share this GPU have queued their sends
// Cost           36 bytes a slot
template <class N, Carrier carrier>
__global__ void __launch_bounds__(halo_threads) receive_x_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    const std::int32_t begin = m.begin;
    if (carrier == Carrier::Copies || block_wait_arrived(m.x_receive, *a.watch))
    {
        for_share(m.count, [&](std::int32_t i) {
            if (a.state.global_of_slot[begin + i] >= 0) { a.state.xq[begin + i] = m.x_in[i]; }
        });
    }
    if constexpr (carrier == Carrier::Kernels) { take_when_last(m.x_received, m.x_receive); }
}

// Purpose        returns forces on halo atoms to the sources of their positions
// Work           some blocks per message (y); some slots per thread, all loaded before any is stored
// Reads/Writes   forces (halo slots are set to zero) / the source's inbox, or this rank's outbox if messages are copied
// Orders         if carried by kernels, the last block of a message signals with release
// Requires       forces are complete, including those that later messages have returned (staged)
// Cost           traffic of 3 force slots for each slot
template <class N, Carrier carrier>
__global__ void __launch_bounds__(halo_threads) send_f_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    send_forces(a, m);
    if constexpr (carrier == Carrier::Kernels) { signal_when_last(m.f_sent, m.f_send); }
}

// Returns the launch shape of send_f_kernel. It has half of the usual blocks, since its threads do more work, and finished
// blocks report one after another. The shape must be the same for every launch of a message, because its blocks are counted.
LaunchShape shape_of_send_f(int blocks, int messages)
{
    LaunchShape shape{(blocks + 1) / 2, halo_threads};
    shape.blocks_y = messages;
    return shape;
}

// Purpose        adds forces that other ranks computed for home atoms to this rank's forces
// Work           some blocks per message (y); a thread per slot
// Reads/Writes   the inbox, send_slots / forces (atomic sums: an atom may be in several messages)
// Orders         if carried by kernels, waits for the message with acquire
// Requires       all ranks that share this GPU have queued their sends
// Cost           2 force slots and 4 bytes per slot
template <class N, Carrier carrier>
__global__ void __launch_bounds__(halo_threads) receive_f_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    if (carrier == Carrier::Copies || block_wait_arrived(m.f_receive, *a.watch))
    {
        for_share(m.send_count, [&](std::int32_t i) { add_received_force(a, m, i); });
    }
    if constexpr (carrier == Carrier::Kernels) { take_when_last(m.f_received, m.f_receive); }
}

} // namespace

template <class N>
void GpuHaloMessages<N>::send_x(GpuQueue& queue, Part part, GpuState<N>& state)
{
    launch_part(queue, Phase::SendCoordinates, send_x_kernel<N, Carrier::Kernels>, part, state);
}
template <class N>
void GpuHaloMessages<N>::receive_x(GpuQueue& queue, Part part, GpuState<N>& state)
{
    launch_part(queue, Phase::SendCoordinates, receive_x_kernel<N, Carrier::Kernels>, part, state);
}
template <class N>
void GpuHaloMessages<N>::send_f(GpuQueue& queue, Part part, GpuState<N>& state)
{
    launch(queue, Phase::ReturnForces, send_f_kernel<N, Carrier::Kernels>, shape_of_send_f(blocks_, part.count),
           args(part, state));
}
template <class N>
void GpuHaloMessages<N>::send_f(GpuQueue& queue, GpuState<N>& state, GpuEvent& begun)
{
    launch_begun(queue, Phase::ReturnForces, send_f_kernel<N, Carrier::Kernels>, shape_of_send_f(blocks_, count_), begun,
                 args(all(), state));
}
template <class N>
void GpuHaloMessages<N>::receive_f(GpuQueue& queue, Part part, GpuState<N>& state)
{
    launch_part(queue, Phase::ReturnForces, receive_f_kernel<N, Carrier::Kernels>, part, state);
}

template <class N>
void GpuHaloMessages<N>::pack_x(GpuQueue& queue, int message, GpuState<N>& state)
{
    launch_part(queue, Phase::SendCoordinates, send_x_kernel<N, Carrier::Copies>, only(message), state);
}
template <class N>
void GpuHaloMessages<N>::unpack_x(GpuQueue& queue, int message, GpuState<N>& state)
{
    launch_part(queue, Phase::SendCoordinates, receive_x_kernel<N, Carrier::Copies>, only(message), state);
}
template <class N>
void GpuHaloMessages<N>::pack_f(GpuQueue& queue, int message, GpuState<N>& state)
{
    launch(queue, Phase::ReturnForces, send_f_kernel<N, Carrier::Copies>, shape_of_send_f(blocks_, 1),
           args(only(message), state));
}
template <class N>
void GpuHaloMessages<N>::unpack_f(GpuQueue& queue, int message, GpuState<N>& state)
{
    launch_part(queue, Phase::ReturnForces, receive_f_kernel<N, Carrier::Copies>, only(message), state);
}

#define PARHELION_INSTANTIATE(N) template class GpuHaloMessages<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
