// SPDX-License-Identifier: Apache-2.0
// Kernels of two ranks that run at the same time, on two GPUs or together on one. The self-test and the benchmark use them.
#pragma once

#include "comm/gpu/block.cuh"
#include "device/gpu/graph.hpp"
#include "device/gpu/launch.cuh"

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <tuple>

namespace parhelion {

// One rank's side of the channels between two ranks, for all blocks of a kernel. Both ranks send in every epoch, at once or in
// turns. So two slots need no credits: a rank that has all of epoch e + 1 knows that its peer has read epoch e. Model:
// tests/comm/models/all_reduce.pml.
struct PairSide
{
    bool is_first;
    SendRoute send;
    ReceiveRoute receive;
    const Watch* watch;
    ArrivalCounter<CudaAtomics>* arrivals; // one counter per slot, 0 when a kernel begins

    __device__ GpuSender sender(Word epoch) const { return {send, nullptr, epoch}; }
    __device__ GpuReceiver receiver(Word epoch) const { return {receive, nullptr, epoch}; }
    __device__ bool wait(Word epoch) const { return block_wait_arrived(receiver(epoch), *watch); }
    // Sends the nth message of this kernel; n counts from 1.
    __device__ void signal(Word epoch, Word nth) const
    {
        if (block_arrive(arrivals[epoch % 2], (nth + 1) / 2 * gridDim.x)) { sender(epoch).signal(); }
    }
};

class GpuPair
{
public:
    GpuPair(GpuWorld& world, const std::string& label, int first, int second, std::size_t capacity) : world_(world)
    {
        const ChannelOptions options{2, Credits::No, capacity};
        const GpuChannel there = world.open(label, first, second, options), back = world.open(label, second, first, options);
        for (const int rank : {first, second})
        {
            Of& of = of_side_[rank == first ? 0 : 1];
            of.rank = rank;
            of.queue = std::make_unique<GpuQueue>(world.device(rank)); // the sides need two streams, also on one GPU
            of.arrivals.resize(2);
            const GpuChannel& out = rank == first ? there : back;
            const GpuChannel& in = rank == first ? back : there;
            of.side = {rank == first, out.sender.route(), in.receiver.route(), world.watch(rank), of.arrivals.data()};
        }
    }

    // Runs kernel(side, first epoch, epochs, arguments...) for both sides, each with its own arguments. Returns when both
    // kernels are done. Throws CommError as GpuWorld::wait() does; a kernel may then still run (ends_soon()).
    template <class Kernel, class... Arguments>
    void run(Kernel kernel, LaunchShape shape, int epochs, const std::array<std::tuple<Arguments...>, 2>& arguments)
    {
        for (Of& of : of_side_) { of.arrivals.clear(*of.queue); }
        wait();
        for (std::size_t s = 0; s < 2; ++s)
        {
            std::apply(
                [&](const Arguments&... a) {
                    launch(*of_side_[s].queue, world_.phase(), kernel, shape, of_side_[s].side, next_epoch_, epochs, a...);
                },
                arguments[s]);
        }
        wait();
        next_epoch_ += static_cast<Word>(epochs);
    }

    // Returns whether both kernels end; call it after CommError. A failed wait ends the other side's waits, too, within
    // microseconds unless a GPU hangs. If it returns false, do not free this object or the world's memory.
    bool ends_soon()
    {
        const auto begin = std::chrono::steady_clock::now();
        for (Of& of : of_side_)
        {
            of.queue->make_current();
            GpuEvent done;
            done.record(*of.queue);
            while (!done.has_passed())
            {
                if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(2)) { return false; }
                std::this_thread::yield();
            }
        }
        return true;
    }

private:
    void wait()
    {
        for (Of& of : of_side_)
        {
            of.queue->make_current();
            GpuEvent done;
            done.record(*of.queue);
            world_.wait(of.rank, done);
        }
    }

    struct Of
    {
        int rank;
        std::unique_ptr<GpuQueue> queue;
        DeviceBuffer<ArrivalCounter<CudaAtomics>> arrivals;
        PairSide side;
    };
    GpuWorld& world_;
    std::array<Of, 2> of_side_;
    Word next_epoch_ = 1;
};

} // namespace parhelion
