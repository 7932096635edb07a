// SPDX-License-Identifier: Apache-2.0
// What `parhelion bench comm` reports. Payload that arrives wrong is an error of time_comm().
#include "comm/gpu_ranks.cuh"
#include "comm/gpu_self_test.hpp"
#include "comm/gpu_timing.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class GpuTiming : public OnGpus
{
};
INSTANTIATE_TEST_SUITE_P(Layouts, GpuTiming,
                         ::testing::Values(Layout{"two_on_one", 1, 2}, Layout{"two_gpus", 2, 1}, Layout{"three_gpus", 3, 1},
                                           Layout{"eight_gpus", 8, 1}),
                         layout_name);

} // namespace

TEST_P(GpuTiming, has_every_row_and_finds_no_payload_wrong)
{
    const std::vector<CommTiming> timings = time_comm(GetParam().devices(), 1);
    std::set<std::string> names;
    for (const CommTiming& t : timings)
    {
        names.insert(t.name);
        EXPECT_GT(t.us, 0) << t.name << ", " << t.bytes << " bytes, " << t.blocks << " blocks";
    }
    std::set<std::string> expected{"flag",   "signal",      "put and signal", "bulk and signal", "halo round",
                                   "stores", "bulk stores", "copy engine",    "barrier",         "sum"};
    if (GetParam().ranks_per_gpu == 1)
    {
        expected.merge(std::set<std::string>{"ring", "bulk ring", "barrier, launched", "sum, launched"});
    }
    EXPECT_EQ(names, expected);

    const auto has = [&](const char* name, std::size_t bytes, int blocks) {
        return std::ranges::any_of(timings,
                                   [&](const CommTiming& t) { return t.name == name && t.bytes == bytes && t.blocks == blocks; });
    };
    EXPECT_TRUE(has("bulk and signal", 94 << 10, 32));
    EXPECT_TRUE(has("bulk stores", 64 << 20, 16));
}

// What engine/choose_gpus.hpp asks before it takes several GPUs. Bounds: any link that has been built.
TEST_P(GpuTiming, knows_the_slowest_link)
{
    if (GetParam().ranks_per_gpu > 1) { return; }
    const LinkSpeed link = time_links(GetParam().devices());
    EXPECT_EQ(link.trouble, "");
    EXPECT_GT(link.signal_us, 0.2);
    EXPECT_LT(link.signal_us, 100);
    EXPECT_GT(link.store_gb_s, 1);
    EXPECT_LT(link.store_gb_s, 2000);
    std::printf("%zu GPUs: a signal takes %.2f us, stores %.0f GB/s\n", GetParam().devices().size(), link.signal_us,
                link.store_gb_s);
    EXPECT_EQ(time_links(GetParam().devices()).signal_us, link.signal_us); // once in a process
}
