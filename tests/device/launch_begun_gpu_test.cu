// SPDX-License-Identifier: Apache-2.0
// Work that follows the begin of a kernel, on a GPU: a kernel waits, within limits, for a word that only its follower sets.
#include "device/gpu/launch_begun.cuh"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/device_buffer.hpp"
#include "support/gpu_test.hpp"

#include <gtest/gtest.h>

#include <optional>

using namespace parhelion;

namespace {

constexpr int blocks = 8;

__global__ void await_kernel(BlockTrace tracing, const int* word, int* saw)
{
    const BlockSpan span(tracing);
    if (threadIdx.x > 0) { return; }
    constexpr int polls = 200'000, pause_ns = 1000; // 0.2 s
    for (int k = 0; k < polls; ++k)
    {
        if (*static_cast<const volatile int*>(word) != 0)
        {
            saw[blockIdx.x] = 1;
            return;
        }
        __nanosleep(pause_ns);
    }
}

__global__ void set_kernel(int* word, int value) { *word = value; }

class BegunLaunch : public test::GpuTest
{
protected:
    void SetUp() override
    {
        GpuTest::SetUp();
        if (IsSkipped()) { return; }
        queue.emplace();
        side.emplace(0, GpuQueue::Priority::First);
        forked.emplace(), begun.emplace(EventFor::Queues), joined.emplace();
        word.resize(1), saw.resize(blocks);
        word.clear(*queue), saw.clear(*queue);
        queue->synchronize();
    }
    // Something, then the kernel that waits, on the side; who sets the word follows the begin of the second alone.
    void queue_all()
    {
        forked->record(*queue);
        wait_for(*side, *forked);
        launch(*side, PhaseTag{}, set_kernel, {1, 1}, word.data(), 0);
        launch_begun(*side, PhaseTag{}, await_kernel, {blocks, 32}, *begun, word.data(), saw.data());
        wait_for(*queue, *begun);
        launch(*queue, PhaseTag{}, set_kernel, {1, 1}, word.data(), 1);
        joined->record(*side);
        wait_for(*queue, *joined);
    }

    std::optional<GpuQueue> queue, side;
    std::optional<GpuEvent> forked, begun, joined;
    DeviceBuffer<int> word, saw;
};

} // namespace

TEST_F(BegunLaunch, is_followed_by_what_it_waits_for)
{
    queue_all();
    EXPECT_EQ(saw.to_vector(*queue), std::vector<int>(blocks, 1));
}

TEST_F(BegunLaunch, is_followed_by_what_it_waits_for_whenever_a_graph_is_replayed)
{
    const GpuGraph graph(*queue, [&] { queue_all(); });
    for (int replay = 0; replay < 10; ++replay)
    {
        saw.clear(*queue);
        graph.replay(*queue);
        EXPECT_EQ(saw.to_vector(*queue), std::vector<int>(blocks, 1));
    }
}
