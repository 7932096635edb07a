// SPDX-License-Identifier: Apache-2.0
// The description of the GPUs that are here.
#include "device/gpu/arena.hpp"
#include "device/host_gpus.hpp"
#include "support/gpu_test.hpp"

using namespace parhelion;

class HostGpusFound : public test::GpuTest
{
protected:
    void SetUp() override { test::take_gpus(1, 8); }
};

TEST_F(HostGpusFound, are_those_of_the_driver)
{
    const HostGpus& host = find_gpus();
    ASSERT_EQ(host.gpus.size(), static_cast<std::size_t>(gpu_count()));
    ASSERT_EQ(host.reach.size(), host.gpus.size());
    for (std::size_t g = 0; g < host.gpus.size(); ++g)
    {
        const HostGpu& gpu = host.gpus[g];
        const GpuQueue queue(gpu.device);
        EXPECT_EQ(gpu.device, static_cast<int>(g));
        EXPECT_EQ(gpu.name, queue.name());
        EXPECT_EQ(gpu.multiprocessors, queue.multiprocessors());
        EXPECT_EQ(why_unusable(gpu), ""); // or this test would not run
        EXPECT_GT(gpu.memory, std::size_t{1} << 30);
        EXPECT_GT(gpu.clock_ghz, 0.5);
        EXPECT_LT(gpu.clock_ghz, 5);
        EXPECT_GE(queue.shared_bytes_of_block(), std::size_t{99} << 10);
        EXPECT_GE(queue.shared_bytes_of_multiprocessor(), queue.shared_bytes_of_block());
        ASSERT_EQ(host.reach[g].size(), host.gpus.size());
        EXPECT_TRUE(host.reach[g][g]);
        for (std::size_t other = 0; other < host.gpus.size(); ++other)
        {
            if (host.reach[g][other]) { EXPECT_TRUE(gpu_link(gpu.device, host.gpus[other].device).has_access); }
        }
    }
}
