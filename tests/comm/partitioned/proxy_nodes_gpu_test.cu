// SPDX-License-Identifier: Apache-2.0
// Proxies that bring messages to other virtual nodes: when messages arrive, in which order, what is refused between nodes, and
// how a wait for a late message ends. GpuNodes in partitioned_gpu_test.cu checks that every byte arrives.
#include "comm/gpu_ranks.cuh"
#include "comm/partitioned/gpu/collectives_gpu.hpp"
#include "comm/partitioned/gpu/partitioned.cuh"

#include <algorithm>
#include <array>
#include <chrono>

using namespace parhelion;
using namespace parhelion::test;

namespace {

using Clock = std::chrono::steady_clock;
constexpr int partitions = 16;
constexpr std::size_t bytes = 64000;

GpuWorldOptions on_nodes(const NicEmulation& nodes, std::chrono::nanoseconds deadline = 20s)
{
    GpuWorldOptions options = options_with(deadline);
    options.nodes = nodes;
    return options;
}

// A message from rank 0 to rank `to`, all ranks on one GPU.
struct Carried
{
    Carried(const NicEmulation& nodes, int to, std::chrono::nanoseconds deadline = 20s, int per_signal = 1)
        : world(std::vector<int>(static_cast<std::size_t>(nodes.ranks()), 0), on_nodes(nodes, deadline)), partitioned(world),
          window(world.allocate(std::array{to}, bytes)), out(bytes), order(partitions),
          send(partitioned.psend_init(0, out.data(), {partitions, bytes / partitions}, {to}, {per_signal},
                                      Mechanism::ProgressionEngine)),
          receive(partitioned.precv_init(to, window, {partitions, bytes / partitions}, {0}))
    {
        gpu_memory::set_bytes(queue, out.data(), 0x5A, bytes);
        queue.synchronize();
    }
    bool has_come()
    {
        std::vector<std::byte> in(bytes);
        gpu_memory::to_host(queue, in.data(), receive.buffer(), bytes);
        queue.synchronize();
        return std::all_of(in.begin(), in.end(), [](std::byte b) { return b == std::byte{0x5A}; });
    }
    // All of it by one epoch: how long that takes.
    std::chrono::nanoseconds time()
    {
        const auto begin = Clock::now();
        receive.start(queue);
        send.start(queue);
        send.pready_all(queue);
        receive.wait(queue);
        queue.synchronize();
        return Clock::now() - begin;
    }

    GpuWorld world;
    GpuPartitioned partitioned;
    Window window;
    DeviceBuffer<std::byte> out;
    PinnedBuffer<int> order;
    GpuSendRequest send;
    GpuReceiveRequest receive;
    GpuQueue queue{0};
};

// Block 0 marks partitions in their order, block 1 writes down in which order they come.
__global__ void order_kernel(SendPrequest* send, ReceivePrequest* receive, int* order)
{
    if (blockIdx.x == 0)
    {
        for (int p = 0; p < partitions; ++p) { block_pready(*send, p); }
        return;
    }
    if (threadIdx.x != 0) { return; }
    unsigned seen = 0;
    const std::int64_t begin = CudaAtomics::nanoseconds();
    for (int n = 0; n < partitions && CudaAtomics::nanoseconds() - begin < 10'000'000'000;)
    {
        for (int p = 0; p < partitions; ++p)
        {
            if ((seen >> p & 1) != 0 || !parrived(*receive, p)) { continue; }
            seen |= 1u << p;
            order[n++] = p;
        }
    }
}

class GpuProxiesOfNodes : public OnOneGpu
{
};

// What is told by what is refused.
template <class Call>
std::string told_by(Call&& call)
{
    try
    {
        call();
    }
    catch (const CommError& e)
    {
        return e.what();
    }
    return "";
}

} // namespace

TEST_F(GpuProxiesOfNodes, take_the_latency_of_credit_and_message_and_the_time_of_the_bytes)
{
    EXPECT_GE(Carried({.nodes = 2, .latency = 20ms, .bandwidth = 1000}, 1).time(), 40ms);
    Carried whole({.nodes = 2, .latency = 1us, .bandwidth = 0.001}, 1, 20s, partitions); // the copy long before the signal
    EXPECT_GE(whole.time(), 64ms) << "64 kB at 1 MB/s";
    EXPECT_TRUE(whole.has_come());
    EXPECT_LT(Carried({.nodes = 2, .ranks_per_node = 2, .latency = 15s}, 1).time(), 15s) << "within a node";
}

TEST_F(GpuProxiesOfNodes, let_messages_to_different_slots_overtake_each_other)
{
    Carried m({.nodes = 2, .latency = 100ms}, 1);
    std::fill_n(m.order.data(), partitions, -1);
    m.receive.start(m.queue);
    m.send.start(m.queue);
    launch(m.queue, PhaseTag{}, order_kernel, {2, 32}, m.send.prequest(), m.receive.prequest(), m.order.data());
    m.receive.wait(m.queue);
    m.send.wait(m.queue);
    m.queue.synchronize();
    EXPECT_EQ(failure_of(m.world), "");
    std::vector<int> order(m.order.data(), m.order.data() + partitions);
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    for (int p = 0; p < partitions; ++p) { EXPECT_EQ(order[static_cast<std::size_t>(p)], p); }
}

TEST_F(GpuProxiesOfNodes, whose_messages_come_too_late_end_waits_with_a_sentence_and_go_at_once)
{
    const auto begin = Clock::now();
    {
        Carried m({.nodes = 2, .latency = 60s}, 1, 300ms);
        m.time();
        EXPECT_NE(failure_of(m.world).find("timed out after 0.3 s waiting for "), std::string::npos) << failure_of(m.world);
    }
    EXPECT_LT(Clock::now() - begin, 30s);
}

TEST_F(GpuProxiesOfNodes, are_needed_where_kernels_would_store)
{
    GpuWorld world({0, 0, 0, 0}, on_nodes({.nodes = 2, .ranks_per_node = 2}));
    const std::string because = ": ranks 0 and 2 are on different nodes (2 virtual nodes of 2 ranks, 3 us, 25 GB/s), and kernels "
                                "would store into each other's memory.";
    GpuPartitioned partitioned(world);
    EXPECT_EQ(told_by([&] {
                  partitioned.psend_init(0, nullptr, {1, 8}, {2});
              }),
              "partitioned message from rank 0 to rank 2, tag 0, kernel copy" + because);
    EXPECT_EQ(told_by([&] { partitioned.psend_init(0, nullptr, {1, 8}, {1}); }), "");
    const std::array<GpuCollectiveBuffers, 4> buffers{};
    const std::string told = told_by([&] {
        make_collective(world, Collective::AllReduce, {ElementType::Float, 1, 0}, Reduction::Sum, buffers, 0, {});
    });
    EXPECT_NE(told.find(because), std::string::npos) << told;
}
