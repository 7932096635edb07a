// SPDX-License-Identifier: Apache-2.0
// What `parhelion bench comm` reports. Payload that arrives wrong is an error of time_comm().
#include "bench/comm/comm_timing.hpp"
#include "comm/gpu_ranks.cuh"

#include <algorithm>
#include <set>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class CommTimings : public OnGpus
{
};
INSTANTIATE_TEST_SUITE_P(Layouts, CommTimings,
                         ::testing::Values(Layout{"two_on_one", 1, 2}, Layout{"two_gpus", 2, 1}, Layout{"three_gpus", 3, 1},
                                           Layout{"eight_gpus", 8, 1}),
                         layout_name);

} // namespace

TEST_P(CommTimings, has_every_row_and_finds_no_payload_wrong)
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
