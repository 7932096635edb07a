// SPDX-License-Identifier: Apache-2.0
// Records of blocks on a GPU: one of each block, in order, from launches and from graphs that are replayed.
#include "device/gpu/block_trace.cuh"

#include "device/gpu/graph.hpp"
#include "device/gpu/kernel_table.hpp"
#include "device/gpu/launch.cuh"
#include "trace/timeline.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

using namespace parhelion;

namespace {

enum class Work : std::uint8_t
{
    Other,
    Waiting
};

__global__ void wait_kernel(BlockTrace tracing, int ns)
{
    const BlockSpan span(tracing);
    if (threadIdx.x % 32 == 0) { __nanosleep(static_cast<unsigned>(ns)); }
}

__global__ void set_kernel(std::int64_t* to, std::int64_t value) { *to = value; }

class BlockTraceOnGpu : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (gpu_count() == 0) { GTEST_SKIP() << "no GPU"; }
        queue.emplace();
        step.resize(1);
        step.clear(*queue);
        tracer.emplace(*queue);
        queue->set_tracer(&*tracer);
    }
    void wait_in(int blocks) { launch(*queue, Work::Waiting, wait_kernel, {blocks, 64, 0}, 2000); }

    std::optional<GpuQueue> queue;
    DeviceBuffer<std::int64_t> step;
    std::optional<BlockTracer> tracer;
};

} // namespace

TEST_F(BlockTraceOnGpu, every_block_leaves_a_record_in_the_order_of_launches)
{
    launch(*queue, PhaseTag{}, set_kernel, {1, 1, 0}, step.data(), std::int64_t{70});
    tracer->begin(*queue, step.data());
    for (const int offset : {0, 1, 2})
    {
        tracer->at_step(offset);
        wait_in(300 + offset);
        wait_in(1);
    }
    tracer->end(*queue);
    const std::vector<BlockRecord> records = tracer->records(*queue);
    const std::vector<KernelSpan> spans = kernel_spans(records);
    ASSERT_EQ(records.size(), 3u * 302);
    ASSERT_EQ(spans.size(), 6u);
    for (std::size_t i = 0; i < spans.size(); ++i)
    {
        EXPECT_EQ(spans[i].step, 70 + static_cast<std::int64_t>(i) / 2);
        if (i > 0) { EXPECT_GE(spans[i].begin, spans[i - 1].end) << "kernels of one queue ran at once"; }
    }
    std::set<int> multiprocessors;
    for (const BlockRecord& r : records)
    {
        EXPECT_GT(r.end, r.begin);
        EXPECT_LT(r.end - r.begin, 1'000'000'000u) << "blocks sleep some microseconds, and wait for other programs' turns";
        EXPECT_LT(r.multiprocessor, queue->multiprocessors());
        multiprocessors.insert(r.multiprocessor);
    }
    EXPECT_GT(multiprocessors.size(), static_cast<std::size_t>(queue->multiprocessors()) / 2);
}

TEST_F(BlockTraceOnGpu, a_graph_records_anew_whenever_it_is_replayed)
{
    const GpuGraph graph(*queue, [&] {
        tracer->begin(*queue, step.data());
        wait_in(10);
        tracer->at_step(1);
        wait_in(20);
        tracer->end(*queue);
    });
    for (const std::int64_t first : {100, 200, 300})
    {
        launch(*queue, PhaseTag{}, set_kernel, {1, 1, 0}, step.data(), first);
        graph.replay(*queue);
    }
    const std::vector<KernelSpan> spans = kernel_spans(tracer->records(*queue));
    ASSERT_EQ(spans.size(), 6u);
    for (std::size_t i = 0; i < spans.size(); ++i)
    {
        EXPECT_EQ(spans[i].step, 100 * (static_cast<std::int64_t>(i) / 2 + 1) + static_cast<std::int64_t>(i) % 2);
    }
}

TEST_F(BlockTraceOnGpu, what_is_not_between_begin_and_end_leaves_nothing)
{
    wait_in(10);
    tracer->begin(*queue, step.data());
    tracer->end(*queue);
    wait_in(10);
    EXPECT_TRUE(tracer->records(*queue).empty());
}

TEST_F(BlockTraceOnGpu, a_full_ring_keeps_the_latest_whole_steps)
{
    for (std::int64_t first = 0; first < 100; ++first)
    {
        launch(*queue, PhaseTag{}, set_kernel, {1, 1, 0}, step.data(), first);
        tracer->begin(*queue, step.data());
        wait_in(8000);
        wait_in(7);
        tracer->end(*queue);
    }
    const std::vector<BlockRecord> records = tracer->records(*queue);
    EXPECT_EQ(records.back().step, 99);
    EXPECT_EQ(records.size() % 8007, 0u);
    EXPECT_GT(records.size(), 400'000u);
    for (std::size_t i = 0; i < records.size(); ++i)
    {
        EXPECT_EQ(records[i].step, records.front().step + static_cast<std::int64_t>(i / 8007));
    }
}

TEST_F(BlockTraceOnGpu, of_very_many_blocks_some_leave_a_record)
{
    tracer->begin(*queue, step.data());
    wait_in(1'000'000);
    wait_in(3);
    tracer->end(*queue);
    const std::vector<BlockRecord> records = tracer->records(*queue);
    EXPECT_GE(records.size(), 4096u);
    EXPECT_LE(records.size(), 8192u + 3);
    EXPECT_EQ(kernel_spans(records).size(), 2u);
    for (const BlockRecord& r : records) { EXPECT_GT(r.end, r.begin) << "a place was left empty"; }
}

TEST_F(BlockTraceOnGpu, launched_kernels_are_listed_by_name_with_their_shape)
{
    wait_in(12);
    wait_in(34);
    int found = 0;
    for (const LaunchedKernel& kernel : launched_kernels())
    {
        if (kernel.name != "wait_kernel") { continue; }
        ++found;
        EXPECT_EQ(kernel.phase, Work::Waiting);
        EXPECT_EQ(kernel.blocks, 34);
        EXPECT_EQ(kernel.threads, 64);
        EXPECT_GT(kernel.registers, 0);
        EXPECT_GT(kernel.occupancy, 0);
        EXPECT_LE(kernel.occupancy, 1);
    }
    EXPECT_EQ(found, 1);
}
