// SPDX-License-Identifier: Apache-2.0
// The exchange of a step, message by message: kernels that pack and unpack, and the rounds of every method.
//
// The idea: a message is packed and unpacked alike whoever carries it. If kernels do, they store it into the receiver's memory
// and signal; if it is copied, they pack it here, and queues or the host see to the order.
#include "device/launch_begun.cuh"
#include "halo/gpu_halo_message.cuh"

namespace parhelion {

namespace {

enum class Carrier
{
    Kernels,
    Copies
};

// Purpose        positions for the ranks that hold copies
// Work           some blocks per message (y); a thread per slot
// Reads/Writes   positions / the destination's slots or inbox, or this rank's outbox if messages are copied
// Orders         carried by kernels, the last block of a message signals with release
// Requires       forces of the step before have been received; a message whose atoms this one forwards has been unpacked
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
    if constexpr (carrier == Carrier::Kernels)
    {
        if (is_last_block(m.x_sent)) { m.x_send.signal(); }
    }
}

// Purpose        positions of halo atoms to their slots
// Work           as send_x_kernel
// Reads/Writes   the inbox, global numbers / positions
// Orders         carried by kernels, waits for the message with acquire
// Requires       sent by all ranks that share this GPU
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
    if constexpr (carrier == Carrier::Kernels)
    {
        if (is_last_block(m.x_received)) { m.x_receive.take(); }
    }
}

// Purpose        wait for positions that go straight to their slots
// Work           a thread per message
// Reads/Writes   signals
// Orders         waits with acquire: what comes next in the stream sees them
// Requires       sent by all ranks that share this GPU
// Cost           latency of a signal
template <class N>
__global__ void __launch_bounds__(32) await_x_kernel(BlockTrace tracing, HaloArgs<N> a, int messages)
{
    const BlockSpan span(tracing);

    if (static_cast<int>(threadIdx.x) >= messages) { return; }
    GpuReceiver& receive = a.messages[threadIdx.x].x_receive;
    receive.wait_arrived(*a.watch);
    receive.take();
}

// Purpose        forces on halo atoms back to where their positions came from
// Work           some blocks per message (y); some slots per thread, loaded before any is stored
// Reads/Writes   forces (halo slots left zero) / the source's inbox, or this rank's outbox if messages are copied
// Orders         carried by kernels, the last block of a message signals with release
// Requires       forces complete, with what later messages have brought back (staged)
// Cost           3 force slots of bytes a slot
template <class N, Carrier carrier>
__global__ void __launch_bounds__(halo_threads) send_f_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    send_forces(a, m);
    if constexpr (carrier == Carrier::Kernels)
    {
        if (is_last_block(m.f_sent)) { m.f_send.signal(); }
    }
}

// Of send_f_kernel, for so many blocks of the others. Its threads have more to do, and blocks that have done their part say so
// one after another. The same whenever a message is sent: its blocks are counted.
LaunchShape shape_of_send_f(int blocks, int messages)
{
    LaunchShape shape{(blocks + 1) / 2, halo_threads};
    shape.blocks_y = messages;
    return shape;
}

// Purpose        forces that other ranks computed, added to those here
// Work           as send_x_kernel
// Reads/Writes   the inbox, send_slots / forces (atomic sums: an atom may be in several messages)
// Orders         carried by kernels, waits for the message with acquire
// Requires       sent by all ranks that share this GPU
// Cost           2 force slots and 4 bytes a slot
template <class N, Carrier carrier>
__global__ void __launch_bounds__(halo_threads) receive_f_kernel(BlockTrace tracing, HaloArgs<N> a)
{
    const BlockSpan span(tracing);

    GpuMessage<N>& m = a.message();
    if (carrier == Carrier::Copies || block_wait_arrived(m.f_receive, *a.watch))
    {
        for_share(m.send_count, [&](std::int32_t i) { add_received_force(a, m, i); });
    }
    if constexpr (carrier == Carrier::Kernels)
    {
        if (is_last_block(m.f_received)) { m.f_receive.take(); }
    }
}

} // namespace

// --- messages that are copied

template <class N>
void GpuHalo<N>::fetch(GpuQueue& queue, Copied& message)
{
    world_.wait(message.source, message.packed_there->times, ++message.fetched);
    if (method_ == HaloMethod::StagedDma) { wait_for(queue, message.packed_there->event); }
    world_.wait(rank_, learnt_, GpuWorld::HostWait::Spins); // at a repartition's first; it has long passed after that
    gpu_memory::on_device(queue, message.to, message.from, static_cast<std::size_t>(*message.slots) * message.slot_bytes);
}

template <class N>
template <class Pack>
void GpuHalo<N>::send_copied(GpuQueue& queue, int round, Copied& message, Pack&& pack)
{
    if (round % rounds_per_message() == 0)
    {
        pack();
        message.packed->event.record(queue);
        if (method_ == HaloMethod::StagedDma) { ++message.packed->times; }
    }
    else
    {
        fetch(queue, message);
        fetched_.record(queue);
    }
}

template <class N>
template <class Unpack>
void GpuHalo<N>::receive_copied(GpuQueue& queue, int round, Copied& message, Unpack&& unpack)
{
    const bool unpacks = (round + 1) % rounds_per_message() == 0;
    if (method_ == HaloMethod::StagedDma) { fetch(queue, message); }
    else
    {
        world_.wait(rank_, unpacks ? fetched_ : message.packed->event, GpuWorld::HostWait::Spins);
        if (!unpacks) { ++message.packed->times; }
    }
    if (unpacks) { unpack(); }
}

// --- rounds

template <class N>
void GpuHalo<N>::send_x(GpuQueue& queue, int round, const GpuState<N>& state)
{
    const int message = x_message(round);
    const auto send = [&](auto kernel) { launch_part(queue, Phase::SendCoordinates, kernel, part(message), state); };
    if (is_host_driven(method_))
    {
        send_copied(queue, round, copied_x_[static_cast<std::size_t>(message)], [&] { send(send_x_kernel<N, Carrier::Copies>); });
    }
    else { is_forwarding() ? forward_x(queue, state) : send(send_x_kernel<N, Carrier::Kernels>); }
}

template <class N>
void GpuHalo<N>::receive_x(GpuQueue& queue, int round, GpuState<N>& state)
{
    const int message = x_message(round);
    const auto receive = [&](auto kernel) { launch_part(queue, Phase::SendCoordinates, kernel, part(message), state); };
    if (is_host_driven(method_))
    {
        receive_copied(queue, round, copied_x_[static_cast<std::size_t>(message)],
                       [&] { receive(receive_x_kernel<N, Carrier::Copies>); });
    }
    else if (method_ == HaloMethod::Direct)
    {
        launch(queue, Phase::SendCoordinates, await_x_kernel<N>, {1, 32}, args({}, state), count_);
    }
    else { receive(receive_x_kernel<N, Carrier::Kernels>); }
}

template <class N>
void GpuHalo<N>::send_f(GpuQueue& queue, int round, GpuState<N>& state)
{
    const int message = f_message(round);
    const Part sent = part(message);
    const auto send = [&](auto kernel) {
        launch(queue, Phase::ReturnForces, kernel, shape_of_send_f(blocks_, sent.count), args(sent, state));
    };
    if (is_host_driven(method_))
    {
        send_copied(queue, round, copied_f_[static_cast<std::size_t>(message)], [&] { send(send_f_kernel<N, Carrier::Copies>); });
    }
    else { is_forwarding() ? return_f(queue, state) : send(send_f_kernel<N, Carrier::Kernels>); }
}

template <class N>
void GpuHalo<N>::send_f(GpuQueue& queue, GpuState<N>& state, GpuEvent& begun)
{
    PARHELION_EXPECTS(update_may_begin_early());
    launch_begun(queue, Phase::ReturnForces, send_f_kernel<N, Carrier::Kernels>, shape_of_send_f(blocks_, count_), begun,
                 args({0, count_}, state));
}

template <class N>
void GpuHalo<N>::receive_f(GpuQueue& queue, int round, GpuState<N>& state)
{
    const int message = f_message(round);
    const auto receive = [&](auto kernel) { launch_part(queue, Phase::ReturnForces, kernel, part(message), state); };
    if (is_host_driven(method_))
    {
        receive_copied(queue, round, copied_f_[static_cast<std::size_t>(message)],
                       [&] { receive(receive_f_kernel<N, Carrier::Copies>); });
    }
    else if (!is_forwarding()) { receive(receive_f_kernel<N, Carrier::Kernels>); } // else return_f has received
}

// Where ranks share a GPU, positions are awaited behind the kernels of all; else by the kernel itself.
template <class N>
void GpuHalo<N>::await_update(GpuQueue& queue, GpuState<N>& state)
{
    if (update_exchanges() && shares_gpu_) { receive_x(queue, 0, state); }
}

#define PARHELION_INSTANTIATE(N) template class GpuHalo<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
