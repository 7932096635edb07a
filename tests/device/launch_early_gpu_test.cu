// SPDX-License-Identifier: Apache-2.0
// Kernels that are launched early, on a GPU: the first lets the second begin, and writes its word long after that.
#include "device/gpu/launch.cuh"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/device_buffer.hpp"
#include "device/gpu/graph.hpp"
#include "device/gpu/instructions.cuh"
#include "support/gpu_test.hpp"

#include <gtest/gtest.h>

#include <optional>

using namespace parhelion;

namespace {

constexpr int blocks = 8;
constexpr std::uint64_t pause_ns = 100'000;

__global__ void write_late_kernel(BlockTrace tracing, int* word, int value)
{
    const BlockSpan span(tracing);
    let_next_kernel_begin();
    const std::uint64_t begin = global_nanoseconds();
    while (global_nanoseconds() - begin < pause_ns) {}
    if (blockIdx.x == 0 && threadIdx.x == 0) { *word = value; }
}

template <bool waits>
__global__ void read_kernel(BlockTrace tracing, const int* word, int* saw)
{
    const BlockSpan span(tracing);
    if (waits) { await_kernel_before(); }
    if (threadIdx.x == 0) { saw[blockIdx.x] = *static_cast<const volatile int*>(word); }
    if (!waits) { await_kernel_before(); } // what follows in the queue must not overtake the first kernel
}

class EarlyLaunch : public test::GpuTest
{
protected:
    void SetUp() override
    {
        GpuTest::SetUp();
        if (IsSkipped()) { return; }
        queue.emplace();
        if (!queue->launches_early()) { GTEST_SKIP() << "kernels are not launched early on this GPU, or by this program"; }
        word.resize(1), saw.resize(blocks);
        word.clear(*queue), saw.clear(*queue);
    }
    template <bool waits>
    void queue_both(int value)
    {
        launch(*queue, PhaseTag{}, write_late_kernel, {blocks, 32}, word.data(), value);
        launch(*queue, PhaseTag{}, read_kernel<waits>, {blocks, 32, 0, 1, true}, static_cast<const int*>(word.data()),
               saw.data());
    }
    std::vector<int> seen() { return saw.to_vector(*queue); }

    std::optional<GpuQueue> queue;
    DeviceBuffer<int> word, saw;
};

} // namespace

TEST_F(EarlyLaunch, sees_what_the_kernel_before_writes_once_it_has_waited)
{
    for (int value = 1; value <= 20; ++value)
    {
        queue_both<true>(value);
        ASSERT_EQ(seen(), std::vector<int>(blocks, value));
    }
}

TEST_F(EarlyLaunch, sees_it_in_a_graph)
{
    const GpuGraph graph(*queue, [&] { queue_both<true>(7); });
    for (int replay = 0; replay < 20; ++replay)
    {
        word.clear(*queue);
        graph.replay(*queue);
        ASSERT_EQ(seen(), std::vector<int>(blocks, 7));
    }
}

// Without the wait the second kernel reads too early: so it did begin before the first had ended.
TEST_F(EarlyLaunch, begins_before_the_kernel_before_has_ended)
{
    queue_both<false>(1);
    EXPECT_EQ(seen(), std::vector<int>(blocks, 0));
}
